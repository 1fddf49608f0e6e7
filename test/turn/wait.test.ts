// What becomes of an event, as whoever appended it is told: by its key, by its id, or by both.

import { describe, expect, test } from '@jest/globals'
import { sha256Hex } from '../../src/core/hash.js'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import type { LedgerEvent } from '../../src/events/event.js'
import { segmentName } from '../../src/ledger/segment.js'
import { type Asked, type Outcome, waitForOutcome } from '../../src/readers/wait.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { createScenario, type Scenario } from '../fixtures/scenario.js'

const TIMEOUT_MS = 5 * SECOND_MS

/** A scenario in which a poke is one turn, and everything is asked by both names, by the key and by the id. */
function createAsker() {
  const scenario = createScenario()
  const { decider, reader } = scenario
  const { turn: run } = decider('turn', { reconcile: foldOnly })
  // As a loop has it: one turn after the other, though pokes come together.
  let last: Promise<unknown> = Promise.resolve()
  const turn = () => (last = last.then(() => run()))
  const { reader: tables, process } = reader()
  const wait = (asked: Asked, poke: () => void = () => void turn()): Promise<Outcome> =>
    waitForOutcome({ reader: tables, clock: process.clock, poke }, asked, TIMEOUT_MS)
  const askAll = async ({ event_id, idempotency_key }: LedgerEvent, segment_name?: string) => {
    const more = segment_name === undefined ? {} : { segment_name }
    return {
      both: await wait({ event_id, idempotency_key, ...more }),
      key: await wait({ idempotency_key, ...more }),
      id: await wait({ event_id, ...more }),
    }
  }
  return { ...scenario, turn, wait, askAll }
}

const appendBy = async ({ writer }: Scenario, event: LedgerEvent): Promise<string> =>
  segmentName((await writer().append([event])).head.name)

