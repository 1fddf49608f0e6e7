// Where scripts/temporal.js takes the server from, in which order, and what it says on the way. Programs and the
// download are stand-ins; the real program's own test is dev-server.test.ts.

import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url))
const PINNED = fileURLToPath(new URL('../../temporal/dev-server/go.mod', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'servo-find-temporal-'))
const servers: Server[] = []
let count = 0
let home: string
let env: Record<string, string>

afterAll(() => {
  for (const server of servers) server.close()
  rmSync(root, { recursive: true, force: true })
})

// A machine with tar, an empty cache, and nothing else.
beforeEach(() => {
  home = join(root, String((count += 1)))
  mkdirSync(join(home, 'bin'), { recursive: true })
  for (const tool of ['tar', 'gzip']) {
    symlinkSync(execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(), join(home, 'bin', tool))
  }
  env = { PATH: join(home, 'bin'), HOME: home, XDG_CACHE_HOME: join(home, 'cache'), SERVO_TEMPORAL_DOWNLOAD: 'off' }
})

const cached = (): string => join(home, 'cache/servo/tools/temporal/v1.8.2', `${process.platform}-${process.arch}`, 'temporal')

function program(path: string, lines: string): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, 0o755)
  return path
}

const temporalOf = (server: string): string => `echo "temporal version 0.0.0-DEV (Server ${server}, UI 2.50.1)"`

/** A `go` that writes down what it is asked, and makes what `-o` names. */
const fakeGo = (build: string): string =>
  program(
    join(home, 'bin/go'),
    `if [ "$1" = env ]; then echo go1.26.8; exit 0; fi
printf '%s\\n' "$PWD" "$GOWORK" "$@" > ${home}/asked
while [ "$1" != -o ]; do shift; done
out=$2
${build}`,
  )

type Answer = { readonly found?: { readonly kind: string; readonly path?: string; readonly address?: string }; readonly fault?: string }

async function find(options = ''): Promise<Answer & { readonly said: readonly string[] }> {
  const script = `
    import { writeFileSync } from 'node:fs'
    const { findTemporal } = await import('${SCRIPTS}temporal.js')
    const said = []
    const answer = await findTemporal({ say: (line) => said.push(line), ${options} }).then(
      (found) => ({ found }),
      (error) => ({ fault: error.name + ': ' + error.message }),
    )
    console.log(JSON.stringify({ ...answer, said }))`
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['--input-type=module', '--eval', script], { env, encoding: 'utf8' }, (error, stdout) =>
      error === null ? resolve(JSON.parse(stdout) as Answer & { said: string[] }) : reject(error),
    )
  })
}

/** A place to download from: the archive holds these lines as `temporal`. */
async function origin(answer: { readonly lines?: string; readonly status?: number }): Promise<{ url: string; asked: string[] }> {
  const folder = join(home, 'archive')
  program(join(folder, 'temporal'), answer.lines ?? '')
  writeFileSync(join(folder, 'LICENSE'), '')
  execFileSync('tar', ['-czf', join(home, 'archive.tar.gz'), '-C', folder, 'LICENSE', 'temporal'])
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url as string)
    response.writeHead(answer.status ?? 200).end(answer.status === undefined ? readFileSync(join(home, 'archive.tar.gz')) : 'no')
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, asked }
}

describe('the order', () => {
  test('an address goes before all, a program on PATH before a cached one, and that before anything that takes time', async () => {
    program(cached(), temporalOf('1.31.2'))
    expect(await find()).toEqual({ found: { kind: 'program', path: cached() }, said: [] })
    const installed = program(join(home, 'bin/temporal'), temporalOf('1.29.0'))
    expect(await find()).toEqual({ found: { kind: 'program', path: installed }, said: [] })
    env.TEMPORAL_ADDRESS = 'temporal.internal:7233'
    expect(await find()).toEqual({ found: { kind: 'address', address: 'temporal.internal:7233' }, said: [] })
  })

  test('the program that the environment names is taken as it is', async () => {
    env.SERVO_TEMPORAL_PROGRAM = '/opt/temporal'
    expect(await find()).toEqual({ found: { kind: 'program', path: '/opt/temporal' }, said: [] })
  })

  test.each([
    ['1.28.4', 'its server is 1.28.4, and 1.29 or later is needed'],
    ['0.99.0', 'its server is 0.99.0'],
    ['dev', 'its server is of no version that it says'],
  ])('a server %s on PATH is left alone, and that is said', async (version, why) => {
    program(cached(), temporalOf('1.31.2'))
    program(join(home, 'bin/temporal'), temporalOf(version))
    const { found, said } = await find()
    expect(found).toEqual({ kind: 'program', path: cached() })
    expect(said).toEqual([expect.stringContaining(why)])
  })
})

