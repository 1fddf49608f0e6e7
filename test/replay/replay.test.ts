// Replays what loops have lived through with the code as it is now: a loop that is under way somewhere has to go on after
// a deploy. A change that fails here needs a patch marker, or another name for the workflow (docs of Temporal: versioning).
// Where no loop of the old code can be left, or a story is new, the histories are recorded anew:
//   node scripts/run.js test/replay/record.ts [NAME ...]

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { Worker } from '@temporalio/worker'
import { DeterminismViolationError } from '@temporalio/workflow'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { workflowId } from '../../src/core/names.js'
import type { MaintenanceCall, ScheduleCall, ScheduleLoopInput } from '../../src/workflows/contract.js'
import { workflowsForTests } from '../fixtures/workflows.js'
import { OWN_QUEUE, SCHEDULE_ID, STORIES } from './stories.js'

type RecordedEvent = { readonly eventId: string; readonly eventType: string } & Readonly<Record<string, unknown>>
type Recorded = { readonly events: readonly RecordedEvent[] }

const FOLDER = fileURLToPath(new URL('histories/', import.meta.url))
const NAMES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace(/\.json$/, ''))
  .sort()

const read = (name: string): Recorded => JSON.parse(readFileSync(`${FOLDER}${name}.json`, 'utf8')) as Recorded
const typesIn = ({ events }: Recorded): readonly string[] => events.map(({ eventType }) => eventType.replace('EVENT_TYPE_', ''))
function idOf(name: string): string {
  const kind = STORIES[name]?.kind ?? 'workspace'
  const scope = { tenant_id: 'acme', workspace_id: name }
  return kind === 'schedule' ? workflowId(scope, kind, SCHEDULE_ID) : workflowId(scope, kind)
}

/** What the replay of each says; undefined: it went as it was recorded. */
async function replay(histories: Readonly<Record<string, Recorded>>): Promise<Readonly<Record<string, Error | undefined>>> {
  installRuntime(() => undefined)
  const list = Object.entries(histories).map(([name, history]) => ({ workflowId: idOf(name), history: history as unknown }))
  const answers = new Map<string, Error | undefined>()
  for await (const { workflowId, error } of Worker.runReplayHistories(await workflowsForTests(), list)) answers.set(workflowId, error)
  return Object.fromEntries(Object.keys(histories).map((name) => [name, answers.get(idOf(name))]))
}

