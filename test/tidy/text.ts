// Rules that are about names and words, so that reading the files is all they need. Each takes files and answers what
// is wrong with them; each has files that are wrong (PLANTED_TEXT).

export type TextFile = { readonly path: string; readonly text: string }
export type Finding = { readonly path: string; readonly line?: number; readonly what: string }
type TextRule = (files: readonly TextFile[]) => Finding[]

const BANNED_NAMES = ['utils', 'common', 'types', 'service', 'misc']
const LISTS_FOR_TOOLS = ['src/activities/index.ts', 'src/sdk/index.ts', 'src/workflows/index.ts']
const PROTOCOL_FOLDERS = /^src\/(ledger|tables|turn|compactor|controllers)\//
const isCode = (path: string): boolean => /^(src|test|bench|scripts|examples)\/.*\.(ts|tsx|js)$/.test(path)
const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path) || path.startsWith('test/')
const isTidy = (path: string): boolean => path.startsWith('test/tidy/')
const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const eachLine = (files: readonly TextFile[], look: (line: string, path: string) => string | undefined): Finding[] =>
  files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => {
      const what = look(line, path)
      return what === undefined ? [] : [{ path, line: i + 1, what }]
    }),
  )

const fileNames: TextRule = (files) =>
  files
    .filter(({ path }) => isCode(path))
    .flatMap(({ path }) => {
      const stem = baseName(path).replace(/(\.(int\.)?test)?\.\w+$/, '')
      if (BANNED_NAMES.includes(stem)) return [{ path, what: 'Name the file after its noun; if there is none, it is missing.' }]
      if (stem === 'index' && !LISTS_FOR_TOOLS.includes(path))
        return [{ path, what: 'Import from the file that has it, without an index.' }]
      return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem) ? [] : [{ path, what: 'Write the name in kebab-case.' }]
    })

