// What is said about runs: requests, cancels and plans.

import { z } from 'zod'
import {
  INLINE_PINS_MAX,
  PARTITION_OFFSET_MAX,
  PLAN_PAGE_TASKS_MAX,
  PLAN_PAGES_MAX,
  RUN_TASKS_MAX,
  TASK_PARTITIONS_MAX,
} from '../core/limits.js'
import { COMMANDED_BY, defineEvent, type EventsIn, eventsByType } from './envelope.js'
import * as example from './example-run.js'
import { assets, count, errorValue, id, integer, listReference, type Parsed, priority, selector, tags } from './value.js'

const trigger = z.object({
  type: z.enum(['SCHEDULE', 'SENSOR', 'BACKFILL', 'MANUAL', 'RERUN']),
  schedule_id: id('ulid').exactOptional(),
  tick_id: id('text').exactOptional(),
  sensor_id: id('ulid').exactOptional(),
  eval_id: id('ulid').exactOptional(),
  backfill_id: id('ulid').exactOptional(),
  chunk_index: count.exactOptional(),
})

const PINS_RULE = `{asset_key: definition_hash} for at most ${INLINE_PINS_MAX} assets, or {"list": {"sha256", "count"}} of key@hash for more`
const definitionPins = z.union(
  [
    z.record(id('asset_key'), id('sha256')).refine((pins) => Object.keys(pins).length <= INLINE_PINS_MAX, { error: PINS_RULE }),
    z.object({ list: listReference }),
  ],
  { error: PINS_RULE },
)
export type DefinitionPins = Parsed<typeof definitionPins>

const RUN_REQUESTED = defineEvent({
  event_type: 'RunRequested',
  example: example.RUN_REQUESTED,
  payload: z.object({
    run_key: id('text'),
    run_id: id('text'),
    secret_key_id: id('text'),
    request_fingerprint: id('sha256'),
    assets,
    partitions: selector,
    tags,
    priority,
    trigger,
    parent_run_id: id('text').exactOptional(),
    root_run_id: id('text').exactOptional(),
    rerun_mode: z.enum(['ALL', 'FROM_FAILURE']).exactOptional(),
    /** How many windows after the last one that exists it may name: the offset of its schedule's mapping. Reruns inherit it. */
    partition_end_offset: integer(1, PARTITION_OFFSET_MAX).exactOptional(),
    definition_pins: definitionPins.exactOptional(),
    ...COMMANDED_BY,
  }),
})

const RUN_CANCEL_REQUESTED = defineEvent({
  event_type: 'RunCancelRequested',
  example: example.RUN_CANCEL_REQUESTED,
  payload: z.object({ run_id: id('text'), ...COMMANDED_BY }),
})

/** Both answers to a request: the run must still wait for one. */
const planBasis = z.object({ request_event_id: id('ulid'), run_state: z.literal('PENDING') })

/** Short names, because 10,000 of them fit one batch. */
const plannedTask = z.object({
  /** Its key. */
  k: id('task_key'),
  /** Where its definition is in the page's `definitions`. */
  d: integer(0, PLAN_PAGE_TASKS_MAX - 1),
  /** Its partitions, and how many they are. */
  p: selector,
  n: integer(0, TASK_PARTITIONS_MAX),
  /** The numbers of its upstream tasks, counted over all pages. */
  w: z.array(integer(0, RUN_TASKS_MAX - 1)).exactOptional(),
})
export type PlannedTask = Parsed<typeof plannedTask>

const planPage = z
  .object({
    run_id: id('text'),
    /** From 0. */
    page: integer(0, PLAN_PAGES_MAX - 1),
    pages: integer(1, PLAN_PAGES_MAX),
    /** The number of the page's first task. */
    task_offset: integer(0, RUN_TASKS_MAX - 1),
    /** Of the whole run. */
    task_count: integer(1, RUN_TASKS_MAX),
    definitions: z
      .array(z.object({ asset_key: id('asset_key'), definition_hash: id('sha256') }))
      .min(1)
      .max(PLAN_PAGE_TASKS_MAX),
    tasks: z.array(plannedTask).min(1).max(PLAN_PAGE_TASKS_MAX),
  })
  .superRefine((page, context) => {
    const fault = planPageFault(page)
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.rule })
  })

type PlanPage = {
  readonly page: number
  readonly pages: number
  readonly task_offset: number
  readonly task_count: number
  readonly definitions: readonly unknown[]
  readonly tasks: readonly { readonly k: string; readonly d: number; readonly w?: readonly number[] }[]
}

/** What the numbers of one page must be to each other. Edges lead to earlier tasks alone, so no plan has a cycle. */
function planPageFault({ page, pages, task_offset, task_count, definitions, tasks }: PlanPage) {
  if (page >= pages) return { path: ['page'], rule: `less than pages, which is ${pages}` }
  if (task_offset + tasks.length > task_count)
    return { path: ['task_count'], rule: 'the number of tasks of the run, those of this page included' }
  const keys = new Set<string>()
  for (const [index, { k, d, w }] of tasks.entries()) {
    if (d >= definitions.length) return { path: ['tasks', index, 'd'], rule: `less than the number of definitions, ${definitions.length}` }
    if (keys.has(k)) return { path: ['tasks', index, 'k'], rule: 'a key that no other task of the run has' }
    keys.add(k)
    if (w === undefined) continue
    if (new Set(w).size < w.length) return { path: ['tasks', index, 'w'], rule: 'each upstream task once' }
    const wrong = w.findIndex((upstream) => upstream >= task_offset + index)
    if (wrong >= 0) return { path: ['tasks', index, 'w', wrong], rule: `the number of an earlier task, below ${task_offset + index}` }
  }
  return undefined
}

const PLAN_CREATED = defineEvent({ event_type: 'PlanCreated', example: example.PLAN_CREATED, payload: planPage, basis: planBasis })

const PLAN_FAILED = defineEvent({
  event_type: 'PlanFailed',
  example: example.PLAN_FAILED,
  payload: z.object({
    run_id: id('text'),
    error: errorValue.extend({ code: z.enum(['CYCLE', 'UNKNOWN_ASSET', 'NO_PARTITIONS', 'BAD_PARTITION', 'PLAN_TOO_LARGE']) }),
  }),
  basis: planBasis,
})

export const RUN_EVENTS = eventsByType(RUN_REQUESTED, RUN_CANCEL_REQUESTED, PLAN_CREATED, PLAN_FAILED)
export type RunEvent = EventsIn<typeof RUN_EVENTS>
