// What the documents say, in a form that can be compared with what is there.

import type { Finding, TextFile } from './text.js'

const PATH = /`([\w./-]+)`/g

/** Words in backticks that are meant as paths of files; names of stored objects look like them. */
export function pathsIn(text: string): string[] {
  return [...text.matchAll(PATH)]
    .map(([, path]) => path as string)
    .filter((path) => !/^(manifests|state)\//.test(path))
    .filter((path) => /^(src|test|docs|scripts|bench|bin)\//.test(path) || /\.(ts|js|cjs|json|md)$/.test(path))
}

/** Paths are written from the root or from src/. */
export function missingPaths(document: TextFile, exists: (path: string) => boolean): Finding[] {
  return pathsIn(document.text)
    .filter((path) => !exists(path) && !exists(`src/${path}`))
    .map((path) => ({ path: document.path, what: `It names ${path}, which does not exist.` }))
}

export function missingFolders(document: TextFile, folders: readonly string[]): Finding[] {
  return folders
    .filter((folder) => !new RegExp(`\`(src/)?${folder}/?\``).test(document.text))
    .map((folder) => ({ path: document.path, what: `It does not speak of src/${folder}.` }))
}

type Decision = { readonly number: string; readonly title: string; readonly status: string; readonly file: string }

/** An index row: | [0020](0020-title.md) | Title | accepted | */
const indexRows = (index: string): Decision[] =>
  [...index.matchAll(/^\| \[(\d{4})\]\((\S+)\) \| (.+?) \| (.+?) \|$/gm)].map(([, number, file, title, status]) => ({
    number: number as string,
    file: file as string,
    title: title as string,
    status: status as string,
  }))

function decisionIn({ path, text }: TextFile): Decision {
  const file = path.slice(path.lastIndexOf('/') + 1)
  const heading = /^# (\d{4}): (.+)$/m.exec(text)
  const status = /^Status: (.+)$/m.exec(text)
  return { number: heading?.[1] ?? '', title: heading?.[2] ?? '', status: status?.[1] ?? '', file }
}

const DECISION_SECTIONS = ['Context', 'Decision', 'Non-goals', 'Rejected', 'Consequences', 'Invariants']

export function decisionFaults(index: TextFile, decisions: readonly TextFile[]): Finding[] {
  const rows = indexRows(index.text)
  const faults = decisions.flatMap((decision) => {
    const { number, title, status, file } = decisionIn(decision)
    const row = rows.find((candidate) => candidate.file === file)
    const missing = DECISION_SECTIONS.filter((section) => !new RegExp(`^## ${section}`, 'm').test(decision.text))
    return [
      ...(number !== '' && file.startsWith(`${number}-`) ? [] : ['Begin with `# NNNN: Title`, with the number of the file name.']),
      ...(status === '' ? ['Say `Status: accepted`, or what it is.'] : []),
      ...(missing.length === 0 ? [] : [`It lacks ${missing.join(', ')}.`]),
      ...(row?.number === number && row.title === title && row.status === status
        ? []
        : [`The index has another row, or none: write | [${number}](${file}) | ${title} | ${status} |`]),
    ].map((what) => ({ path: decision.path, what }))
  })
  const files = decisions.map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
  const dead = rows.filter((row) => !files.includes(row.file)).map((row) => ({ path: index.path, what: `${row.file} does not exist.` }))
  const numbers = rows.map((row) => row.number)
  const isSorted = numbers.every((number, i) => i === 0 || (numbers[i - 1] as string) < number)
  return [...faults, ...dead, ...(isSorted ? [] : [{ path: index.path, what: 'Sort the rows by number, each once.' }])]
}

export type Invariant = { readonly number: number; readonly sentence: string; readonly proof: string }

/** A row: | I1 | sentence | `test/…` or: comes with … | */
export const invariantsIn = (text: string): Invariant[] =>
  [...text.matchAll(/^\| I(\d+) \| (.+?) \| (.+?) \|$/gm)].map(([, number, sentence, proof]) => ({
    number: Number(number),
    sentence: sentence as string,
    proof: proof as string,
  }))

const TITLE = /\b(?:test|it|describe)(?:\.\w+)*(?:\([^()]*\))?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g

export const titlesIn = (text: string): string[] => [...text.matchAll(TITLE)].map(([, , title]) => title as string)

export function invariantFaults(document: TextFile, tests: readonly TextFile[]): Finding[] {
  const invariants = invariantsIn(document.text)
  const say = (what: string): Finding => ({ path: document.path, what })
  const order = invariants.every(({ number }, i) => number === i + 1) && invariants.length > 0 ? [] : [say('The rows are not I1, I2, I3 …')]
  const faults = invariants.flatMap(({ number, proof }) => {
    if (/^comes with \w+/.test(proof)) return []
    const named = pathsIn(proof)
    if (named.length === 0) return [say(`I${number} names no test file, nor what it comes with.`)]
    const found = named.map((path) => tests.find((test) => test.path === path))
    if (found.includes(undefined)) return [say(`I${number} names a test file that does not exist: ${named.join(', ')}.`)]
    const isInTitle = found.some((test) => titlesIn((test as TextFile).text).some((title) => new RegExp(`\\bI${number}\\b`).test(title)))
    return isInTitle ? [] : [say(`I${number} occurs in no test title of ${named.join(', ')}.`)]
  })
  const known = new Set(invariants.map(({ number }) => number))
  const unknown = tests.flatMap(({ path, text }) =>
    titlesIn(text)
      .flatMap((title) => [...title.matchAll(/\bI(\d+)\b/g)])
      .filter(([, number]) => !known.has(Number(number)))
      .map(([name]) => ({ path, what: `Its title names ${name}, which docs/invariants.md does not have.` })),
  )
  return [...order, ...faults, ...unknown]
}

/** A row: | INV-1 | its name | what it is now | `test/…` |. Each has a test that is called by its name, in that file. */
export function olderInvariantFaults(document: TextFile, tests: readonly TextFile[]): Finding[] {
  const rows = [...document.text.matchAll(/^\| ((?:L2-)?INV-\d+) \| .+ \| (.+?) \|$/gm)]
  const say = (what: string): Finding => ({ path: document.path, what })
  if (rows.length === 0) return [say('It has no row of an older invariant.')]
  const names = rows.map(([, name]) => name as string)
  const faults = rows.flatMap(([, name, proof = '']) => {
    const found = tests.filter(({ path }) => pathsIn(proof).includes(path))
    const isInTitle = found.some(({ text }) => titlesIn(text).some((title) => namesIn(title).includes(name as string)))
    return isInTitle ? [] : [say(`${name} occurs in no test title of ${proof}.`)]
  })
  const unknown = tests.flatMap(({ path, text }) =>
    titlesIn(text)
      .flatMap(namesIn)
      .filter((name) => !names.includes(name))
      .map((name) => ({ path, what: `Its title names ${name}, which docs/invariants.md does not have.` })),
  )
  return [...faults, ...unknown]
}

/** The rows that every older plan has: nobody can take one away unseen. */
export const OLDER_INVARIANTS = [
  ...Array.from({ length: 10 }, (_, index) => `INV-${index + 1}`),
  ...[1, 4, 5, 9, 10, 11].map((number) => `L2-INV-${number}`),
]

const namesIn = (title: string): string[] => [...title.matchAll(/(?<![\w-])(?:L2-)?INV-\d+\b/g)].map(([name]) => name)

export type DocumentCommand = { readonly path: string; readonly line: string }

/** Lines of the code fences that are marked `sh`, a line that ends with a backslash with its next. */
export function commandBlocks({ path, text }: TextFile): { readonly path: string; readonly lines: readonly string[] }[] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, body]) => ({
    path,
    lines: (body as string)
      .replace(/\\\n\s*/g, ' ')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#')),
  }))
}

export const commandsIn = (document: TextFile): DocumentCommand[] =>
  commandBlocks(document).flatMap(({ path, lines }) => lines.map((line) => ({ path, line })))

export type CommandKind = 'script' | 'servo' | 'set-up' | 'unknown'

/** `servo` lines are run by test/tidy/commands.test.ts; the others are compared with package.json. */
export function kindOf(line: string, scripts: readonly string[]): CommandKind {
  if (/\bnpx servo\b/.test(line)) return 'servo'
  const script = /^npm (?:run )?([\w:-]+)(?: -- .*)?$/.exec(line)?.[1]
  if (script !== undefined)
    return scripts.includes(script) && (line.startsWith('npm run') || ['test', 'start'].includes(script)) ? 'script' : 'unknown'
  return /^(git clone|cd) \S+$/.test(line) ? 'set-up' : 'unknown'
}
