// Waits until runs that were asked to end are over. Those that are being cancelled are one list, however many there are; each
// of the others is asked for once it has left that list.

import type { Run } from '../answers.js'
import { listed, type Session } from '../api-command.js'
import { isNotTakenUp } from '../client.js'
import { FailedError } from '../exit-code.js'
import { counted, note } from '../local/print.js'
import { createPatience, type Interruptible, untilInterrupted } from '../watching.js'
import { readRun, runPath } from './find.js'
import { isOver } from './progress.js'

const LOOK_AGAIN_MS = 250
/** Looking takes time itself where there are hundreds of runs: at most half of it goes into looking. */
const LOOKING_SHARE = 1
const ASKED_AT_ONCE = 8

/** The state of each when it is over. */
export const untilOver = (session: Session, run_ids: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  untilInterrupted((until) => lookUntilOver(session, run_ids, until))

async function lookUntilOver(session: Session, run_ids: readonly string[], until: Interruptible): Promise<ReadonlyMap<string, string>> {
  // The cancels were accepted: what does not answer now does so later.
  const patience = createPatience({ hasAnswered: true })
  const states = new Map<string, string>()
  const began = performance.now()
  let told = 0
  while (!until.signal.aborted) {
    const looked_at = performance.now()
    const open = run_ids.filter((run_id) => !states.has(run_id))
    const over = (await patience.tried(() => overOf(session, open))) ?? []
    for (const { run_id, state } of over) states.set(run_id, state)
    if (states.size === run_ids.length) {
      if (!session.json) note(overText([...states.values()], performance.now() - began))
      return states
    }
    if (!session.json && states.size > told) {
      note(`${states.size} of ${counted(run_ids.length, 'run')} over.`)
      told = states.size
    }
    await until.sleep(Math.max(LOOK_AGAIN_MS, LOOKING_SHARE * (performance.now() - looked_at)))
  }
  throw new FailedError('Stopped waiting; the runs end all the same.')
}

async function overOf(session: Session, run_ids: readonly string[]): Promise<readonly Run[]> {
  const query = { state: 'CANCELLING', fresh: true }
  const { rows } = await listed<'runs', Run>(session, { path: '/runs', member: 'runs', query })
  const cancelling = new Set(rows.map(({ run_id }) => run_id))
  const rest = run_ids.filter((run_id) => !cancelling.has(run_id))
  const found: Run[] = []
  const ask = async () => {
    for (let run_id = rest.pop(); run_id !== undefined; run_id = rest.pop()) {
      const run = await readUnlessBehind(session, run_id)
      if (run !== undefined) found.push(run)
    }
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask))
  return found.filter(({ state }) => isOver(state))
}

/** undefined: no turn has taken it up, and so it is not over. */
async function readUnlessBehind({ client }: Session, run_id: string): Promise<Run | undefined> {
  try {
    return await readRun((fresh) => client.get<Run>(runPath(run_id), fresh ? { fresh } : {}))
  } catch (error) {
    if (isNotTakenUp(error)) return undefined
    throw error
  }
}

/** `500 runs are over after 2.3 s: 498 CANCELLED, 2 SUCCEEDED.` */
function overText(states: readonly string[], elapsed_ms: number): string {
  const counts = new Map<string, number>()
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1)
  const texts = [...counts].sort(([left], [right]) => (left < right ? -1 : 1)).map(([state, count]) => `${count} ${state}`)
  return `${counted(states.length, 'run')} ${states.length === 1 ? 'is' : 'are'} over after ${(elapsed_ms / 1_000).toFixed(1)} s: ${texts.join(', ')}.`
}
