// Bundles src/ and the workflows into dist/, and makes `npx servo` find it. Types are not checked here: `npm run check`
// does that.

import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { DIST, ROOT, STAMP } from './build-state.js'
import { bundleSources } from './bundle.js'

/** Throws with the compiler's output when it refuses. */
export async function build() {
  const began = new Date()
  const next = `${ROOT}node_modules/.cache/servo-build-${process.pid}`
  rmSync(next, { recursive: true, force: true })
  try {
    await bundleSources(next)
    declareTypes(next)
    await bundleWorkflows(next)
  } catch (error) {
    rmSync(next, { recursive: true, force: true })
    throw error
  }
  const stamp = `${next}/${STAMP}`
  writeFileSync(stamp, '')
  utimesSync(stamp, began, began)
  replaceDist(next)
  linkCommand()
}

// For the compilers of those who write `import … from 'servo'`.
function declareTypes(folder) {
  const args = [`${ROOT}node_modules/typescript/bin/tsc`, '-p', `${ROOT}tsconfig.types.json`, '--noCheck', '--outDir', folder]
  const tsc = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (tsc.status === 0) return
  const why = tsc.error?.message ?? (tsc.signal === null ? '' : `It was ended by ${tsc.signal}.`)
  throw new Error(`tsc could not declare the types of src/sdk. ${why}\n${tsc.stdout}${tsc.stderr}`)
}

// Ahead of time, so that a process starts in a moment and a module that no workflow may import is found here.
async function bundleWorkflows(folder) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker')
  const said = []
  const logger = new DefaultLogger('INFO', ({ message }) => said.push(message))
  try {
    const workflowsPath = `${ROOT}src/workflows/index.ts`
    // Preloaded, so that all loops share one copy of the modules: no module of the workflows holds state (eslint.config.js).
    const { code } = await bundleWorkflowCode({ workflowsPath, preloadModules: [workflowsPath], logger })
    writeFileSync(`${folder}/workflow-bundle.cjs`, code)
  } catch (error) {
    throw new Error(`The workflows could not be bundled. ${error.message}\n${said.join('\n')}`)
  }
}

// In one step for whoever starts the command meanwhile: a half-built dist/ is never there.
function replaceDist(next) {
  const former = `${next}-former`
  mkdirSync(`${ROOT}node_modules/.cache`, { recursive: true })
  if (existsSync(DIST)) renameSync(DIST, former)
  renameSync(next, DIST)
  rmSync(former, { recursive: true, force: true })
}

/** `npx servo` looks here first; without it npx makes a copy of the checkout's link in its own cache, and asks. */
function linkCommand() {
  const link = `${ROOT}node_modules/.bin/servo`
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return
  mkdirSync(`${ROOT}node_modules/.bin`, { recursive: true })
  rmSync(link, { force: true })
  symlinkSync('../../bin/servo.js', link)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await build()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
