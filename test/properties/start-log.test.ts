// Whatever processes, retries and stores do, an attempt has one execution, and everybody who is answered is told the same.

import { describe, expect, test } from '@jest/globals'
import { claimStart, readStart, type StartDeps } from '../../src/commands/starts.js'
import { isOperatingError } from '../../src/core/errors.js'
import { SECOND_MS } from '../../src/core/time.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { type FaultRule, faultStore } from '../faults/fault-store.js'
import { createRandom } from '../fixtures/random.js'
import { ulidOf } from '../fixtures/say.js'
import { createVirtualTime, VIRTUAL_START } from '../fixtures/virtual-time.js'

const FIRST_SEED = Number(process.env['SERVO_TEST_SEED'] ?? 3_000)
const SEEDS = Array.from({ length: process.env['SERVO_TEST_SEED'] === undefined ? 60 : 1 }, (_, index) => FIRST_SEED + index)
const GROUP = { location_name: 'main', dispatched_at: VIRTUAL_START }
const ATTEMPTS = 6
const FAULTS: readonly FaultRule[] = [
  { fault: 'fail_before', probability: 0.05 },
  { fault: 'lose_answer', probability: 0.15 },
  { fault: 'apply_late', probability: 0.1, duration_ms: [10, 5 * SECOND_MS] },
  { fault: 'refuse_after_success', probability: 0.1 },
  { fault: 'throttle', probability: 0.05 },
  { fault: 'delay', probability: 0.3, duration_ms: [1, 400] },
  { fault: 'pause', probability: 0.02, duration_ms: [SECOND_MS, 60 * SECOND_MS] },
]

function createProcesses(seed: number) {
  const random = createRandom(`start-log/${seed}`)
  const time = createVirtualTime()
  const inner = createMemoryStore({ clock: { now: time.now }, page_size: 5 })
  let count = 0
  const start = (faults = FAULTS): StartDeps => {
    const actor = `process ${count++}`
    const clock = time.clock()
    return { store: faultStore(inner, { actor, random: random.fork(actor), clock, faults }), clock, start_logs: new Map() }
  }
  return { random, time, inner, start }
}

const claimOf = (attempt: number, execution: string) => ({
  run_id: 'run_1',
  task_key: `t${attempt}`,
  attempt: 1,
  attempt_id: ulidOf(`attempt ${attempt}`),
  execution_id: ulidOf(execution),
  worker_id: 'w',
  sequence: 1,
})

describe('a log of starts', () => {
  test.each(SEEDS)('seed %i: gives each attempt to one execution, and never to another', async (seed) => {
    const { random, time, inner, start } = createProcesses(seed)
    const processes = [start(), start(), start()]
    const told = new Map<string, Set<string>>()
    const note = (attempt_id: string, execution_id: string) => told.set(attempt_id, (told.get(attempt_id) ?? new Set()).add(execution_id))
    const ask = async (asker: number): Promise<void> => {
      const attempt = random.below(ATTEMPTS)
      const execution = `${attempt}/${random.below(3)}`
      // Whoever is told nothing asks again with the same words, perhaps at another process, perhaps at one that was restarted.
      for (let tries = 0; tries < 20; tries++) {
        await time.sleep(random.below(300))
        if (random.isTrue(0.1)) processes[asker % 3] = start()
        const deps = processes[random.isTrue(0.7) ? asker % 3 : random.below(3)] as StartDeps
        try {
          const claim = claimOf(attempt, execution)
          const owner = random.isTrue(0.8) ? await claimStart(deps, GROUP, claim) : await readStart(deps, GROUP, claim.attempt_id)
          if (owner === undefined) continue
          note(claim.attempt_id, owner.execution_id)
          return
        } catch (error) {
          if (!isOperatingError(error, 'unavailable')) throw error
        }
      }
    }
    await time.until(Promise.all(Array.from({ length: 40 }, (_, asker) => ask(asker))))
    const replay = `SERVO_TEST_SEED=${seed} NODE_OPTIONS=--experimental-vm-modules npx jest test/properties/start-log`
    for (const [attempt_id, executions] of told) {
      expect({ attempt_id, executions: executions.size, replay }).toEqual({ attempt_id, executions: 1, replay })
      const deps = start([])
      const stored = await time.until(readStart(deps, GROUP, attempt_id))
      expect([stored?.execution_id]).toEqual([...executions])
    }
    const { objects } = await inner.list('starts/')
    expect(objects.length).toBeGreaterThan(0)
  })

  test('takes all who ask at the same time in one entry, and asks the store for nothing twice', async () => {
    const { time, inner, start } = createProcesses(1)
    const deps = start([])
    const claims = Array.from({ length: 50 }, (_, attempt) => claimOf(attempt, `first ${attempt}`))
    const owners = await time.until(Promise.all(claims.map((claim) => claimStart(deps, GROUP, claim))))
    expect(owners.map(({ execution_id }) => execution_id)).toEqual(claims.map(({ execution_id }) => execution_id))
    const { objects } = await inner.list('starts/')
    expect(objects.length).toBe(1)
    const late = await time.until(claimStart(start([]), GROUP, claimOf(7, 'late')))
    expect(late.execution_id).toBe(claims[7]?.execution_id)
    expect((await inner.list('starts/')).objects.length).toBe(objects.length)
    expect(await time.until(readStart(deps, GROUP, ulidOf('attempt 99')))).toBeUndefined()
  })

  test('is remembered with those asked for last, up to a number of claims, and read again where it was forgotten', async () => {
    const { time, start } = createProcesses(2)
    const deps = start([])
    const groups = Array.from({ length: 45 }, (_, second) => ({ ...GROUP, dispatched_at: VIRTUAL_START + second * SECOND_MS }))
    const claimed = (group: number, attempt: number) => claimOf(group * 500 + attempt, 'first')
    const heldCount = () => [...deps.start_logs.values()].reduce((sum, { owners }) => sum + owners.size, 0)
    const counts: number[] = []
    for (const [number, group] of groups.entries()) {
      await time.until(Promise.all(Array.from({ length: 500 }, (_, attempt) => claimStart(deps, group, claimed(number, attempt)))))
      counts.push(heldCount())
    }
    // The newest comes on top of what is kept.
    expect(Math.max(...counts)).toBe(20_500)
    expect(deps.start_logs.size).toBe(41)
    const first = claimed(0, 7)
    const owner = await time.until(readStart(deps, groups[0] as typeof GROUP, first.attempt_id))
    expect(owner?.execution_id).toBe(first.execution_id)
  })
})
