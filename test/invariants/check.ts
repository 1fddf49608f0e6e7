// All invariants that this layer has, over one workspace and what an oracle saw of it (docs/invariants.md says which
// come later). Used by the crash enumeration, by the simulation and by the test of each invariant.

import { tmpdir } from 'node:os'
import { messageOf } from '../../src/core/errors.js'
import type { Clock } from '../../src/core/time.js'
import { replay } from '../../src/turn/replay.js'
import type { World } from '../fixtures/world.js'
import { type Evidence, gatherEvidence, type Surroundings } from './evidence.js'
import { checkAcknowledged, checkCauses, checkClaims, checkOutcomes, checkRunKeys, checkSetSum } from './ledger-checks.js'
import { checkChain, checkFiles, checkHandovers, checkSightings, checkSums, checkTables } from './table-checks.js'
import { checkTimes } from './time-checks.js'

/** What else one story has to check on the same evidence. */
export type ExtraCheck = (evidence: Evidence) => readonly string[]

export const checkWorld = (world: World, extra?: ExtraCheck): Promise<readonly string[]> =>
  checkInvariants({ ...world, store: world.bucket }, extra)

export type Subject = Omit<Surroundings, 'now'> & {
  /** The world's own time. */
  readonly clock: Clock
}

/** Sentences, each beginning with the invariant that does not hold; empty: all hold. */
export async function checkInvariants(subject: Subject, extra: ExtraCheck = () => []): Promise<readonly string[]> {
  const { oracle, clock } = subject
  const problems = [...oracle.problems]
  let evidence: Evidence
  try {
    evidence = await gatherEvidence({ ...subject, now: clock.now() })
  } catch (error) {
    return [...problems, `I6 What was published cannot be read: ${messageOf(error)}`]
  }
  problems.push(
    ...checkAcknowledged(evidence),
    ...checkOutcomes(evidence),
    ...checkRunKeys(evidence),
    ...checkCauses(evidence),
    ...checkClaims(evidence),
    ...checkSetSum(evidence),
    ...checkChain(evidence),
    ...(await checkFiles(evidence)),
    ...evidence.history.problems,
    ...checkTables(evidence),
    ...checkSightings(evidence),
    ...checkHandovers(evidence),
    ...checkSums(evidence.live, 'In the end'),
    ...checkTimes(evidence.live, 'In the end'),
    ...(await checkReplay(evidence)),
    ...extra(evidence),
  )
  return problems
}

/** I4: folding again what was recorded gives the live tables, row for row. */
async function checkReplay({ store, files, scope, pointer }: Evidence): Promise<string[]> {
  if (pointer === undefined) return []
  // So few that rows leave memory in most stories, and are found again in the file.
  const answer = await replay({ live: { store, files }, scope, scratch_folder: tmpdir(), held: { rows: 10, bytes: 1_000 } })
  return answer.differences.map((difference) => `I4 A replay differs from the live tables: ${JSON.stringify(difference).slice(0, 400)}`)
}
