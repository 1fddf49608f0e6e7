// What an outcome needs beside it, wherever one is said: in the worker's report, and in the event that it becomes.

type Rule<Value> = [holds: (value: Value) => boolean, fault: { path: string[]; error: string }]
type Said = { readonly outcome: string; readonly materialization_id?: unknown; readonly error?: unknown }

export const SUCCESS_HAS_MATERIALIZATION: Rule<Said> = [
  ({ outcome, materialization_id }) => outcome !== 'SUCCEEDED' || materialization_id !== undefined,
  { path: ['materialization_id'], error: 'the ULID of what was materialized: outcome SUCCEEDED requires it' },
]

export const FAILURE_HAS_ERROR: Rule<Said> = [
  ({ outcome, error }) => outcome !== 'FAILED' || error !== undefined,
  { path: ['error'], error: '{"code", "message"}: outcome FAILED requires it' },
]
