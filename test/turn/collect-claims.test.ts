// Claims go in the end, and not while anybody may still ask for them.

import { describe, expect, test } from '@jest/globals'
import { submitClaimed } from '../../src/commands/claims.js'
import { claimStart } from '../../src/commands/starts.js'
import { collectClaims } from '../../src/compactor/collect-claims.js'
import { startLogName } from '../../src/core/keys.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { createAppender } from '../../src/ledger/append.js'
import { startEntryDocument } from '../../src/ledger/start-entry.js'
import { CREATE } from '../../src/storage/object-store.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { collect } from '../fixtures/roles.js'
import { attemptIdOf, runIdOf, ulidOf } from '../fixtures/say.js'
import { createScenario, loseAnswer, once, type Scenario } from '../fixtures/scenario.js'
import { listAll } from '../invariants/evidence.js'

const attempt = { run_id: runIdOf('user:1'), task_key: 'a', attempt: 1 }
const execution_id = ulidOf('execution')

/** A run of a, and its first attempt out. */
async function dispatch({ say, writer, decider }: Scenario) {
  const { append } = writer()
  const { turn } = decider('decider', { reconcile: foldOnly })
  const a = say.assetDefined('a', { retry: { max_attempts: 2 } })
  const { definition_hash } = a.payload
  const run = say.runRequested('user:1')
  await append([say.locationDeployed('main', 0), a, run])
  const plan = { run_id: attempt.run_id, page: 0, pages: 1, task_offset: 0, task_count: 1 }
  await turn()
  const planned = { ...plan, definitions: [{ asset_key: 'a', definition_hash }], tasks: [{ k: 'a', d: 0, p: null, n: 1 }] }
  await append([say.planPage(planned, run.event_id)])
  await turn()
  await append([say.dispatchRequested(attempt, { task_state: 'READY', previous_attempt: 0, definition_hash })])
  await turn()
  return { append, turn, definition_hash }
}

/** Of a start that was claimed at the same time as another, both are in one entry. */
async function claim({ world }: Scenario, dispatched_at: number, ...names: readonly (typeof attempt)[]): Promise<void> {
  const { store, clock } = world.start('api')
  const deps = { store, clock, start_logs: new Map() }
  const owners = await Promise.all(
    names.map((name) => {
      const attempt_id = attemptIdOf(name.run_id, name.task_key, name.attempt)
      return claimStart(deps, { location_name: 'main', dispatched_at }, { ...name, attempt_id, execution_id, worker_id: 'w1', sequence: 1 })
    }),
  )
  for (const owner of owners) expect(owner).toEqual({ execution_id, worker_id: 'w1' })
}

const namesOf = async ({ world }: Scenario, prefix: string) => (await listAll(world.bucket, prefix)).map(({ name }) => name)

async function command({ world }: Scenario, client_key: string) {
  const { store, clock, random } = world.start(`api ${client_key}`)
  const given = { store, clock, random: random.bytes, scope: world.scope }
  const appender = createAppender({ ...given, server_time: world.clock.now(), closedThrough: () => 0 })
  const deps = { ...given, appender, poke: () => undefined }
  const asked = { principal: 'api', route: 'POST /runs', client_key }
  const answerOf = () => ({ status: 202, body: { said_at: clock.now() } })
  return submitClaimed(deps, asked, {}, async () => ({ drafts: [], source: 'servo/api', answerOf }))
}

describe('the claim of a command', () => {
  test('answers for thirty days, and goes after them', async () => {
    const scenario = createScenario()
    const { world, say, tell, writer, decider, expectInvariants } = scenario
    const keeper = world.start('keeper')
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      await decider().turn()
      const first = await command(scenario, 'k-1')
      await world.time.sleep(30 * DAY_MS - HOUR_MS)
      await command(scenario, 'k-2')
      expect(await collect(keeper)).toMatchObject({ claims_deleted_count: 0 })
      expect(await command(scenario, 'k-1')).toEqual(first)
      await world.time.sleep(2 * HOUR_MS)
      expect(await collect(keeper)).toMatchObject({ claims_deleted_count: 1 })
      expect(await namesOf(scenario, 'claims/')).toHaveLength(1)
      expect(await command(scenario, 'k-1')).not.toEqual(first)
    })
    await expectInvariants()
  })

  test('goes with all that are as old, however many, some with each look', async () => {
    const scenario = createScenario({ page_size: 4 })
    const { world, say, tell, writer, decider } = scenario
    const keeper = world.start('keeper')
    const bounds = { pages_max: 2, count_max: 5 }
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      await decider().turn()
      for (let index = 0; index < 30; index++) await command(scenario, `old ${index}`)
      await world.time.sleep(30 * DAY_MS)
      for (let index = 0; index < 30; index++) await command(scenario, `new ${index}`)
      await world.time.sleep(HOUR_MS)
      const deleted: number[] = []
      // Of all that there is, each look sees the eighth part: it has to be another one each time.
      for (let look = 0; look < 200 && (await namesOf(scenario, 'claims/')).length > 30; look++) {
        const lists = world.trace.filter((line) => line.includes(' keeper ') && line.includes('list')).length
        deleted.push((await collectClaims(keeper, bounds)).claims_deleted_count)
        const listed = world.trace.filter((line) => line.includes(' keeper ') && line.includes('list')).length - lists
        // Two pages of claims, and as many of start claims, of which there are none: once around is two.
        expect(listed).toBeLessThanOrEqual(4)
        await world.time.sleep(MINUTE_MS)
      }
      expect(Math.max(...deleted)).toBeLessThanOrEqual(5)
      expect(deleted.reduce((sum, count) => sum + count)).toBe(30)
    })
  })

  test('whose delete was not heard of, and that two collectors meet at, is no trouble', async () => {
    const scenario = createScenario()
    const { world, say, tell, writer, decider, expectInvariants } = scenario
    await tell(async () => {
      await writer().append([say.poolDefined('pool:x', 1)])
      await decider().turn()
      for (const key of ['k-1', 'k-2', 'k-3']) await command(scenario, key)
      await world.time.sleep(31 * DAY_MS)
      once(world, 'after', { process: 'unheard', operation: 'delete', name: 'claims/' }, loseAnswer)
      await expect(collectClaims(world.start('unheard'))).rejects.toThrow('The answer was lost.')
      once(world, 'before', { process: 'doomed', operation: 'delete', name: 'claims/' }, ({ kill }) => kill())
      void collectClaims(world.start('doomed'))
      await world.time.sleep(MINUTE_MS)
      await Promise.all(['one', 'two'].map((name) => collectClaims(world.start(name))))
      expect(await namesOf(scenario, 'claims/')).toEqual([])
    })
    await expectInvariants()
  })
})

