// `servo ledger verify`, `replay` and `stats`.

import { tmpdir } from 'node:os'
import { type Command, InvalidArgumentError } from 'commander'
import { compareBeside } from '../../bin/compare-beside.js'
import { openReader } from '../../bin/deps.js'
import type { Difference } from '../../compactor/compare.js'
import { verify } from '../../compactor/verify.js'
import { readStats } from '../../readers/stats.js'
import { replay } from '../../turn/replay.js'
import { FAILED } from '../exit-code.js'
import { nothingYet, type StoreOptions, withDeps, withStore } from './options.js'
import { counted, note, printJson, printLine, printTable } from './print.js'

export function addCheckCommands(group: Command): void {
  withStore(group.command('verify'))
    .description('check the chain, every file and checksum, and that every event is accounted for')
    .action((options: StoreOptions) => runVerify(options))
  withStore(group.command('replay'))
    .description('fold the whole ledger again and compare with the live tables, row for row')
    .option('--from <start>', 'where to begin: genesis, the first event', parseStart, 'genesis')
    .action((options: StoreOptions) => runReplay(options))
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

/** There is one start: what later ones would take from a checkpoint, they could not prove. */
function parseStart(text: string): string {
  if (text === 'genesis') return text
  throw new InvalidArgumentError('A replay begins with the first event: say genesis, or leave --from out.')
}

const runReplay = (options: StoreOptions): Promise<void> =>
  withDeps(options, 'read', async (deps) => {
    const answer = await replay({ live: deps, scope: deps.scope, scratch_folder: tmpdir(), beside: compareBeside(deps.config) })
    if (answer.differences.length > 0) process.exitCode = FAILED
    if (options.json === true) return printJson({ ...answer, equal: answer.differences.length === 0 })
    for (const difference of answer.differences) printLine(describe(difference))
    const verdict = answer.differences.length === 0 ? 'equal to the live tables' : 'NOT equal to the live tables'
    printLine(
      `Replayed ${counted(answer.event_count, 'event')} of ${counted(answer.segment_count, 'segment')} from ${answer.from} ` +
        `to revision ${answer.sequence}: ${counted(answer.row_count, 'row')}, ${verdict}.`,
    )
  })

function describe({ table, key, columns, live, replayed }: Difference): string {
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
