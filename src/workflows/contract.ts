// What the loops and the rest of Servo say to each other through Temporal: names of workflows, signals and queries, and the
// shapes of what they carry. Pointers and counts, never rows and never secrets.

import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import type { Scope } from '../core/ids.js'

export const WORKFLOW_TYPES = { workspace: 'workspaceLoop', maintenance: 'maintenanceLoop', schedule: 'scheduleLoop' } as const

/** "Something is new": an append, or a change of rows. It carries nothing, because the turn looks at what is. */
export const pokeSignal = defineSignal('poke')
/** Segments that only a listing of the whole window has found. */
export const missedSignal = defineSignal<[(readonly string[])?]>('missed')
export const mergeDueSignal = defineSignal('merge_due')
/** Leaves old code after a deploy of Servo itself: the loop continues as new. An automation that does not serve the loop's queue
 *  names its own. */
export const drainSignal = defineSignal<[DrainRequest?]>('drain')

/** To a schedule's loop. The UI sends them without an argument, or with whatever somebody typed. */
export const pauseSignal = defineSignal<[Told?]>('pause')
export const resumeSignal = defineSignal<[Told?]>('resume')
export const triggerUpdate = defineUpdate<TriggerAnswer, [TriggerAsked]>('trigger')

export const stateQuery = defineQuery<LoopState>('state')
export const scheduleStateQuery = defineQuery<ScheduleLoopState>('state')

export type LoopTimings = {
  /** How long an idle loop waits before it looks by itself; doubled while nothing comes. */
  readonly backstop_ms: number
  readonly backstop_ms_max: number
  readonly maintenance_ms: number
}

export type DrainRequest = {
  /** The queue to go on on; none: the same one. */
  readonly task_queue?: string
}

type LoopInput = Scope & {
  readonly v: 1
  readonly timings: LoopTimings
  /** Begins anew after this many turns, and not as late as Temporal suggests it. */
  readonly turns_max?: number
}

export type WorkspaceLoopInput = LoopInput & {
  readonly missed: readonly string[]
  readonly failures: number
  readonly last_error: string | null
}

export type MaintenanceLoopInput = LoopInput & { readonly last_error: string | null }

/** What a loop knows, for whoever waits for it or looks at it. */
export type LoopState = {
  /** Turns begun in this run of the workflow. */
  readonly turns: number
  readonly failures: number
  readonly last_error: string | null
  readonly sequence: number
}

/** What a turn answers to its loop. */
export type TurnReport = {
  readonly sequence: number
  readonly published_count: number
  readonly more: boolean
  readonly merge_due: boolean
  /** From the end of the turn; null: nothing is due. */
  readonly wake_in_ms: number | null
  /** As text, for people. */
  readonly wake_at: string | null
  readonly open_runs: number
  readonly running_tasks: number
  readonly waiting_tasks: number
  /** Attempts that are out and have not started. */
  readonly unstarted: number
}

export type MaintenanceReport = {
  readonly merged_files: number
  readonly collected_files: number
  /** Absent in what an older activity answers. */
  readonly packed_segments?: number
  readonly missed: readonly string[]
  /** Why the rest of the call failed, where it had found late segments before: they are folded all the same. Otherwise the call fails. */
  readonly failed?: string
}

export type TurnCall = Scope & { readonly missed: readonly string[] }
export type MaintenanceCall = Scope & { readonly merge: boolean; readonly collect: boolean }

/** What comes with a signal. None of it has to be there: the same `request_id` again is the same command. */
export type Told = { readonly request_id?: string; readonly requested_by?: string; readonly reason?: string }

export type TriggerAsked = {
  readonly request_id: string
  /** One partition instead of the one that the instant maps to. */
  readonly partition?: string
  /** The instant that the tick is for; none: now. */
  readonly instant?: string
  readonly requested_by?: string
  readonly reason?: string
}

/** A domain error is an answer, and fails nothing. */
export type TriggerAnswer = { readonly tick_id: string; readonly run_ids: readonly string[] } | { readonly problem: string }

/** Appended as if the API had been asked: the ledger decides. */
export type ScheduleCommand =
  | (Told & { readonly kind: 'pause' | 'resume'; readonly request_id: string })
  | (TriggerAsked & { readonly kind: 'trigger' })

export type ScheduleLoopInput = Scope & {
  readonly v: 1
  readonly schedule_id: string
  readonly turns_max?: number
  /** What was signalled and is not appended. */
  readonly commands: readonly ScheduleCommand[]
  readonly failures: number
  readonly last_error: string | null
  /** Shown until the next command. */
  readonly refused?: string | null
}

export type ScheduleLoopState = LoopState & { readonly status: ScheduleLoopStatus; readonly next_fire_at: string | null }

/** ERROR: the last call failed, or the last tick did. WAITING: no such schedule is known, and may be in a moment. */
export type ScheduleLoopStatus = 'STARTING' | 'WAITING' | 'ACTIVE' | 'PAUSED' | 'ERROR' | 'REMOVED'

export type ScheduleCall = Scope & { readonly schedule_id: string; readonly commands: readonly ScheduleCommand[] }

/** How a schedule stands: words and instants for its page, made where zones are known. */
export type ScheduleReport = {
  readonly sequence: number
  /** REMOVED is the tombstone: it ends the loop, and nothing else does. */
  readonly status: Exclude<ScheduleLoopStatus, 'STARTING'>
  /** From the answer on, until the loop is to look again by itself. */
  readonly wake_in_ms: number
  readonly next_fire_at: string | null
  /** null: the schedule is not known. */
  readonly shown: ScheduleShown | null
  /** Of triggers, by request id. */
  readonly answers: Readonly<Record<string, TriggerAnswer>>
  /** Why a pause or a resume of this call was not taken: nobody waits for an answer to a signal. */
  readonly refused?: string | null
}

export type ScheduleShown = {
  readonly name: string
  readonly cron: string
  readonly timezone: string
  /** The next few, by the clocks of its zone. */
  readonly next_fires: readonly string[]
  readonly last_tick: string | null
  readonly paused: string | null
  readonly last_error: string | null
}
