// How often the code of each attempt ran, as it wrote down itself, outside of the system; and what the ledger and the
// tables say of the same attempts. The two have to agree, whatever was killed meanwhile.

import { expect } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { openDeps, openReader } from '../../src/bin/deps.js'
import type { LedgerEvent } from '../../src/events/event.js'
import type { LooseRow, TableName } from '../../src/projections/tables.js'
import { readTail } from '../../src/readers/tail.js'
import { runServo } from '../fixtures/servo-process.js'

export type Effect = {
  readonly what: 'start' | 'end'
  readonly run_id: string
  readonly asset_key: string
  readonly attempt: number
  readonly attempt_id: string
  readonly pid: number
  readonly at: number
}

/** A line that is only half there is none yet: the file is read while it is written. */
export function readEffects(file: string): readonly Effect[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Effect)
}

export const startsIn = (effects: readonly Effect[]): readonly Effect[] => effects.filter(({ what }) => what === 'start')

export type Told = {
  readonly runs: readonly LooseRow[]
  readonly tasks: readonly LooseRow[]
  /** Of every event in the ledger, applied or not. */
  readonly events: readonly LedgerEvent[]
  /** Ids of the events that were applied. */
  readonly applied: ReadonlySet<string>
}

const ROWS_MAX = 1_000_000

/** From the store alone: no process of the system has to be there. */
export async function readStore(store: string): Promise<Told> {
  const deps = await openDeps({ store, tenant_id: 'default', workspace_id: 'default', access: 'read' })
  try {
    const view = await openReader(deps).latest()
    const rows = async (table: TableName) => (await view?.page(table, { where: [], limit: ROWS_MAX }))?.rows ?? []
    const entries = await readTail(deps, ROWS_MAX)
    return {
      runs: await rows('runs'),
      tasks: await rows('tasks'),
      events: entries.map(({ event }) => event as LedgerEvent),
      applied: new Set((await rows('idempotency_keys')).map((row) => String(row['event_id']))),
    }
  } finally {
    await deps.close()
  }
}

export type Asked = { readonly run_key: string; readonly run_id: string; readonly tasks: number }

/** Every run that was asked for is there once and has succeeded, and the code of every attempt ran as often as it should. */
export function expectOnceEach(asked: readonly Asked[], { runs, tasks, events, applied }: Told, effects: readonly Effect[]): void {
  const states = new Map<string, number>()
  for (const { state } of runs.map((row) => row as unknown as { readonly state: string })) states.set(state, (states.get(state) ?? 0) + 1)
  expect(Object.fromEntries(states)).toEqual({ SUCCEEDED: asked.length })
  expect(runs.map((row) => row['run_id']).sort()).toEqual(asked.map(({ run_id }) => run_id).sort())
  expect(new Set(runs.map((row) => row['run_key'])).size).toBe(asked.length)
  expect(tasks.length).toBe(asked.reduce((sum, { tasks: count }) => sum + count, 0))
  expect(tasks.filter((row) => row['state'] !== 'SUCCEEDED')).toEqual([])

  const starts = startsIn(effects)
  expect(twiceIn(starts.map(({ attempt_id }) => attempt_id))).toEqual([])

  // One success each, by the attempt that the row names.
  const finished = events.flatMap((event) =>
    event.event_type === 'TaskFinished' && event.payload.outcome === 'SUCCEEDED' && applied.has(event.event_id) ? [event.payload] : [],
  )
  expect(finished.map(({ attempt_id }) => attempt_id).sort()).toEqual(tasks.map((row) => String(row['attempt_id'])).sort())

  // Code ran for every attempt that started, and for no other. A worker that is killed may have asked to start an
  // attempt, and never have come to its code: that attempt was lost, and another one succeeded.
  const said = new Set(events.flatMap((event) => (event.event_type === 'TaskStarted' ? [event.payload.attempt_id] : [])))
  const lost = new Set(events.flatMap((event) => (event.event_type === 'AttemptLost' ? [event.payload.attempt_id] : [])))
  const ran = new Set(starts.map(({ attempt_id }) => attempt_id))
  expect([...ran].filter((attempt_id) => !said.has(attempt_id))).toEqual([])
  expect([...said].filter((attempt_id) => !ran.has(attempt_id) && !lost.has(attempt_id))).toEqual([])
  const ended = new Set(effects.flatMap(({ what, attempt_id }) => (what === 'end' ? [attempt_id] : [])))
  expect(tasks.filter((row) => !ended.has(String(row['attempt_id']))).map((row) => row['task_key'])).toEqual([])
}

function twiceIn(values: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return values.filter((value) => seen.size === seen.add(value).size)
}

/** The store is whole, and folding its ledger again finds the same rows. */
export async function expectSound(store: string): Promise<void> {
  const verified = await runServo(['ledger', 'verify', '--json', '--store', store])
  expect({ code: verified.code, problems: problemsIn(verified.stdout), stderr: verified.stderr }).toMatchObject({ code: 0, problems: [] })
  const replayed = await runServo(['ledger', 'replay', '--json', '--store', store])
  expect({ code: replayed.code, answer: JSON.parse(replayed.stdout) as unknown }).toMatchObject({
    code: 0,
    answer: { equal: true, differences: [] },
  })
}

const problemsIn = (stdout: string): unknown => (JSON.parse(stdout) as { readonly problems: unknown }).problems
