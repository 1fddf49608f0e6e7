// How often the code of each attempt ran, as it wrote down itself, outside of the system; and what the ledger and the
// tables say of the same attempts. effect-problems.ts compares the two.

import { existsSync, readFileSync } from 'node:fs'
import { openDeps, openReader } from '../../src/bin/deps.js'
import type { LedgerEvent } from '../../src/events/event.js'
import type { LooseRow, TableName } from '../../src/projections/tables.js'
import { readTail } from '../../src/readers/tail.js'
import { type Finished, runServo } from '../fixtures/servo-process.js'

export type Effect = {
  /** threw: its code failed; stopped: it was told to stop, and did. */
  readonly what: 'start' | 'end' | 'threw' | 'stopped'
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
  /** Of the revision that the rows are of. */
  readonly sequence: number
  readonly runs: readonly LooseRow[]
  readonly tasks: readonly LooseRow[]
  readonly edges: readonly LooseRow[]
  readonly outbox: readonly LooseRow[]
  readonly pools: readonly LooseRow[]
  readonly refusals: readonly LooseRow[]
  readonly conflicts: readonly LooseRow[]
  readonly quarantine: readonly LooseRow[]
  /** Of every event in the ledger, applied or not. */
  readonly events: readonly LedgerEvent[]
  /** Ids of the events that were applied. */
  readonly applied: ReadonlySet<string>
}

const ROWS_MAX = 1_000_000

/** Where a store is, and who answers for it where that is not Google. */
export type StorePlace = { readonly store: string; readonly gcs_endpoint?: string; readonly workspace_id?: string }

/** From the store alone: no process of the system has to be there. */
export async function readStore(place: StorePlace): Promise<Told> {
  const deps = await openDeps({ workspace_id: 'default', ...place, tenant_id: 'default', access: 'read' })
  try {
    const view = await openReader(deps).latest()
    const rows = async (table: TableName) =>
      ((await view?.page(table, { where: [], limit: ROWS_MAX }))?.rows ?? []) as readonly object[] as readonly LooseRow[]
    const entries = await readTail(deps, ROWS_MAX)
    return {
      sequence: view?.sequence ?? 0,
      runs: await rows('runs'),
      tasks: await rows('tasks'),
      edges: await rows('dep_satisfaction'),
      outbox: await rows('dispatch_outbox'),
      pools: await rows('pools'),
      refusals: await rows('refusals'),
      conflicts: await rows('run_key_conflicts'),
      quarantine: await rows('quarantine'),
      events: entries.map(({ event }) => event as LedgerEvent),
      applied: new Set((await rows('idempotency_keys')).map((row) => String(row['event_id']))),
    }
  } finally {
    await deps.close()
  }
}

export type Asked = {
  readonly run_key: string
  readonly run_id: string
  readonly tasks: number
  /** How it may end. Default: it succeeds. */
  readonly ends?: readonly ('SUCCEEDED' | 'FAILED' | 'CANCELLED')[]
  /** The API took a request to cancel it. */
  readonly is_cancel_accepted?: boolean
}

/** What is wrong with the store itself, and where folding its ledger again finds other rows. */
export async function storeProblems({
  store,
  gcs_endpoint,
  workspace_id = 'default',
}: StorePlace): Promise<readonly [stored: string[], replayed: string[]]> {
  const place = [
    '--json',
    '--store',
    store,
    '--workspace',
    workspace_id,
    ...(gcs_endpoint === undefined ? [] : ['--gcs-endpoint', gcs_endpoint]),
  ]
  const [verified, replayed] = await Promise.all([runServo(['ledger', 'verify', ...place]), runServo(['ledger', 'replay', ...place])])
  return [problemsOf('verify', verified, 'problems'), problemsOf('replay', replayed, 'differences')]
}

function problemsOf(command: string, { code, stdout, stderr }: Finished, member: 'problems' | 'differences'): string[] {
  const answer = (stdout.startsWith('{') ? JSON.parse(stdout) : {}) as { readonly [name: string]: readonly unknown[] | undefined }
  const said = answer[member]
  if (code === 0 && said?.length === 0) return []
  const first = (said ?? []).slice(0, 5).map((one) => JSON.stringify(one))
  return [`servo ledger ${command} ended with ${code}: ${[...first, stderr].join(' ')}`]
}