describe('the claim of a start', () => {
  test('stays while its attempt may start or runs, and seven days after it was over', async () => {
    const scenario = createScenario()
    const { world, say, tell, expectInvariants } = scenario
    const keeper = world.start('keeper')
    const looksAfter = async (days: number) => {
      await world.time.sleep(days * DAY_MS)
      return (await collect(keeper)).claims_deleted_count
    }
    await tell(async () => {
      const { append, turn } = await dispatch(scenario)
      // The start is claimed, and TaskStarted is lost with its process: the attempt is still to be handed over.
      await claim(scenario, 1, attempt)
      expect(await looksAfter(8)).toBe(0)
      await append([say.taskStarted(attempt)])
      await turn()
      expect(await looksAfter(8)).toBe(0)
      await append([say.taskFinished(attempt, 'SUCCEEDED', {}, { at: world.time.now() })])
      await turn()
      expect(await looksAfter(6)).toBe(0)
      expect(await looksAfter(2)).toBe(1)
      expect(await namesOf(scenario, 'starts/')).toEqual([])
    })
    await expectInvariants()
  })

  test('of an attempt that was followed by another goes seven days after that one was dispatched', async () => {
    const scenario = createScenario()
    const { world, say, tell } = scenario
    const keeper = world.start('keeper')
    const second = { ...attempt, attempt: 2 }
    await tell(async () => {
      const { append, turn, definition_hash } = await dispatch(scenario)
      await claim(scenario, 1, attempt)
      await append([say.taskStarted(attempt), say.taskFinished(attempt, 'FAILED', { retry_after_seconds: 0 })])
      await turn()
      await world.time.sleep(8 * DAY_MS)
      // It waits for its retry: the row does not say since when.
      expect(await collect(keeper)).toMatchObject({ claims_deleted_count: 0 })
      const basis = { task_state: 'RETRY_WAIT', previous_attempt: 1, definition_hash } as const
      await append([say.dispatchRequested(second, basis, {}, { at: world.time.now() })])
      await turn()
      await claim(scenario, 2, second)
      await world.time.sleep(6 * DAY_MS)
      expect(await collect(keeper)).toMatchObject({ claims_deleted_count: 0 })
      await world.time.sleep(2 * DAY_MS)
      expect(await collect(keeper)).toMatchObject({ claims_deleted_count: 1 })
      expect(await namesOf(scenario, 'starts/')).toEqual([startLogName({ location_name: 'main', dispatched_at: 2 }, 1)])
    })
  })

  test('that shares its entry with another stays as long as that one', async () => {
    const scenario = createScenario()
    const { world, say, tell } = scenario
    const keeper = world.start('keeper')
    const second = { ...attempt, attempt: 2 }
    await tell(async () => {
      const { append, turn } = await dispatch(scenario)
      await claim(scenario, 1, attempt, second)
      await append([say.taskStarted(attempt), say.taskFinished(attempt, 'SUCCEEDED', {}, { at: world.time.now() })])
      await turn()
      await world.time.sleep(30 * DAY_MS)
      // Of an attempt that the row does not know nobody can say that it is over.
      expect(await collect(keeper)).toMatchObject({ claims_deleted_count: 0 })
      expect(await namesOf(scenario, 'starts/')).toHaveLength(1)
    })
  })

  test('that is damaged, of another version or under a stranger’s name is kept', async () => {
    const scenario = createScenario()
    const { world, say, tell } = scenario
    const start = { ...attempt, attempt_id: attemptIdOf(attempt.run_id, 'a', 1), execution_id, worker_id: 'w1', sequence: 1 }
    const content = startEntryDocument({ location_name: 'main', dispatched_at: 1, number: 1, starts: [start] }, 1)
    await tell(async () => {
      const { append, turn } = await dispatch(scenario)
      const planted = { broken: '{', stranger: JSON.stringify(content), newer: JSON.stringify({ ...content, schema: 'servo-starts-v2' }) }
      for (const [name, text] of Object.entries(planted)) {
        await world.bucket.put(`starts/${name}`, Buffer.from(text), { if_generation: CREATE })
      }
      await append([say.taskFinished(attempt, 'SUCCEEDED')])
      await turn()
      await world.time.sleep(30 * DAY_MS)
      expect(await collect(world.start('keeper'))).toMatchObject({ claims_deleted_count: 0 })
      expect(await namesOf(scenario, 'starts/')).toHaveLength(3)
    })
  })
})
