// Why there is no room for a task, in words: which pools are full, which are closed, and who goes first. Pure.

import { GLOBAL_POOL_KEY } from '../../core/ids.js'
import type { Cap } from '../../projections/pool.js'
import { allValuesOf } from '../../projections/tag-pool.js'

/** A pool that the task counts in, as it is where the task would be dispatched to. */
export type Room = {
  readonly pool_key: string
  readonly in_use: number
  readonly max_running: number | null
  readonly cap_source: Cap['source'] | null
}

export const isFull = ({ in_use, max_running }: Room): boolean => max_running !== null && in_use >= max_running

/** Nothing new starts in it, and what runs goes on: somebody wants it so, and no end of a task changes it. */
const isClosed = ({ max_running }: Room): boolean => max_running === 0

export const fullText = (full: readonly Room[]): string =>
  full.map((room) => (isClosed(room) ? closedText(room) : busyText(room))).join(', and ')

function closedText({ pool_key, in_use, cap_source }: Room): string {
  const rest = in_use === 0 ? '' : `, and ${in_use} that it has ${in_use === 1 ? 'runs' : 'run'} on`
  return `${nameOf(pool_key)} is closed: its cap is 0${ofValues(pool_key, cap_source)}${rest}`
}

function busyText({ pool_key, in_use, max_running, cap_source }: Room): string {
  const most = max_running ?? in_use
  // A cap that was lowered stops nothing that runs.
  const use =
    cap_source === 'SLOTS' ? slots(in_use, most) : in_use > most ? `${in_use} run, and ${most} is its cap now` : `${in_use} of ${most} run`
  return `${nameOf(pool_key)} is full: ${use}${ofValues(pool_key, cap_source)}`
}

/** More attempts than slots: some were dispatched ahead, or the slots were fewer with a newer deploy. */
function slots(in_use: number, most: number): string {
  if (in_use > most) return `${in_use} attempts are out for its ${most} ${most === 1 ? 'slot' : 'slots'}`
  return `${in_use} of its ${most} ${most === 1 ? 'slot is' : 'slots are'} taken`
}

const nameOf = (pool_key: string): string => (pool_key === GLOBAL_POOL_KEY ? 'the workspace (global)' : pool_key)

const ofValues = (pool_key: string, cap_source: Room['cap_source']): string =>
  cap_source === 'TAG' ? `, as ${allValuesOf(pool_key)} has it for each value` : ''

/** How it goes on: who waits for a pool that is closed waits for a person. */
export function nextText(full: readonly Room[], waiting_before: number): string {
  const closed = full.filter(isClosed)
  if (closed.length > 0) return `${closed.map(openedBy).join(' and ')} opens it again`
  if (waiting_before === 0) return 'It is the first of those that wait'
  return `${waiting_before} ${waiting_before === 1 ? 'task is' : 'tasks are'} before it`
}

const openedBy = ({ pool_key, cap_source }: Room): string => {
  if (cap_source === 'SLOTS') return `A deploy with \`--slots\``
  return `\`servo pool set ${asWord(cap_source === 'TAG' ? allValuesOf(pool_key) : pool_key)} NUMBER\``
}

/** As a shell takes it. */
const asWord = (text: string): string => (/^[A-Za-z0-9_.:=@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
