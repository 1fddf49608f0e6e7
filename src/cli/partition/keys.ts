// `servo partition keys`: the keys that a definition has. It asks nobody.

import type { Command } from 'commander'
import { parseJson } from '../../core/json.js'
import { withExample } from '../api-command.js'
import { parseCount, parseInstant } from '../arguments.js'
import { UsageError } from '../exit-code.js'
import { readInput } from '../input-file.js'
import { keyRangeOf } from '../key-range.js'
import { note, printJson, printTable } from '../local/print.js'
import { listPartitions } from './listing.js'

type Options = {
  readonly definition: string
  readonly now?: number
  readonly range?: string
  readonly limit?: number
  readonly windows?: boolean
  readonly json?: boolean
}

/** What fits a screen; programs get everything unless they say otherwise. */
const KEYS_FOR_PEOPLE = 100

export function addKeysCommand(group: Command): void {
  const command = group
    .command('keys')
    .description('the keys of a definition, in their order; needs no server')
    .requiredOption('--definition <file>', 'the definition as JSON; - reads it from stdin')
    .option('--now <instant>', 'those that exist then; else all up to the end, or, where there is none, those of now', parseInstant)
    .option('--range <first..last>', 'from one key to another, both included')
    .option('--limit <count>', `how many are printed (${KEYS_FOR_PEOPLE}; with --json all)`, parseCount)
    .option('--windows', 'with the window of time of each key')
    .option('--json', 'print {"count", "keys"} for programs; with --windows, "windows" besides')
    .action((options: Options) => listKeys(options))
  withExample(
    command,
    'servo partition keys --definition days.json --now 2025-02-01T00:00:00Z',
    'echo \'{"type":"hourly","start_date":"2025-03-09","timezone":"America/New_York"}\' | servo partition keys --definition - --limit 4 --windows',
  )
}

async function listKeys({ definition, now, range, limit, windows, json }: Options): Promise<void> {
  const isJson = json === true
  const listed = listPartitions(await readDefinition(definition), {
    ...(now === undefined ? {} : { now_ms: now }),
    ...(range === undefined ? {} : { range: keyRangeOf('--range', range) }),
    ...(limit === undefined ? (isJson ? {} : { limit: KEYS_FOR_PEOPLE }) : { limit }),
    ...(windows === undefined ? {} : { windows }),
  })
  if (isJson) return printJson(listed)
  const { count, keys } = listed
  if (count === 0) return note('It has no key.')
  if (listed.windows === undefined)
    printTable(
      ['key'],
      keys.map((key) => [key]),
    )
  else
    printTable(
      ['key', 'from', 'to'],
      keys.map((key, place) => [key, ...(listed.windows?.[place] ?? ['', ''])]),
    )
  if (count > keys.length) note(`These are the first ${keys.length} of ${count}. Say --limit or --range to see others.`)
}

async function readDefinition(file: string): Promise<unknown> {
  const definition = parseJson((await readInput('--definition', file)).toString('utf8'))
  if (definition !== undefined) return definition
  const name = file === '-' ? 'stdin' : file
  throw new UsageError(`--definition: ${name} is no JSON. Write one such as {"type": "daily", "start_date": "2025-01-01"}.`)
}
