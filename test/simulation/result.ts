// What a run of a seed comes to, of either kind.

import { messageOf } from '../../src/core/errors.js'
import { sha256Hex } from '../../src/core/hash.js'
import type { World } from '../fixtures/world.js'
import { listAll } from '../invariants/evidence.js'

export type SimulationResult = {
  /** Sentences; empty: everything held. */
  readonly problems: readonly string[]
  /** Of every call and its answer, in order, and of every object in the end. */
  readonly trace_hash: string
  readonly call_count: number
  readonly event_count: number
  readonly revision_count: number
  readonly kill_count: number
  readonly trace: readonly string[]
  /** How often it came to what a sample of seeds has to come to: what is never reached is not checked. */
  readonly reached?: Readonly<Record<string, number>>
}

/** What a run is for. A second run of a seed is the same one, or its trace is another: its checks would say nothing new. */
export type Purpose = 'check' | 'trace'

export type Simulate = (seed: number, purpose?: Purpose) => Promise<SimulationResult>

export const brokeOff = (error: unknown): string =>
  `It broke off: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`

export async function resultOf(
  world: World,
  { problems, kill_count }: Pick<SimulationResult, 'problems' | 'kill_count'>,
): Promise<SimulationResult> {
  // What was left behind as well: two runs may make the same calls and store something else.
  const left = (await listAll(world.bucket, '')).map(({ name, crc32c }) => `left ${name} ${crc32c}`)
  const trace = [...world.trace, ...left]
  return {
    problems,
    trace,
    trace_hash: sha256Hex(trace.join('\n')),
    call_count: world.callCount(),
    event_count: world.oracle.acks.reduce((sum, { events }) => sum + events.length, 0),
    revision_count: world.oracle.pointers.length,
    kill_count,
  }
}
