// docs/getting-started.md, "Your own project": its module and its commands, in a folder outside of the checkout that begins
// with nothing else; and what other pages say in passing of such a folder.

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DevProcess, startDevProcess } from '../fixtures/dev-process.js'
import { freePorts, type Ports } from '../fixtures/started.js'
import { ROOT, readText } from '../tidy/tree.js'

const TIMEOUT_MS = 240_000
const DEV = 'npx servo '
const DOCUMENT = readText('docs/getting-started.md')
const blocksOf = (language: string): readonly string[] =>
  [...DOCUMENT.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].filter(([, of]) => of === language).map(([, , body]) => body as string)
const lines = blocksOf('sh own').flatMap((block) => block.trimEnd().split('\n'))

let folder = ''
let ports: Ports
let dev: DevProcess | undefined
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'servo-own-')))
  ports = await freePorts()
  for (const module of blocksOf('ts own')) writeFileSync(join(folder, 'pipeline.ts'), module)
})
afterAll(async () => {
  dev?.signalGroup('SIGINT')
  await dev?.ended
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

function run(line: string): Promise<{ readonly code: number; readonly said: string }> {
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    // The link needs nothing of a registry.
    npm_config_offline: 'true',
    npm_config_audit: 'false',
    SERVO_API: `http://127.0.0.1:${ports.port}`,
    SERVO_WORKER_URL: `http://127.0.0.1:${ports.worker}`,
  }
  const script = line.replaceAll('/path/to/servo', `'${ROOT.replace(/\/$/, '')}'`)
  return new Promise((resolve) => {
    execFile('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, said: `${stdout}${stderr}` }),
    )
  })
}

async function startDev(line: string): Promise<void> {
  dev = startDevProcess({ command: ['servo', ...line.slice(DEV.length).split(' ')], data: join(folder, '.servo'), ports, cwd: folder })
  await dev.said('Servo is up.')
}

test(
  'its commands work in their order, from the first link to a run that succeeded',
  async () => {
    const inPassing = [...readText('docs/cli.md').matchAll(/`(servo dev [^`]+)`/g)].map(([, line]) => `npx ${line}`)
    expect(inPassing.length).toBeGreaterThan(0)
    expect(lines).toEqual(expect.arrayContaining(inPassing))
    for (const line of lines) {
      if (line.startsWith(`${DEV}dev `)) await startDev(line)
      else {
        const { code, said } = await run(line)
        expect({ line, code, said: code === 0 ? '' : said }).toEqual({ line, code: 0, said: '' })
      }
    }
    expect(existsSync(join(folder, 'node_modules/servo/package.json'))).toBe(true)
    expect((await run('npx servo asset list')).said).toContain('own.greeting')
  },
  TIMEOUT_MS,
)

test(
  'a command that is written in full needs no package in the folder',
  async () => {
    rmSync(join(folder, 'node_modules'), { recursive: true })
    const [, line] = /`(node \/path\/to\/servo\/[^`]+)`/.exec(readText('docs/writing-assets.md')) ?? []
    const { code, said } = await run(line ?? 'The page has no such command.')
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('Nothing to deploy') })
  },
  TIMEOUT_MS,
)
