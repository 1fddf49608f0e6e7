// Workflow code runs in a sandbox without Node's modules: bundling is what finds one, however far from the workflows it is
// imported. `npm run build` bundles too; here is the proof that it can fail.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { WORKFLOW_TYPES } from '../../src/workflows/contract.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 60_000

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'servo-bundle-'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  mkdirSync(join(folder, 'src'))
  for (const name of ['workflows', 'core']) cpSync(join(ROOT, 'src', name), join(folder, 'src', name), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function bundle() {
  const said: string[] = []
  const logger = new DefaultLogger('INFO', ({ message }) => said.push(message))
  const made = bundleWorkflowCode({ workflowsPath: join(folder, 'src/workflows/index.ts'), logger })
  return made.then(
    ({ code }) => ({ code, problem: '' }),
    (error: unknown) => ({ code: '', problem: `${String(error)} ${said.join(' ')}` }),
  )
}

test(
  'the workflows are bundled, and a module of Node behind one of their imports is refused by name',
  async () => {
    const { code, problem } = await bundle()
    expect(problem).toBe('')
    // By the names that Temporal starts them by.
    expect(Object.values(WORKFLOW_TYPES).filter((name) => !code.includes(`async function ${name}(`))).toEqual([])
    const names = join(folder, 'src/core/names.ts')
    const planted = `import { randomUUID } from 'node:crypto'\nexport const planted = (): string => randomUUID()\n`
    writeFileSync(names, planted + readFileSync(names, 'utf8'))
    const refused = await bundle()
    expect(refused.code).toBe('')
    expect(refused.problem).toMatch(/disallowed modules|node:crypto|'crypto'/)
  },
  TIMEOUT_MS,
)
