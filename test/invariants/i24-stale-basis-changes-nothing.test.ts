import { expect, test } from '@jest/globals'
import { TABLE_NAMES } from '../../src/projections/tables.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { runIdOf } from '../fixtures/say.js'
import { createScenario } from '../fixtures/scenario.js'
import { dispatchStory } from '../fixtures/short-story.js'

test('I24 a decision with a stale basis changes nothing but its row in refusals', async () => {
  const { say, writer, decider, tell, rows, expectInvariants } = createScenario()
  const { append } = writer()
  const { turn } = decider('turn', { reconcile: foldOnly })
  const everything = async () =>
    Object.fromEntries(await Promise.all(TABLE_NAMES.map(async (table) => [table, await rows(table)] as const)))
  await tell(async () => {
    for (const batch of dispatchStory(say).slice(0, 6)) await append(batch)
    await turn()
  })
  const before = await everything()
  const [run_id, task_key] = [runIdOf('user:1'), 'a']
  const definition_hash = String(before['tasks']?.[0]?.['definition_hash'])
  await tell(async () => {
    // From an attempt that is over, a state that has passed, a deadline that has moved, and a plan of a planned run.
    await append([
      say.dispatchRequested(
        { run_id, task_key, attempt: 1 },
        { task_state: 'READY', previous_attempt: 0, definition_hash },
        {},
        { event_id: '01JHMPFN80G8M4P9V0MMKSSZ7N' },
      ),
    ])
    await append([
      say.dispatchRequested({ run_id, task_key, attempt: 3 }, { task_state: 'RETRY_WAIT', previous_attempt: 2, definition_hash }),
    ])
    await append([say.attemptLost({ run_id, task_key, attempt: 1 }, 'HEARTBEAT', { task_state: 'RUNNING', deadline_at: 1 })])
    await append([say.planFailed(run_id, '01JHMPFN80G8M4P9V0MMKSSZ7N')])
    expect((await turn()).counts).toMatchObject({ applied: 0, refused: 3, duplicate: 1 })
  })
  const after = await everything()
  expect(after['refusals']).toHaveLength((before['refusals']?.length ?? 0) + 3)
  expect({ ...after, refusals: [] }).toEqual({ ...before, refusals: [] })
  await expectInvariants()
})
