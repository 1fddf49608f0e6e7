// From options, or a document, to what is asked for of a schedule. What is wrong with it comes back from the API, all of it.

import type { Command } from 'commander'
import { messageOf } from '../../core/errors.js'
import { collect, collectTag, parseCount, parseInteger, parseOneOf, tagsOf } from '../arguments.js'
import { UsageError } from '../exit-code.js'
import { readInput } from '../input-file.js'

type DefinitionOptions = {
  readonly cron?: readonly string[]
  readonly timezone?: string
  readonly select?: readonly string[]
  readonly partitionMapping?: string
  readonly catchupWindowMinutes?: number
  readonly maxCatchupTicks?: number
  readonly catchUpOnResume?: boolean
  readonly overlapPolicy?: string
  readonly tag?: readonly string[]
  readonly priority?: number
  readonly description?: string
  readonly file?: string
}

export const withDefinition = (command: Command): Command =>
  command
    .option('--cron <expression>', 'when, in five fields, or six with seconds first; several times for several', collect)
    .option('--timezone <zone>', 'a name of the IANA database, such as Europe/Berlin; UTC where none is given')
    .option('--select <selector>', 'asset keys; +key, key+, group:NAME, tag:NAME=VALUE, *; several times for several', collect)
    .option('--partition-mapping <mapping>', 'last-complete, or last-complete:-1 for the partition before it')
    .option('--catchup-window-minutes <minutes>', 'how far back missed instants still run', parseCount)
    .option('--max-catchup-ticks <count>', 'how many of those run, the newest first', parseCount)
    .option('--catch-up-on-resume', 'catch up with what a pause held back, too')
    .option('--no-catch-up-on-resume', 'count what a pause held back, and run none of it')
    .option('--overlap-policy <policy>', 'ALLOW, or SKIP: no tick while a run of it is active', parseOneOf(['ALLOW', 'SKIP']))
    .option('--tag <name=value>', 'a tag of its runs; several times for several', collectTag)
    .option('--priority <number>', '-100 to 100; the higher, the sooner', parseInteger)
    .option('--description <text>', 'what it is for')
    .option('--file <path>', 'a JSON document with the same members, as the API takes them; - reads from standard input')

/** Options go before what the document says. */
export async function definitionIn(options: DefinitionOptions): Promise<Readonly<Record<string, unknown>>> {
  const { cron, timezone, select, partitionMapping, priority, description, tag } = options
  const said = {
    cron_expressions: cron,
    timezone,
    asset_selection: select,
    partition_mapping: partitionMapping === undefined ? undefined : mappingOf(partitionMapping),
    catchup_window_minutes: options.catchupWindowMinutes,
    max_catchup_ticks: options.maxCatchupTicks,
    catch_up_on_resume: options.catchUpOnResume,
    overlap_policy: options.overlapPolicy,
    tags: tag === undefined ? undefined : tagsOf(tag),
    priority,
    description,
  }
  const given = Object.entries(said).filter(([, value]) => value !== undefined)
  return { ...(options.file === undefined ? {} : await documentIn(options.file)), ...Object.fromEntries(given) }
}

function mappingOf(text: string): object {
  const [, offset] = /^last-complete(?::(-?\d{1,7}))?$/.exec(text) ?? []
  if (!text.startsWith('last-complete') || (text !== 'last-complete' && offset === undefined)) {
    throw new UsageError(
      `--partition-mapping is ${JSON.stringify(text)}. Write last-complete, or last-complete:-1 for the partition before it.`,
    )
  }
  return { type: 'LAST_COMPLETE', end_offset: offset === undefined ? 0 : Number(offset) }
}

async function documentIn(file: string): Promise<object> {
  const text = (await readInput('--file', file)).toString('utf8')
  try {
    const document: unknown = JSON.parse(text)
    if (typeof document === 'object' && document !== null && !Array.isArray(document)) return document
  } catch (error) {
    throw new UsageError(`--file ${file} is not JSON: ${messageOf(error)}.`)
  }
  throw new UsageError(
    `--file ${file} is no JSON object. Write one such as {"cron_expressions": "0 6 * * *", "asset_selection": "shop.report"}.`,
  )
}
