// `servo ledger compact`: folds what is new and publishes it; merges and collects when asked to.

import type { Command } from 'commander'
import { type Deps, openAppender, turnDeps } from '../../bin/deps.js'
import { collectOrphans } from '../../compactor/collect.js'
import { mergeBase } from '../../compactor/merge.js'
import { findMissedSegments } from '../../compactor/window.js'
import { isOperatingError } from '../../core/errors.js'
import { HOUR_MS } from '../../core/time.js'
import { createTurn, type Turn, type TurnAnswer } from '../../turn/turn.js'
import { type StoreOptions, withDeps, withStore } from './options.js'
import { counted, note, printJson, printLine } from './print.js'
import { untilSignal } from './until-signal.js'

type CompactOptions = StoreOptions & { readonly merge?: boolean; readonly collect?: boolean; readonly watch?: boolean }

/** How often a watching process looks for new segments; the wait doubles while nothing comes. */
const WATCH_FIRST_MS = 100
const WATCH_LONGEST_MS = 2_000
const COLLECT_EVERY_MS = HOUR_MS / 6
/** Another process that publishes again and again: let it, and say so. */
const LOST_TURNS_MAX = 20

export function addCompactCommand(group: Command): void {
  withStore(group.command('compact'))
    .description('fold what is new into the tables and publish it')
    .option('--merge', 'merge the changes since the last checkpoint into the base, and look through the whole window for late segments')
    .option('--collect', 'remove table files that nobody can reach any more')
    .option('--watch', 'go on until interrupted')
    .action((options: CompactOptions) => compact(options))
}

type Totals = { published_count: number; applied: number; duplicate: number; refused: number; quarantined: number; sequence: number }

async function compact(options: CompactOptions): Promise<void> {
  await withDeps(options, 'write', async (deps) => {
    const turn = createTurn(turnDeps(deps, await openAppender(deps, note), note))
    if (options.watch === true) return watch(deps, turn, options)
    const missed = options.merge === true ? await findMissedSegments(deps.store, deps.listing_window_ms) : []
    const totals = await runUntilDone(deps, turn, missed)
    const merged = options.merge === true ? await mergeBase(deps) : undefined
    const collected = options.collect === true ? await collectOrphans(deps) : undefined
    const sequence = merged?.kind === 'merged' ? merged.sequence : totals.sequence
    if (options.json === true) return printJson({ ...totals, sequence, ...(merged && { merged }), ...(collected && { collected }) })
    printLine(describe(totals))
    if (merged?.kind === 'merged')
      printLine(
        `Merged into revision ${merged.sequence}: ${counted(merged.rows_written, 'row')} in ${counted(merged.parts_written, 'file')}.`,
      )
    if (merged?.kind === 'nothing_due') printLine('Nothing to merge.')
    if (merged?.kind === 'lost') printLine('Another merge published first; its work stands.')
    if (collected) printLine(`Collected ${counted(collected.deleted_count, 'file')}; ${collected.too_young_count} are too young to judge.`)
  })
}

const describe = ({ sequence, published_count, applied, duplicate, refused, quarantined }: Totals): string =>
  `Revision ${sequence}: ${applied} applied, ${duplicate} duplicate, ${refused} refused, ${quarantined} quarantined in ${counted(published_count, 'publish').replace(/publishs$/, 'publishes')}.`

async function runUntilDone(deps: Deps, turn: Turn, missed: readonly string[]): Promise<Totals> {
  const totals: Totals = { published_count: 0, applied: 0, duplicate: 0, refused: 0, quarantined: 0, sequence: 0 }
  let answer = await runTurn(deps, turn, missed)
  for (;;) {
    totals.sequence = answer.sequence
    totals.published_count += answer.published_count
    for (const outcome of ['applied', 'duplicate', 'refused', 'quarantined'] as const) totals[outcome] += answer.counts[outcome]
    if (answer.merge_due) await mergeBase(deps)
    if (!answer.more) return totals
    answer = await runTurn(deps, turn, [])
  }
}

async function runTurn({ clock }: Deps, turn: Turn, missed: readonly string[]): Promise<TurnAnswer> {
  for (let lost = 1; ; lost++) {
    try {
      return await turn.run({ missed })
    } catch (error) {
      if (!isOperatingError(error, 'conflict') || lost === LOST_TURNS_MAX) throw error
      await clock.sleep(WATCH_FIRST_MS * Math.random())
    }
  }
}

async function watch(deps: Deps, turn: Turn, options: CompactOptions): Promise<void> {
  const until = untilSignal()
  const { sleep } = until.clock(deps.clock)
  let wait_ms = WATCH_FIRST_MS
  let collected_at = deps.clock.elapsed()
  let missed = options.merge === true ? await findMissedSegments(deps.store, deps.listing_window_ms) : []
  while (!until.isStopped()) {
    const answer = await runTurn(deps, turn, missed)
    missed = []
    if (answer.published_count > 0 && options.json === true) printJson(answer)
    else if (answer.published_count > 0) printLine(describe({ ...answer, ...answer.counts }))
    if (answer.merge_due) await mergeBase(deps)
    if (options.collect === true && deps.clock.elapsed() - collected_at > COLLECT_EVERY_MS) {
      await collectOrphans(deps)
      collected_at = deps.clock.elapsed()
    }
    wait_ms = answer.published_count > 0 ? WATCH_FIRST_MS : Math.min(wait_ms * 2, WATCH_LONGEST_MS)
    if (!answer.more) await sleep(wait_ms)
  }
}
