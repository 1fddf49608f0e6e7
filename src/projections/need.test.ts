import { describe, expect, it } from '@jest/globals'
import { createRunStory, told } from '../../test/fixtures/run-story.js'
import { entriesOf, NOW } from '../../test/fixtures/say.js'
import { hintsOf, NO_HINTS } from './hint.js'
import { keysOf, listsOf } from './need.js'
import { type KeyedRow, TABLES } from './tables.js'

const event = <E>(given: E) => ({ kind: 'event', event: given }) as const
const named = (keys: readonly KeyedRow[], table: string) => keys.filter((row) => row.table === table).map(({ key }) => key)

describe('keysOf', () => {
  it('names keys of the width of their table', () => {
    const story = createRunStory({ a: {} })
    const { say, run_id } = story
    const name = story.name('a', 1)
    const events = [
      say.runRequested('user:2'),
      say.runCancelRequested(run_id),
      story.plan,
      say.planFailed(run_id, run_id),
      say.taskFinished(name, 'SKIPPED'),
      say.assetDefined('a'),
    ]
    for (const given of events) {
      for (const { table, key } of keysOf(event(given), story.story.rows, NO_HINTS)) expect(key).toHaveLength(TABLES[table].key.length)
    }
  })

  it('names nothing for what cannot become an event', () => {
    const { story } = createRunStory({ a: {} })
    const entry = { kind: 'quarantine', reason: 'BAD_JSON', raw: '' } as const
    expect([keysOf(entry, story.rows), listsOf(entry, story.rows)]).toEqual([[], []])
  })

  it('names the partitions of a task that may end, and of no other', () => {
    const story = createRunStory({ a: {}, b: {} })
    const finished = () => event(story.say.taskFinished(story.name('a', 1), 'SUCCEEDED'))
    expect(named(keysOf(finished(), story.story.rows), 'partition_status')).toEqual([['a', '', '']])
    story.complete('a')
    expect(named(keysOf(finished(), story.story.rows), 'partition_status')).toEqual([])
  })

  it('names partitions before their task is planned, by hints of the same pass', () => {
    const story = createRunStory({ a: { definition: { partitions: { type: 'static', keys: ['x', 'y'] } } } })
    const request = story.say.runRequested('user:2')
    const { run_id } = request.payload
    const name = { run_id, task_key: 'a#7', attempt: 1 }
    const plan = story.say.planPage(
      {
        run_id,
        page: 0,
        pages: 1,
        task_offset: 0,
        task_count: 1,
        definitions: [{ asset_key: 'a', definition_hash: story.hash('a') }],
        tasks: [{ k: 'a#7', d: 0, p: { keys: ['y'] }, n: 1 }],
      },
      request.event_id,
    )
    const dispatch = story.say.dispatchRequested(name, { task_state: 'READY', previous_attempt: 0, definition_hash: story.hash('a') })
    const finish = story.say.taskFinished(name, 'SUCCEEDED')
    const backlog = entriesOf([request, plan, dispatch, finish])
    const keys = keysOf(event(finish), story.story.rows, hintsOf(backlog))
    expect(named(keys, 'partition_status')).toEqual([['a', 'y', 'y']])
    const { rounds } = story.story.asked
    const batches = backlog.map((entry, i) => ({ entries: [entry], fold_time: NOW, segment_name: `s${i}` }))
    expect(story.story.foldTogether(batches).map(told)).toEqual(['applied', 'applied', 'applied', 'applied'])
    expect(story.story.asked.rounds - rounds).toBe(1)
    expect(story.status('a', 'y')?.last_attempt_run_id).toBe(run_id)
  })

  it('names partitions of a definition of the same pass too, and of every plan where two were said', () => {
    const story = createRunStory({ a: {} })
    const { say } = story
    const defined = say.assetDefined('n', { partitions: { type: 'static', keys: ['x', 'y'] } })
    const request = say.runRequested('user:2')
    const { run_id } = request.payload
    const name = { run_id, task_key: 'n', attempt: 1 }
    const { definition_hash } = defined.payload
    const plan = (key: string) =>
      say.planPage(
        {
          run_id,
          page: 0,
          pages: 1,
          task_offset: 0,
          task_count: 1,
          definitions: [{ asset_key: 'n', definition_hash }],
          tasks: [{ k: 'n', d: 0, p: { keys: [key] }, n: 1 }],
        },
        request.event_id,
      )
    const dispatch = say.dispatchRequested(name, { task_state: 'READY', previous_attempt: 0, definition_hash })
    const events = [defined, request, plan('y'), plan('x'), dispatch, say.taskFinished(name, 'SUCCEEDED')]
    const batches = entriesOf(events).map((entry, i) => ({ entries: [entry], fold_time: NOW, segment_name: `s${i}` }))
    expect(story.story.foldTogether(batches).map(told)).toEqual(['applied', 'applied', 'applied', 'duplicate', 'applied', 'applied'])
    expect(story.status('n', 'y')).toBeDefined()
    expect(story.status('n', 'x')).toBeUndefined()
  })

  it('asks for no task, edge or outbox row of an open run', () => {
    const story = createRunStory({ a: {}, b: { needs: ['a'] } })
    const { keys } = story.story.asked
    story.dispatch('a')
    story.start('a')
    // The idempotency key of each, and nothing else.
    expect(story.story.asked.keys - keys).toBe(2)
    story.finish('a', 'SUCCEEDED')
    expect(story.story.asked.keys - keys).toBe(4)
  })

  it('asks for the rows of a finished run, so that a late fact is told what it is', () => {
    const story = createRunStory({ a: {} })
    story.complete('a')
    story.story.publish()
    expect(story.fold(story.say.taskHeartbeat(story.name('a'), 1))).toBe('ATTEMPT_OVER')
  })
})
