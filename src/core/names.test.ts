import { expect, test } from '@jest/globals'
import { NAME_CHARACTERS_MAX, TENANT_CHARACTERS_MAX } from './limits.js'
import { isLoopsQueue, queuesBeside, SEARCH_ATTRIBUTES, taskQueues, workflowId } from './names.js'

const SCOPE = { tenant_id: 'acme', workspace_id: 'prod' }

test('every loop has its id', () => {
  expect([
    workflowId(SCOPE, 'workspace'),
    workflowId(SCOPE, 'schedule', 'daily-etl'),
    workflowId(SCOPE, 'sensor', 'new.files'),
    workflowId(SCOPE, 'backfill', '01JHMPFN9C4W8R2T6Y0B3D5F7H'),
    workflowId(SCOPE, 'maintenance'),
  ]).toEqual([
    'servo/acme/prod/workspace',
    'servo/acme/prod/schedule/daily-etl',
    'servo/acme/prod/sensor/new.files',
    'servo/acme/prod/backfill/01JHMPFN9C4W8R2T6Y0B3D5F7H',
    'servo/acme/prod/maintenance',
  ])
})

test('an id that would be read in two ways is a bug', () => {
  expect(() => workflowId(SCOPE, 'schedule', 'a/b')).toThrow('none may be empty or have a slash')
  expect(() => workflowId(SCOPE, 'schedule', '')).toThrow('none may be empty or have a slash')
})

// Some set-ups of Temporal allow 255 characters only: the dynamic configuration in Temporal's own image does.
test('the longest id is below 255 characters', () => {
  const scope = { tenant_id: 't'.repeat(TENANT_CHARACTERS_MAX), workspace_id: 'w'.repeat(TENANT_CHARACTERS_MAX) }
  expect(workflowId(scope, 'schedule', 'n'.repeat(NAME_CHARACTERS_MAX)).length).toBeLessThan(255)
})

test('the names are those that running loops were started under', () => {
  expect(taskQueues(SCOPE)).toEqual({
    loops: 'servo-loops/acme/prod',
    calls: 'servo-calls/acme/prod',
    turn: 'servo-turn/acme/prod',
    work: 'servo-work/acme/prod',
  })
  expect(SEARCH_ATTRIBUTES).toEqual({
    ServoTenant: 'Keyword',
    ServoWorkspace: 'Keyword',
    ServoKind: 'Keyword',
    ServoEntityId: 'Keyword',
    ServoStatus: 'Keyword',
    ServoNextFireAt: 'Datetime',
  })
})

test('no two workspaces share a queue, also where one has the name of the other in it', () => {
  const scopes = [SCOPE, { tenant_id: 'acme', workspace_id: 'prod-2' }, { tenant_id: 'acme-prod', workspace_id: 'prod' }]
  const names = scopes.flatMap((scope) => Object.values(taskQueues(scope)))
  expect(new Set(names).size).toBe(names.length)
})

test('what a loop calls lies beside its own queue, also on the queue that all workspaces shared once', () => {
  expect(queuesBeside('servo-loops/acme/prod')).toEqual(taskQueues(SCOPE))
  const shared = { loops: 'servo-loops', calls: 'servo-calls', turn: 'servo-turn', work: 'servo-work' }
  expect(queuesBeside('servo-loops')).toEqual(shared)
  // As a replay names it: the queues that the oldest histories have.
  expect(queuesBeside('fake_replay_queue-0')).toEqual(shared)
  expect(['servo-loops', 'servo-loops/a/b', 'servo-loops-2', 'other', ''].map(isLoopsQueue)).toEqual([true, true, false, false, false])
})