describe('the recorded histories', () => {
  test('are one for each story', () => {
    expect(NAMES).toEqual(Object.keys(STORIES).sort())
  })

  test('have in them what loops live through', () => {
    const lived = new Set(NAMES.flatMap((name) => typesIn(read(name))))
    for (const type of [
      'WORKFLOW_EXECUTION_SIGNALED',
      'WORKFLOW_EXECUTION_CANCEL_REQUESTED',
      'WORKFLOW_EXECUTION_CANCELED',
      'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
      'WORKFLOW_EXECUTION_COMPLETED',
      'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
      'WORKFLOW_EXECUTION_UPDATE_COMPLETED',
      'ACTIVITY_TASK_FAILED',
      'ACTIVITY_TASK_CANCEL_REQUESTED',
      'TIMER_FIRED',
      'TIMER_CANCELED',
      'EXTERNAL_WORKFLOW_EXECUTION_SIGNALED',
      'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED',
      'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
    ]) {
      expect([...lived]).toContain(type)
    }
    const signals = NAMES.flatMap((name) => read(name).events.flatMap((event) => signalIn(event)))
    expect([...new Set(signals)].sort()).toEqual(['Pause', 'drain', 'merge_due', 'missed', 'pause', 'poke', 'resume'])
  })

  test('come through JSON unchanged, so that what is replayed is what was lived', () => {
    for (const name of NAMES) {
      const recorded = read(name)
      expect(JSON.parse(historyToJSON(historyFromJSON(recorded)))).toEqual(recorded)
    }
  })

  test('tell of nobody’s machine', () => {
    const texts = NAMES.map((name) => [name, readFileSync(`${FOLDER}${name}.json`, 'utf8')] as const)
    const identities = texts.flatMap(([, text]) => text.match(/"identity":"[^"]*"/g) ?? [])
    expect([...new Set(identities)]).toEqual(['"identity":"recorder"'])
    expect(texts.filter(([, text]) => /\/(?:home|Users|tmp|work|root)\/|file:/.test(text)).map(([name]) => name)).toEqual([])
  })
})

const signalIn = (event: RecordedEvent): readonly string[] => {
  const attributes = event['workflowExecutionSignaledEventAttributes'] as { readonly signalName: string } | undefined
  return attributes === undefined ? [] : [attributes.signalName]
}

test('all of them are replayed by the workflows as they are now', async () => {
  const answers = await replay(Object.fromEntries(NAMES.map((name) => [name, read(name)])))
  expect(answers).toEqual(Object.fromEntries(NAMES.map((name) => [name, undefined])))
})

test('a loop moves to the queue that it is told, and what it had begun ends beside the old one', () => {
  const moved = NAMES.filter((name) => name.endsWith('-moves-to-its-queue'))
  expect(moved).toHaveLength(3)
  for (const name of moved) {
    const { events } = read(name)
    const queues = events.flatMap((event) => (event['activityTaskScheduledEventAttributes'] as OnQueue | undefined)?.taskQueue.name ?? [])
    expect(queues.length).toBeGreaterThan(0)
    expect(queues.filter((queue) => !['servo-turn', 'servo-work', 'servo-calls'].includes(queue))).toEqual([])
    const last = events.at(-1)?.['workflowExecutionContinuedAsNewEventAttributes'] as OnQueue | undefined
    expect(last?.taskQueue.name).toBe(OWN_QUEUE)
  }
})

type OnQueue = { readonly taskQueue: { readonly name: string } }

test('a merge that is due is said when it falls due, and again 64 revisions later', () => {
  const said = typesIn(read('workspace-merge-due')).filter((type) => type === 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED')
  // Of the turns at 64, 65, 128, 193 and 194: 129 had nothing due, so that 193 is the first again.
  expect(said).toHaveLength(3)
})

test('a hand-over that failed for good is tried again, as one that failed in passing was', () => {
  const { events } = read('workspace-hand-over-fails')
  const sweeps = events.filter((event) => JSON.stringify(event['activityTaskScheduledEventAttributes'] ?? {}).includes('"handOver"'))
  const failed = events.flatMap((event) => (event['activityTaskFailedEventAttributes'] as Failed | undefined)?.failure.message ?? [])
  const tries = events.flatMap((event) => (event['activityTaskStartedEventAttributes'] as Tried | undefined)?.attempt ?? [])
  expect(sweeps).toHaveLength(2)
  expect(failed).toEqual(['the outbox is damaged'])
  expect(tries).toContain(2)
})

type Failed = { readonly failure: { readonly message: string } }
type Tried = { readonly attempt: number }

test('a merge that failed is still due, whatever wakes the loop next', () => {
  const merges = callsIn<{ readonly merge: boolean }>('maintenance-fails-and-is-poked').map(({ merge }) => merge)
  expect(merges).toEqual([true, true, true])
})

test('a loop begins anew when its collection is over, and merges until then', () => {
  const name = 'maintenance-merges-beside-a-collection'
  const calls = callsIn<MaintenanceCall>(name).map(({ merge, collect }) => (collect ? (merge ? 'both' : 'collect') : 'merge'))
  expect([...calls].sort()).toEqual(['collect', 'collect', 'merge', 'merge', 'merge'])
  const types = typesIn(read(name))
  const drained = read(name).events.findIndex((event) => signalIn(event)[0] === 'drain')
  expect(types.slice(drained).filter((type) => type === 'ACTIVITY_TASK_SCHEDULED')).toHaveLength(1)
  expect(types.at(-1)).toBe('WORKFLOW_EXECUTION_CONTINUED_AS_NEW')
})

type Carrying = { readonly input: { readonly payloads: readonly { readonly data: string }[] } }

const carriedBy = <T>(attributes: unknown): readonly T[] => {
  const data = (attributes as Carrying | undefined)?.input.payloads[0]?.data
  return data === undefined ? [] : [JSON.parse(Buffer.from(data, 'base64').toString()) as T]
}

/** What each call of an activity was given. */
const callsIn = <T>(name: string): readonly T[] =>
  read(name).events.flatMap((event) => carriedBy<T>(event['activityTaskScheduledEventAttributes']))

describe('what is signalled to the loop of a schedule', () => {
  const commandsOf = ({ commands }: Pick<ScheduleCall, 'commands'>) => commands.map(({ kind }) => kind)

  test('goes with the next call, in its order, each with an id of its own', () => {
    const calls = callsIn<ScheduleCall>('schedule-paused-and-resumed')
    expect(calls.map(commandsOf)).toEqual([[], ['pause'], ['resume', 'pause'], ['resume']])
    expect(calls[1]?.commands).toEqual([
      { kind: 'pause', request_id: 'pause-1', requested_by: 'user:1', reason: 'The warehouse is under maintenance.' },
    ])
    const ids = calls.flatMap(({ commands }) => commands.map(({ request_id }) => request_id))
    expect(new Set(ids).size).toBe(4)
  })

  test('is said again after a call that failed, and goes along to a new run', () => {
    const said = callsIn<ScheduleCall>('schedule-fails-and-begins-anew').map(commandsOf)
    expect(said.at(-1)).toEqual(['pause'])
    const [next] = read('schedule-fails-and-begins-anew').events.flatMap((event) =>
      carriedBy<ScheduleLoopInput>(event['workflowExecutionContinuedAsNewEventAttributes']),
    )
    expect(next).toMatchObject({ failures: 2, last_error: 'the pointer is damaged', commands: [{ kind: 'pause', request_id: 'pause-1' }] })
  })

  test('is asked for once where somebody waits for the answer, and a trigger without an id is refused before it is taken', () => {
    const calls = callsIn<ScheduleCall>('schedule-triggered')
    expect(calls.map(({ commands }) => commands.map(({ request_id }) => request_id))).toEqual([
      [],
      ['by-hand-1'],
      ['by-hand-2'],
      [],
      ['by-hand-3'],
    ])
    const completed = read('schedule-triggered').events.flatMap((event) => event['workflowExecutionUpdateCompletedEventAttributes'] ?? [])
    expect(completed).toHaveLength(3)
  })
})

describe('an answer with settings', () => {
  const carried = (name: string) =>
    read(name).events.flatMap((event) => carriedBy<object>(event['workflowExecutionContinuedAsNewEventAttributes']))

  test('ends a run after as many turns or looks as it says, and nothing of it is carried to the next run', () => {
    const [workspace] = carried('workspace-settings-in-answers')
    expect(callsIn('workspace-settings-in-answers')).toHaveLength(3)
    const [schedule] = carried('schedule-settings-in-answers')
    expect(schedule).toMatchObject({ last_command: null, numbering: { count: 1 } })
    for (const name of ['timings', 'turns_max', 'settings']) expect(workspace).not.toHaveProperty(name)
    for (const name of ['turns_max', 'settings']) expect(schedule).not.toHaveProperty(name)
    expect(callsIn('schedule-settings-in-answers')).toHaveLength(5)
  })

  test('says itself when maintenance is poked', () => {
    const said = typesIn(read('workspace-settings-in-answers')).filter((type) => type === 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED')
    expect(said).toHaveLength(2)
  })

  test('leaves the next fire in lists as it is where it is a little off', () => {
    const written = typesIn(read('schedule-settings-in-answers')).filter((type) => type === 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES')
    // The first, the two changes of the status, and the one that is eight minutes off.
    expect(written).toHaveLength(4)
  })

  test('goes with commands whose ids are those of their updates, or numbers of the loop', () => {
    const ids = callsIn<ScheduleCall>('schedule-settings-in-answers').flatMap(({ commands }) =>
      commands.map(({ request_id }) => request_id),
    )
    expect(ids).toEqual(['update-1', expect.stringMatching(/^[0-9a-f-]{36}:1$/), 'pause-1'])
  })
})

test('an attribute is written where it changes, and not with each look', () => {
  const written = typesIn(read('schedule-by-clock-and-by-poke')).filter((type) => type === 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES')
  // Of four looks: the first, another fire, and another status.
  expect(written).toHaveLength(3)
})

describe('a replay fails', () => {
  const changed = (name: string, change: (events: readonly RecordedEvent[]) => readonly RecordedEvent[]): Recorded => ({
    events: change(read(name).events),
  })

  test('when another activity was called', async () => {
    const other = changed('workspace-pokes', (events) => {
      const text = JSON.stringify(events).replaceAll('"activityType":{"name":"turn"}', '"activityType":{"name":"tick"}')
      return JSON.parse(text) as readonly RecordedEvent[]
    })
    expect((await replay({ 'workspace-pokes': other }))['workspace-pokes']).toBeInstanceOf(DeterminismViolationError)
  })

  test('when things were asked for in another order', async () => {
    const swapped = changed('workspace-pokes', (events) => {
      // A call and what was asked for beside it, in the answer to the same workflow task.
      const at = events.findIndex((event, i) => isAsked(event) && isAsked(events[i + 1]) && event.eventType !== events[i + 1]?.eventType)
      expect(at).toBeGreaterThan(0)
      return events.map((event, i) => {
        if (i !== at && i !== at + 1) return event
        return { ...(events[i === at ? at + 1 : at] as RecordedEvent), eventId: event.eventId }
      })
    })
    expect((await replay({ 'workspace-pokes': swapped }))['workspace-pokes']).toBeInstanceOf(DeterminismViolationError)
  })
})

const ASKED = ['ACTIVITY_TASK_SCHEDULED', 'TIMER_STARTED', 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES']
const isAsked = (event: RecordedEvent | undefined): boolean =>
  event !== undefined && ASKED.includes(event.eventType.replace('EVENT_TYPE_', ''))
