// Looks after the loops of a workspace on a real server: which of them list, which only count, and what the counts show.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { defineSearchAttributeKey } from '@temporalio/common'
import { NativeConnection } from '@temporalio/worker'
import type { EntityLoops } from '../../src/activities/ensure-loops.js'
import { createLoopLooks } from '../../src/activities/loop-looks.js'
import { startEntityLoop } from '../../src/activities/start-loops.js'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { taskQueues, workflowId } from '../../src/core/names.js'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { pokeSignal } from '../../src/workflows/contract.js'
import { ulidOf } from '../fixtures/say.js'
import { startScriptedLoops } from '../fixtures/scripted-loops.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 60_000
const scope = { tenant_id: 'acme', workspace_id: 'counted' }
const NAMES = ['first', 'second', 'third']

let connection: NativeConnection
let loops: Awaited<ReturnType<typeof startScriptedLoops>>

beforeAll(async () => {
  installRuntime(() => undefined)
  connection = await NativeConnection.connect({ address: temporal().address })
  loops = await startScriptedLoops(connection, 'counted', taskQueues(scope), {})
}, TIMEOUT_MS)

afterAll(async () => {
  const ids = [workflowId(scope, 'workspace'), workflowId(scope, 'maintenance'), ...NAMES.map(idOf)]
  await Promise.allSettled(ids.map((id) => temporal().client.workflow.getHandle(id).terminate()))
  await loops?.stop()
  await connection?.close()
}, TIMEOUT_MS)

const idOf = (name: string) => workflowId(scope, 'schedule', ulidOf(name))

/** The same client; `lists` counts the lists. */
function counting(client: Client) {
  const cost = { lists: 0, counts: 0, is_away: false }
  const workflow = new Proxy(client.workflow, {
    get(target, property, receiver) {
      if (property === 'list') cost.lists += 1
      if (property === 'count') cost.counts += 1
      if (property === 'count' && cost.is_away) return async () => Promise.reject(new Error('Temporal does not answer'))
      const value: unknown = Reflect.get(target, property, receiver)
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
    },
  })
  return { cost, client: { workflow } as unknown as Client }
}

test(
  'loops are listed at the start, where counts differ from the rows, after an hour and where pokes may be lost; else they are counted',
  async () => {
    const { cost, client } = counting(temporal().client)
    const statuses = new Map(NAMES.map((name) => [name, 'ACTIVE']))
    let elapsed = 0
    const readAll: EntityLoops['readAll'] = async () =>
      NAMES.map((name) => ({
        entity_id: ulidOf(name),
        status: statuses.get(name) ?? 'REMOVED',
        is_over: statuses.get(name) === undefined,
        isStale: (listed) => listed.status !== 'STARTING' && listed.status !== statuses.get(name),
        start: (deps) => startEntityLoop(deps, 'schedule', { entity_id: ulidOf(name), name, summary: name }),
      }))
    const entities = [{ kind: 'schedule' as const, readAll, readRecent: readAll }]
    const looks = createLoopLooks({ client, scope, has_names: true, entities, clock: { elapsed: () => elapsed } })
    const listsOf = async (work: () => Promise<unknown>) => {
      const before = cost.lists
      await work()
      return cost.lists - before
    }
    const quiet = () => until('counts are as expected', async () => (await listsOf(looks.look)) === 0)
    const signalsOf = async (name: string) => {
      const { events } = await temporal().client.workflow.getHandle(idOf(name)).fetchHistory()
      return (events ?? []).filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal != null).length
    }

    expect((await looks.look()).started).toEqual(['workspace', 'maintenance', 'schedule', 'schedule', 'schedule'])
    await quiet()
    const counts = cost.counts
    expect(await listsOf(looks.look)).toBe(0)
    expect(cost.counts - counts).toBe(2)

    // A pause of which nothing told the loop: its attribute is ACTIVE.
    const active = 'ServoWorkspace = "counted" AND ServoStatus = "ACTIVE" AND ExecutionStatus = "Running"'
    await until('all are listed with it', async () => (await temporal().client.workflow.count(active)).count === NAMES.length)
    statuses.set('second', 'PAUSED')
    expect(await listsOf(looks.look)).toBe(1)
    expect([await signalsOf('first'), await signalsOf('second')]).toEqual([0, 1])
    statuses.set('second', 'ACTIVE')
    await quiet()

    await temporal().client.workflow.getHandle(idOf('third')).terminate()
    await until('it is started again', async () => (await looks.look()).started.includes('schedule'))
    await quiet()

    elapsed += HOUR_MS - MINUTE_MS
    expect(await listsOf(looks.look)).toBe(0)
    elapsed += MINUTE_MS
    expect(await listsOf(looks.look)).toBe(1)

    looks.noteOtherPublisher()
    expect(await listsOf(looks.look)).toBe(0)
    elapsed += 10 * MINUTE_MS
    expect(await listsOf(looks.look)).toBe(1)
    looks.noteLostPoke()
    expect(await listsOf(looks.look)).toBe(1)
    cost.is_away = true
    await expect(looks.look()).rejects.toThrow('does not answer')
    cost.is_away = false
    expect(await listsOf(looks.look)).toBe(1)
    expect(await listsOf(looks.look)).toBe(0)

    const named = defineSearchAttributeKey('ServoName', 'KEYWORD')
    const names: (string | undefined)[] = []
    for await (const { typedSearchAttributes } of temporal().client.workflow.list({
      query: 'ServoWorkspace = "counted" AND ExecutionStatus = "Running"',
    })) {
      names.push(typedSearchAttributes.get(named))
    }
    expect(names.sort()).toEqual(['counted', 'counted', 'first', 'second', 'third'])
  },
  TIMEOUT_MS,
)

test(
  'a loop takes the name that its look answers: once, and again after a rename',
  async () => {
    const named = { tenant_id: 'acme', workspace_id: 'named' }
    const { client } = temporal()
    const looks = [{}, { name: 'first' }, { name: 'first' }, { name: 'second' }]
    const scripted = await startScriptedLoops(connection, 'named', taskQueues(named), { looks })
    const entity = { entity_id: ulidOf('renamed'), name: 'unused', summary: 'a loop' }
    const handle = client.workflow.getHandle(workflowId(named, 'schedule', entity.entity_id))
    try {
      await startEntityLoop({ client, scope: named }, 'schedule', entity)
      const nameAfter = async (calls: number) => {
        await until(`look ${calls} was shown`, async () => {
          const { events } = await handle.fetchHistory()
          const timers = (events ?? []).filter(({ timerStartedEventAttributes: timer }) => timer != null)
          return scripted.look.calls() === calls && timers.length === calls
        })
        return (await handle.describe()).typedSearchAttributes.get(defineSearchAttributeKey('ServoName', 'KEYWORD'))
      }
      const names = [await nameAfter(1)]
      for (const calls of [2, 3, 4]) {
        await handle.signal(pokeSignal)
        names.push(await nameAfter(calls))
      }
      expect(names).toEqual([undefined, 'first', 'first', 'second'])
      const { events } = await handle.fetchHistory()
      const upserts = (events ?? []).filter(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => upsert != null)
      expect(upserts).toHaveLength(3)
    } finally {
      await handle.terminate()
      await scripted.stop()
    }
  },
  TIMEOUT_MS,
)