const unfinishedWords: TextRule = (files) =>
  eachLine(files, (line, path) => {
    if (path === 'package-lock.json' || isTidy(path)) return undefined
    if (/\b(TODO|FIXME|XXX|HACK)\b/.test(line)) return 'Open an issue, and leave the mark out.'
    if (/not implemented|placeholder/i.test(line) && isCode(path)) return 'Finish it, or leave it out.'
    return /(^|[\s'"`(=])\/(work|home|farm|Users)\/\w/.test(line) ? 'This is a path of one machine.' : undefined
  })

const registryHosts: TextRule = (files) =>
  eachLine(files, (line, path) => {
    if (path === 'package-lock.json' && /"resolved":\s*"[a-z]+:\/\//.test(line)) {
      return 'A host in the lock file makes every install ask it: install with omit-lockfile-registry-resolved.'
    }
    return path === '.npmrc' && /registry\s*=\s*http|_auth/i.test(line) ? "The registry is the machine's own affair." : undefined
  })

/** npm ci refuses a lock file that lacks the optional packages of another machine; a registry without them writes one. */
const wholeLock: TextRule = (files) =>
  files
    .filter(({ path }) => path === 'package-lock.json')
    .flatMap(({ path, text }) => {
      const { packages } = JSON.parse(text) as { packages: Record<string, { optionalDependencies?: Record<string, string> }> }
      return Object.entries(packages).flatMap(([parent, { optionalDependencies }]) =>
        Object.keys(optionalDependencies ?? {})
          .filter((name) => !(`node_modules/${name}` in packages) && !(`${parent}/node_modules/${name}` in packages))
          .map((name) => ({ path, what: `It has no entry for ${name}, so npm ci fails.` })),
      )
    })

const saysWhy = (line: string | undefined): boolean => line !== undefined && /\/\/ \S+( \S+){2,}/.test(line)

const waits: TextRule = (files) =>
  files
    .filter(({ path }) => isTest(path) && !isTidy(path))
    .flatMap(({ path, text }) => {
      const lines = text.split('\n')
      return lines.flatMap((line, i) => {
        const isWait = /\bset(Timeout|Interval)\(|['"](node:)?timers\/promises['"]/.test(line)
        if (!isWait || saysWhy(line) || saysWhy(lines[i - 1])) return []
        return [{ path, line: i + 1, what: 'Wait for a condition; if it has to be time, say why on the line, or above it.' }]
      })
    })

const silentTests: TextRule = (files) =>
  eachLine(files, (line, path) => {
    if (!isTest(path) || isTidy(path)) return undefined
    if (/\b(test|it|describe)(\.\w+)*\.only\b|\bf(it|describe)\(/.test(line)) return 'This leaves all other tests out: remove .only.'
    if (/\b(test|it|describe)(\.\w+)*\.skip\b|\bx(it|test|describe)\(/.test(line) && !line.includes('skipped: ')) {
      return 'Say why in the title: `test.skip("what (skipped: reason)"`.'
    }
    return /\bjest\.(mock|unstable_mockModule|doMock)\(/.test(line) ? 'Pass a fake in: modules of our own are not mocked.' : undefined
  })

const disabledRules: TextRule = (files) =>
  eachLine(files, (line, path) => {
    const disabled = /(eslint-disable\S*|biome-ignore\S*|dependency-cruiser:ignore\S*)(.*)/.exec(line)
    if (disabled === null || isTidy(path) || !isCode(path)) return undefined
    return /(--|:) \S+( \S+){2,}/.test(disabled[2] as string) ? undefined : 'Say on the line why the rule does not hold here: `-- reason`.'
  })

const openingComments: TextRule = (files) =>
  files
    .filter(({ path }) => PROTOCOL_FOLDERS.test(path) && !isTest(path))
    .flatMap(({ path, text }) => {
      // What follows an empty comment line is the form of a file, or a proof: it takes what it takes.
      const count = text.split('\n').findIndex((line) => !line.startsWith('// '))
      return count >= 1 && count <= 3 ? [] : [{ path, what: 'Open with one to three lines: what the file is, and what it never does.' }]
    })

/** A new secret goes to the end of its list, and to the front once all accept it (ADR 0086): text that names the newest one first
 *  makes an operator stop all work. A line that names a secret is read with the next one, because texts are wrapped. */
const secretOrder: TextRule = (files) =>
  files
    .filter(({ path }) => !isTidy(path) && path !== 'package-lock.json')
    .flatMap(({ path, text }) => {
      const lines = text.split('\n')
      return lines.flatMap((line, i) => {
        const around = [lines[i - 1] ?? '', line, lines[i + 1] ?? ''].join(' ')
        const isSaid = /\bnew(est)?\b( \w+)? first\b|\bfirst is the new(est)?\b/i.test(line)
        const isOfSecrets = /SERVO_(\w+_)?SECRETS|SERVO_API_TOKEN|\b(secret|token)s?\b/i.test(around)
        const isForbidden = /\b(do not|never)\b/i.test(line)
        if (!isSaid || !isOfSecrets || isForbidden) return []
        return [{ path, line: i + 1, what: 'The first entry is used and all are accepted; a new one goes to the end (docs/security.md).' }]
      })
    })

const TEXT_RULES = { fileNames, unfinishedWords, registryHosts, wholeLock, waits, silentTests, disabledRules, openingComments, secretOrder }

export const textRules = Object.entries(TEXT_RULES) as readonly (readonly [keyof typeof TEXT_RULES, TextRule])[]

/** For every rule files of which each is wrong, and has to be found. */
export const PLANTED_TEXT: Readonly<Record<keyof typeof TEXT_RULES, readonly TextFile[]>> = {
  fileNames: ['src/core/utils.ts', 'src/core/RunKey.ts', 'src/turn/index.ts', 'src/turn/run_key.ts'].map((path) => ({
    path,
    text: '',
  })),
  unfinishedWords: [
    { path: 'src/core/a.ts', text: '// TODO: the rest' },
    { path: 'src/core/b.ts', text: "throw new Error('not implemented')" },
    { path: 'docs/c.md', text: 'Look at `/home/me/servo`.' },
  ],
  registryHosts: [
    { path: 'package-lock.json', text: '      "resolved": "https://registry.example/zod/-/zod-4.6.7.tgz",' },
    { path: '.npmrc', text: 'registry=https://registry.example' },
  ],
  wholeLock: [{ path: 'package-lock.json', text: '{"packages":{"node_modules/a":{"optionalDependencies":{"a-darwin":"1.0.0"}}}}' }],
  waits: [
    { path: 'test/crash/a.test.ts', text: 'await new Promise((done) => setTimeout(done, 100))' },
    { path: 'src/core/b.test.ts', text: "import { setTimeout as wait } from 'node:timers/promises'" },
  ],
  silentTests: [
    { path: 'test/crash/a.test.ts', text: "test.only('a', () => {})" },
    { path: 'test/crash/b.test.ts', text: "describe.skip('b', () => {})" },
    { path: 'test/crash/c.test.ts', text: "jest.unstable_mockModule('../src/turn/turn.js', () => ({}))" },
  ],
  disabledRules: [{ path: 'src/turn/a.ts', text: '// eslint-disable-next-line no-restricted-syntax' }],
  openingComments: [
    { path: 'src/turn/a.ts', text: "import { assert } from '../core/errors.js'\n" },
    { path: 'src/ledger/b.ts', text: '// one\n// two\n// three\n// four\n' },
  ],
  secretOrder: [
    { path: 'src/bin/d.ts', text: "'SERVO_SECRETS is not set. Give it one or more keys, newest first.'" },
    { path: 'src/cli/a.ts', text: '  SERVO_SECRETS  key_id:secret  ids and task tokens; the newest first' },
    { path: 'docs/b.md', text: '`SERVO_API_TOKEN` is a list,\nthe new token first.' },
    { path: 'temporal/c.yml', text: '# Secrets are separated by commas; the first is the newest.' },
  ],
}

/** Near misses, which have to pass. */
export const WELCOME_TEXT: readonly TextFile[] = [
  { path: 'src/turn/run-key.ts', text: '// What it is.\n\nexport const x = 1\n' },
  { path: 'test/crash/a.test.ts', text: 'setTimeout(kill, 100) // the child has to be in the middle of a write' },
  { path: 'test/crash/c.test.ts', text: '// The child has to be ended when it hangs.\nconst timer = setTimeout(stop, 1)' },
  { path: 'test/crash/b.test.ts', text: "test.skip('b (skipped: needs a real bucket)', () => {})" },
  { path: 'docs/b.md', text: 'Do not put a new entry first right away: `SERVO_SECRETS` of the others lacks it.' },
  { path: 'src/cli/run/list.ts', text: "    .description('runs, newest first')" },
  { path: 'src/turn/b.ts', text: '// What it is.\n// eslint-disable-next-line max-lines -- one table, and nothing to split\n' },
]
