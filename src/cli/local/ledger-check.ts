// `servo ledger verify`, `replay` and `stats`.

import { tmpdir } from 'node:os'
import { type Command, InvalidArgumentError } from 'commander'
import { compareBeside } from '../../bin/compare-beside.js'
import { openReader, openScratch } from '../../bin/deps.js'
import type { Difference, DifferingRows } from '../../compactor/compare.js'
import { verify } from '../../compactor/verify.js'
import { readStats } from '../../readers/stats.js'
import { replay } from '../../turn/replay.js'
import { replaySince } from '../../turn/replay-since.js'
import { FAILED } from '../exit-code.js'
import { nothingYet, type StoreOptions, withDeps, withStore } from './options.js'
import { counted, note, printJson, printLine, printTable } from './print.js'

export function addCheckCommands(group: Command): void {
  withStore(group.command('verify'))
    .description('check the chain, every file and checksum, and that every event is accounted for')
    .action((options: StoreOptions) => runVerify(options))
  withStore(group.command('replay'))
    .description('fold the whole ledger again and compare with the live tables, row for row')
    .option('--from <start>', 'where to begin: genesis, the first event; checkpoint, the oldest one of this fold', parseStart, 'genesis')
    .action((options: ReplayOptions) => (options.from === 'checkpoint' ? runReplaySince(options) : runReplay(options)))
  withStore(group.command('stats'))
    .description('show the newest revision, its lag and the size of every table')
    .action((options: StoreOptions) => runStats(options))
}

const runVerify = (options: StoreOptions): Promise<void> =>
  withDeps(options, 'read', async (deps) => {
    const answer = await verify(deps)
    if (answer.problems.length > 0) process.exitCode = FAILED
    if (options.json === true) return printJson(answer)
    const { ledger, applied, duplicate, refused, quarantined, unfolded } = answer.events
    const { packed } = answer.segments
    for (const problem of answer.problems) printLine(`wrong: ${problem}`)
    for (const name of answer.strays) note(`${name} is no segment and no pack, and is never folded. Whoever put it there may remove it.`)
    if (ledger === 0 && answer.revision_count === 0) return note(nothingYet(deps))
    printLine(
      `${counted(ledger, 'event')} = ${applied} applied + ${duplicate} duplicate + ${refused} refused + ${quarantined} quarantined + ${unfolded} unfolded`,
    )
    if (packed > 0) printLine(`${counted(packed, 'segment')} in packs.`)
    const verdict = answer.problems.length === 0 ? 'all is well' : counted(answer.problems.length, 'problem')
    printLine(`${counted(answer.revision_count, 'revision')}, ${counted(answer.file_count, 'file')}: ${verdict}.`)
  })

type ReplayOptions = StoreOptions & { readonly from: string }

function parseStart(text: string): string {
  if (text === 'genesis' || text === 'checkpoint') return text
  throw new InvalidArgumentError('Say genesis for the first event, or checkpoint for the oldest one that was folded as it is now.')
}

/** What it takes from the checkpoint, it does not prove. */
const runReplaySince = (options: StoreOptions): Promise<void> =>
  withDeps(options, 'read', async (deps) => {
    const scratch = await openScratch(deps)
    try {
      const answer = await replaySince({ ...deps, live: deps, scratch })
      const { from, sequence, revision_count, row_count, differences, differing_rows } = answer
      if (differences.length > 0) process.exitCode = FAILED
      if (options.json === true) return printJson({ ...answer, equal: differences.length === 0 })
      for (const difference of differences) printLine(describeDifference(difference))
      const verdict = verdictOf(differences, differing_rows)
      printLine(
        `Replayed ${counted(revision_count, 'revision')} from the checkpoint of revision ${from} to revision ${sequence}: ${counted(row_count, 'row')}, ${verdict}.`,
      )
    } finally {
      await scratch.close()
    }
  })

const runReplay = (options: StoreOptions): Promise<void> =>
  withDeps(options, 'read', async (deps) => {
    const answer = await replay({ live: deps, scope: deps.scope, scratch_folder: tmpdir(), beside: compareBeside(deps.config) })
    if (answer.differences.length > 0) process.exitCode = FAILED
    if (options.json === true) return printJson({ ...answer, equal: answer.differences.length === 0 })
    for (const difference of answer.differences) printLine(describeDifference(difference))
    const verdict = verdictOf(answer.differences, answer.differing_rows)
    printLine(
      `Replayed ${counted(answer.event_count, 'event')} of ${counted(answer.segment_count, 'segment')} from ${answer.from} ` +
        `to revision ${answer.sequence}: ${counted(answer.row_count, 'row')}, ${verdict}.`,
    )
  })

/** What a revision says of itself may differ where no row does. */
function verdictOf(differences: readonly Difference[], differing_rows: DifferingRows): string {
  if (differences.length === 0) return 'equal to the live tables'
  const counts = describeDiffering(differing_rows)
  return counts === undefined ? 'NOT equal to the live tables' : `NOT equal to the live tables: ${counts}`
}

/** undefined: none does. */
export function describeDiffering(differing_rows: DifferingRows): string | undefined {
  const tables = Object.entries(differing_rows)
  if (tables.length === 0) return undefined
  const total = tables.reduce((sum, [, count]) => sum + count, 0)
  return `${total} ${total === 1 ? 'differs' : 'differ'} (${tables.map(([table, count]) => `${table} ${count}`).join(', ')})`
}

export function describeDifference({ table, key, columns, live, replayed }: Difference): string {
  const where = `differs: ${table} ${JSON.stringify(key)}`
  if (live === null) return `${where} is missing from the live table.`
  if (replayed === null) return `${where} is in the live table, and the replay has no such row.`
  const values = columns.map((column) => `${column} live ${JSON.stringify(live[column])}, replayed ${JSON.stringify(replayed[column])}`)
  return `${where}: ${values.join('; ')}`
}

const runStats = (options: StoreOptions): Promise<void> =>
  withDeps(options, 'read', async (deps) => {
    const stats = await readStats(deps, openReader(deps))
    if (options.json === true) return printJson(stats)
    if (stats.sequence === 0) note('There is no revision yet: run `servo ledger compact`.')
    printLine(
      `Revision ${stats.sequence}, published ${stats.published_at ?? 'never'}; ${counted(stats.unfolded_segment_count, 'segment')} not folded, lag ${stats.lag_ms} ms.`,
    )
    printLine(
      `${counted(stats.applied_total, 'event')} applied; ${counted(stats.delta_count, 'delta')} since checkpoint ${stats.checkpoint_sequence}.`,
    )
    printTable(
      ['table', 'rows at most', 'base files', 'base bytes', 'overlay rows'],
      stats.tables.map(({ table, rows_at_most, file_count, bytes, overlay_rows }) => [
        table,
        String(rows_at_most),
        String(file_count),
        String(bytes),
        String(overlay_rows),
      ]),
    )
  })