describe('the outcome of an event', () => {
  test('is applied, under every name of it', async () => {
    const asker = createAsker()
    const { say, tell, askAll, expectInvariants } = asker
    const event = say.poolDefined('pool:x', 1)
    const answers = await tell(async () => {
      await appendBy(asker, say.poolDefined('pool:y', 1))
      await appendBy(asker, event)
      return askAll(event)
    })
    const applied = { kind: 'applied', sequence: 1, event_id: event.event_id }
    expect(answers).toEqual({ both: applied, key: applied, id: applied })
    await expectInvariants()
  })

  test('is a duplicate where another event had its key: the key says which, and its own id is nowhere', async () => {
    const asker = createAsker()
    const { say, tell, turn, world, askAll, expectInvariants } = asker
    const first = say.poolDefined('pool:x', 1)
    const again = say.poolDefined('pool:x', 1)
    const { folded, unnamed } = await tell(async () => {
      await appendBy(asker, first)
      await turn()
      await world.time.sleep(3 * MINUTE_MS)
      const segment = await appendBy(asker, again)
      await turn()
      return { folded: await askAll(again, segment), unnamed: await askAll(again) }
    })
    const applied = { kind: 'applied', sequence: 1, event_id: first.event_id }
    const duplicate = { kind: 'duplicate', applied_event_id: first.event_id }
    expect(folded).toMatchObject({ both: duplicate, key: { ...applied, sequence: 2 }, id: { kind: 'not_kept', sequence: 2 } })
    expect(unnamed).toMatchObject({ both: duplicate, key: { kind: 'applied' }, id: { kind: 'pending' } })
    await expectInvariants()
  })

  test('is refused with its reason, also after another event has applied its key', async () => {
    const asker = createAsker()
    const { say, tell, turn, world, askAll, expectInvariants } = asker
    const refused = say.poolRemoved('pool:x')
    const later = say.poolRemoved('pool:x')
    const { before, after } = await tell(async () => {
      await appendBy(asker, refused)
      const before = await askAll(refused)
      await appendBy(asker, say.poolDefined('pool:x', 1))
      await world.time.sleep(3 * MINUTE_MS)
      await appendBy(asker, later)
      await turn()
      return { before, after: { refused: await askAll(refused), later: await askAll(later) } }
    })
    const outcome = { kind: 'refused', event_id: refused.event_id, reason: 'UNKNOWN_ENTITY' }
    expect(before).toMatchObject({ both: outcome, key: outcome, id: outcome })
    const applied = { kind: 'applied', event_id: later.event_id }
    expect(after.refused).toMatchObject({ both: outcome, id: outcome })
    expect(after.later).toMatchObject({ both: applied, key: applied, id: applied })
    await expectInvariants()
  })

  test('is, under a key that was refused twice, what was said last', async () => {
    const asker = createAsker()
    const { say, tell, turn, world, wait } = asker
    const [first, second] = [say.poolRemoved('pool:x', { event_id: `7${'0'.repeat(25)}` }), say.poolRemoved('pool:x')]
    const answer = await tell(async () => {
      await appendBy(asker, first)
      await turn()
      await world.time.sleep(3 * MINUTE_MS)
      await appendBy(asker, second)
      await turn()
      return wait({ idempotency_key: second.idempotency_key })
    })
    expect(answer).toMatchObject({ kind: 'refused', event_id: second.event_id })
  })

  test('is quarantined with its reason, which only its id knows', async () => {
    const asker = createAsker()
    const { say, tell, askAll, expectInvariants } = asker
    const missing = { sha256: sha256Hex('nobody wrote it'), count: 3 }
    const event = say.runRequested('user:1', { assets: { list: missing } })
    const answers = await tell(async () => askAll(event, await appendBy(asker, event)))
    const outcome = { kind: 'quarantined', event_id: event.event_id, reason: 'LIST_MISSING', detail: { sha256: missing.sha256 } }
    expect(answers).toMatchObject({ both: outcome, key: { kind: 'not_kept' }, id: outcome })
    await expectInvariants()
  })

  test('is not kept of a heartbeat that was refused, in an open minute and in a closed one', async () => {
    const asker = createAsker()
    const { say, tell, turn, world, askAll, rows, expectInvariants } = asker
    const beat = say.taskHeartbeat({ run_id: 'run_x', task_key: 'a', attempt: 1 }, 1)
    const { open, closed, unnamed } = await tell(async () => {
      const segment = await appendBy(asker, beat)
      const open = await askAll(beat, segment)
      await world.time.sleep(20 * MINUTE_MS)
      await appendBy(asker, say.poolDefined('pool:x', 1))
      await turn()
      return { open, closed: await askAll(beat, segment), unnamed: await askAll(beat) }
    })
    const [first, second, pending] = [{ kind: 'not_kept', sequence: 1 }, { kind: 'not_kept', sequence: 2 }, { kind: 'pending' }]
    expect(open).toEqual({ both: first, key: first, id: first })
    expect(closed).toEqual({ both: second, key: second, id: second })
    expect(unnamed).toEqual({ both: pending, key: pending, id: pending })
    expect(await rows('refusals')).toEqual([])
    await expectInvariants()
  })
})

describe('waiting for an outcome', () => {
  test('pokes once, and ends with the first revision that has it', async () => {
    const asker = createAsker()
    const { say, tell, turn, world, wait } = asker
    const event = say.poolDefined('pool:x', 1)
    let pokes = 0
    const { answer, took_ms } = await tell(async () => {
      await turn()
      const segment_name = await appendBy(asker, event)
      const began = world.time.now()
      const poke = () => {
        pokes += 1
        void world.time.sleep(2 * SECOND_MS).then(() => turn())
      }
      const answer = await wait({ idempotency_key: event.idempotency_key, segment_name }, poke)
      return { answer, took_ms: world.time.now() - began }
    })
    expect(answer).toEqual({ kind: 'applied', sequence: 2, event_id: event.event_id })
    expect(pokes).toBe(1)
    expect(took_ms).toBeGreaterThan(2 * SECOND_MS)
    expect(took_ms).toBeLessThan(TIMEOUT_MS)
  })

  test('is over when the time is up, before the first revision as well', async () => {
    const asker = createAsker()
    const { say, tell, world, wait } = asker
    const event = say.poolDefined('pool:x', 1)
    const { answer, took_ms } = await tell(async () => {
      const segment_name = await appendBy(asker, event)
      const began = world.time.now()
      const answer = await wait({ idempotency_key: event.idempotency_key, segment_name }, () => undefined)
      return { answer, took_ms: world.time.now() - began }
    })
    expect(answer).toEqual({ kind: 'pending' })
    expect(took_ms).toBeGreaterThanOrEqual(TIMEOUT_MS)
    expect(took_ms).toBeLessThan(TIMEOUT_MS + SECOND_MS)
  })
})
