// `servo ledger compact`: folds what is new and publishes it; merges and collects when asked to.

import type { Command } from 'commander'
import { type Deps, openAppender, turnDeps } from '../../bin/deps.js'
import { repairFilters } from '../../compactor/base/repair-filters.js'
import { collectAll } from '../../compactor/collect.js'
import { mergeBase } from '../../compactor/merge.js'
import { createMissedLook, findMissedSegments } from '../../compactor/window.js'
import { isOperatingError } from '../../core/errors.js'
import { createTurn, type Turn, type TurnAnswer } from '../../turn/turn.js'
import { type CompactReport, printReport, reportOf, sumOf, withMerge } from './compact-report.js'
import { watchWorkspace } from './compact-watch.js'
import { collectSooner } from './heap.js'
import { type StoreOptions, withDeps, withStore } from './options.js'
import { note } from './print.js'
import { createTroubles } from './troubles.js'
import { untilSignal } from './until-signal.js'

type CompactOptions = StoreOptions & {
  readonly merge?: boolean
  readonly filters?: boolean
  readonly collect?: boolean
  readonly watch?: boolean
}

/** Another process that publishes again and again: let it, and say so. */
const LOST_TURNS_MAX = 20
const LOST_TURN_WAIT_MS = 100

export function addCompactCommand(group: Command): void {
  withStore(group.command('compact'))
    .description('fold what is new into the tables and publish it')
    .option('--merge', 'merge the changes since the last checkpoint into the base, and look through the whole window for late segments')
    .option('--filters', 'open every Bloom filter, and rebuild those that are damaged or gone')
    .option('--collect', 'remove table files and packs that nobody can reach any more, and claims that nobody can ask for')
    .option(
      '--watch',
      'go on until interrupted; late segments, --merge and --collect at the start and then every ten minutes; with --json a line for each publish',
    )
    .action((options: CompactOptions) => compact(options))
}

async function compact(options: CompactOptions): Promise<void> {
  await withDeps(options, 'write', async (deps) => {
    const turn = createTurn(turnDeps(deps, await openAppender(deps, note), note))
    if (options.watch === true) return watch(deps, turn, options)
    const missed = options.merge === true ? await findMissedSegments(deps.store, deps.listing_window_ms) : []
    let report = await runUntilDone(deps, turn, missed)
    await repairFilters({ ...deps, log: note }, { looks_at_all: options.filters === true })
    if (options.merge === true) report = withMerge(report, await mergeBase(deps))
    if (options.collect === true) report = { ...report, collected: await collectAll(deps) }
    printReport(report, options)
  })
}

async function runUntilDone(deps: Deps, turn: Turn, missed: readonly string[]): Promise<CompactReport> {
  let answer = await runTurn(deps, turn, missed)
  let report = reportOf(answer)
  for (;;) {
    if (answer.merge_due) await mergeBase(deps)
    if (!answer.more) return report
    answer = await runTurn(deps, turn, [])
    report = sumOf(report, reportOf(answer))
  }
}

async function runTurn({ clock }: Pick<Deps, 'clock'>, turn: Turn, missed: readonly string[]): Promise<TurnAnswer> {
  for (let lost = 1; ; lost++) {
    try {
      return await turn.run({ missed })
    } catch (error) {
      if (!isOperatingError(error, 'conflict') || lost === LOST_TURNS_MAX) throw error
      await clock.sleep(LOST_TURN_WAIT_MS * Math.random())
    }
  }
}

function watch(deps: Deps, turn: Turn, options: CompactOptions): Promise<void> {
  collectSooner()
  const until = untilSignal()
  return watchWorkspace(
    {
      clock: until.clock(deps.clock),
      isStopped: until.isStopped,
      turn: (missed) => runTurn(deps, turn, missed),
      findMissed: createMissedLook(deps.store, deps.listing_window_ms),
      async merge() {
        await repairFilters({ ...deps, log: note })
        return mergeBase(deps)
      },
      collect: () => collectAll(deps),
      report: (report) => printReport(report, options),
      troubles: createTroubles(deps.clock, note),
    },
    options,
  )
}