describe('the official binary', () => {
  test('is unpacked into the cache, and asked for once', async () => {
    const { url, asked } = await origin({ lines: temporalOf('1.31.2') })
    env.SERVO_TEMPORAL_DOWNLOAD = url
    const { found, said } = await find()
    expect(found).toEqual({ kind: 'program', path: cached() })
    expect(said).toEqual([expect.stringMatching(/^set-up: Temporal v1\.8\.2 downloaded from 127\.0\.0\.1/)])
    expect(asked).toEqual([expect.stringMatching(/^\/cli\/archive\/v1\.8\.2\?platform=(linux|darwin)&arch=(amd64|arm64)$/)])
    expect(readdirSync(join(cached(), '..'))).toEqual(['temporal'])
    expect((await find()).said).toEqual([])
  })

  test.each([
    ['answers 503', { status: 503 }, 'the answer was 503'],
    ['sends another program', { lines: 'echo hello' }, 'does not say the version of its server'],
  ])('is built instead where the place %s', async (_, answer, why) => {
    env.SERVO_TEMPORAL_DOWNLOAD = (await origin(answer)).url
    fakeGo('echo built > "$out"')
    const { found, said } = await find()
    expect(said).toEqual([
      expect.stringContaining(why),
      expect.stringContaining('building the Temporal dev server once for this machine (about 5 minutes)'),
      expect.stringContaining('built in'),
    ])
    expect(found).toEqual({ kind: 'program', path: cached() })
    expect(readFileSync(cached(), 'utf8')).toBe('built\n')
  })

  test('is built instead where nobody answers', async () => {
    env.SERVO_TEMPORAL_DOWNLOAD = 'http://127.0.0.1:1'
    fakeGo('echo built > "$out"')
    expect((await find()).said[0]).toMatch(/could not be downloaded \(.+\)\.$/)
    expect(readFileSync(cached(), 'utf8')).toBe('built\n')
  })
})

describe('the build', () => {
  test('is of the pinned module, changes none of its files, and says how long it has been at it', async () => {
    fakeGo(`while [ ! -e ${home}/enough ]; do :; done; echo built > "$out"`)
    const atThirdLine = `(line) => { said.push(line); if (said.length === 3) writeFileSync('${home}/enough', '') }`
    const { said } = await find(`said_again_after_ms: 20, say: ${atThirdLine}`)
    expect(said.slice(0, 3)).toEqual([
      expect.stringContaining('building the Temporal dev server once for this machine (about 5 minutes) …'),
      expect.stringMatching(/still building the Temporal dev server, for \d+ s …/),
      expect.stringMatching(/still building the Temporal dev server, for \d+ s …/),
    ])
    const [folder, gowork, ...args] = readFileSync(join(home, 'asked'), 'utf8').trimEnd().split('\n')
    expect([folder, gowork]).toEqual([PINNED.slice(0, -'/go.mod'.length), 'off'])
    expect(args).toEqual([
      'build',
      '-mod=readonly',
      '-o',
      expect.stringMatching(/-making-\w+\/temporal$/),
      'github.com/temporalio/cli/cmd/temporal',
    ])
    expect(readFileSync(PINNED, 'utf8')).toContain(`tool ${args.at(-1)}\n`)
    expect(readFileSync(PINNED, 'utf8')).toMatch(/^\tgithub\.com\/temporalio\/cli v1\.8\.2 /m)
  })

  test('that fails says what to do, and leaves nothing behind', async () => {
    fakeGo('echo "go: module lookup disabled" >&2; echo half > "$out"; exit 1')
    const { fault } = await find()
    expect(fault).toMatch(/^SetUpError: Temporal's dev server \(CLI v1\.8\.2\) could not be built\. It needs the Go module proxy once/)
    expect(fault).toContain('go: module lookup disabled')
    expect(fault).toContain(
      'install the Temporal CLI yourself (https://docs.temporal.io/cli), or name a server that runs with TEMPORAL_ADDRESS',
    )
    expect(existsSync(cached())).toBe(false)
    expect(readdirSync(join(cached(), '../..'))).toEqual([])
  })

  test('where there is no Go says so', async () => {
    expect((await find()).fault).toMatch(/^SetUpError: Go was not found, and Temporal's dev server .* install Go 1\.26\.4 or later/)
  })
})
