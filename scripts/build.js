// Emits dist/ from src/, bundles the workflows, and makes `npx servo` find it. Types are not checked here: `npm run check`
// does that.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { DIST, ROOT, STAMP } from './build-state.js'

/** Throws with the compiler's output when it refuses. */
export async function build() {
  const began = new Date()
  const next = `${ROOT}node_modules/.cache/servo-build-${process.pid}`
  rmSync(next, { recursive: true, force: true })
  compile('tsconfig.build.json', next)
  compile('tsconfig.types.json', next)
  // Data beside the code, such as golden examples; the compiler takes only what is imported.
  cpSync(`${ROOT}src`, next, { recursive: true, filter: (path) => !/\.tsx?$/.test(path) })
  await bundleWorkflows(next)
  const stamp = `${next}/${STAMP}`
  writeFileSync(stamp, '')
  utimesSync(stamp, began, began)
  replaceDist(next)
  linkCommand()
}

function compile(config, folder) {
  const args = [`${ROOT}node_modules/typescript/bin/tsc`, '-p', `${ROOT}${config}`, '--noCheck', '--outDir', folder]
  const tsc = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (tsc.status === 0) return
  rmSync(folder, { recursive: true, force: true })
  const why = tsc.error?.message ?? (tsc.signal === null ? '' : `It was ended by ${tsc.signal}.`)
  throw new Error(`tsc could not build src/ by ${config}. ${why}\n${tsc.stdout}${tsc.stderr}`)
}

// Ahead of time, so that a process starts in a moment and a module that no workflow may import is found here.
async function bundleWorkflows(folder) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker')
  const said = []
  const logger = new DefaultLogger('INFO', ({ message }) => said.push(message))
  try {
    const workflowsPath = `${folder}/workflows/index.js`
    // Preloaded, so that all loops share one copy of the modules: no module of the workflows holds state (eslint.config.js).
    const { code } = await bundleWorkflowCode({ workflowsPath, preloadModules: [workflowsPath], logger })
    writeFileSync(`${folder}/workflow-bundle.cjs`, code)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
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
