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

/** To the loop of an entity: commands, each by a signal or by an update that waits for the answer. The UI sends them without an
 *  argument, or with what was typed into its form. */
export const pauseSignal = defineSignal<[CommandRequest?]>('pause')
export const resumeSignal = defineSignal<[CommandRequest?]>('resume')
export const pauseUpdate = defineUpdate<StatusAnswer, [CommandRequest]>('pause')
export const resumeUpdate = defineUpdate<StatusAnswer, [CommandRequest]>('resume')
export const triggerUpdate = defineUpdate<TriggerAnswer, [TriggerRequest]>('trigger')

export const stateQuery = defineQuery<LoopState>('state')
export const entityStateQuery = defineQuery<EntityLoopState>('state')

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

export type WorkspaceLoopInput = Scope & {
  readonly v: 1
  readonly missed: readonly string[]
  readonly failures: number
  readonly last_error: string | null
  /** In the input of an older Servo; its loop keeps both until it begins a new run. Now they come with each answer. */
  readonly timings?: Pick<LoopTimings, 'backstop_ms' | 'backstop_ms_max'>
  readonly turns_max?: number
}

export type MaintenanceLoopInput = Scope & {
  /** 1 is of an older Servo, whose loops keep two timers and carry their settings. */
  readonly v: 1 | 2
  readonly timings?: Pick<LoopTimings, 'maintenance_ms'>
  /** Begins a new run after this many turns, and not as late as Temporal suggests it. */
  readonly turns_max?: number
  readonly last_error: string | null
}

/** What a loop knows of itself. */
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
  /** Absent in what an older activity answers, as are all that follow. A merge is due, and maintenance has not been poked lately. */
  readonly poke_maintenance?: boolean
  readonly settings?: WorkspaceSettings
  readonly page?: WorkspacePage
}

/** They come with each answer, so that a release can change them; nothing of them is carried to the next run. */
export type WorkspaceSettings = Pick<LoopTimings, 'backstop_ms' | 'backstop_ms_max'> & {
  /** A new run begins after this many turns. */
  readonly turns_max: number
}

/** Lines for the page, each list bounded. */
export type WorkspacePage = {
  /** Why the next turn is due. */
  readonly due: string | null
  readonly failed_runs: readonly string[]
  /** Schedules in ERROR. */
  readonly failing_schedules: readonly string[]
}

export type MaintenanceReport = {
  readonly merged_files: number
  readonly collected_files: number
  /** Absent in what an older activity answers. */
  readonly packed_segments?: number
  readonly missed: readonly string[]
  /** When to look again by the clock: a setting of the release that answers. Absent in what an older activity answers. */
  readonly again_in_ms?: number
  /** Why the rest of the call failed, where it had found late segments before: they are folded all the same. Otherwise the call fails. */
  readonly failed?: string
}

export type TurnCall = Scope & { readonly missed: readonly string[] }
export type MaintenanceCall = Scope & { readonly merge: boolean; readonly collect: boolean }

/** What comes with any command. None of it has to be there: the same `request_id` again is the same command. */
export type CommandRequest = { readonly request_id?: string; readonly requested_by?: string; readonly reason?: string }

export type TriggerRequest = CommandRequest & {
  /** One partition instead of the one that the instant maps to. */
  readonly partition?: string
  /** The instant that the tick is for; none: now. */
  readonly instant?: string
}

/** A domain error is an answer, and fails nothing. */
type CommandProblem = { readonly problem: string }
export type StatusAnswer = { readonly status: string } | CommandProblem
export type TriggerAnswer = { readonly tick_id: string; readonly run_ids: readonly string[] } | CommandProblem
export type CommandAnswer = StatusAnswer | TriggerAnswer

/** Appended as if the API had been called: the ledger decides. */
export type EntityCommand = CommandRequest & { readonly kind: string; readonly request_id: string }
export type StatusCommand = EntityCommand & { readonly kind: 'pause' | 'resume' }
export type TriggerCommand = EntityCommand & TriggerRequest & { readonly kind: 'trigger' }
export type ScheduleCommand = StatusCommand | TriggerCommand

export type EntityLoopInput<Command extends EntityCommand = EntityCommand> = Scope & {
  readonly v: 1
  /** What was sent and is not appended. */
  readonly commands: readonly Command[]
  readonly failures: number
  readonly last_error: string | null
  /** What the last command came to; shown until the next one. */
  readonly last_command?: string | null
  readonly numbering?: CommandNumbering
  /** In the input of an older Servo; its loop keeps it until it begins a new run. */
  readonly turns_max?: number
  readonly refused?: string | null
}

/** Names the commands of signals that came without a `request_id` (command-numbers.ts). */
export type CommandNumbering = { readonly from: string; readonly count: number }

export type ScheduleLoopInput = EntityLoopInput<ScheduleCommand> & { readonly schedule_id: string }

export type EntityLoopState = LoopState & { readonly status: string; readonly next_fire_at: string | null }

export type EntityCall<Command extends EntityCommand = EntityCommand> = Scope & { readonly commands: readonly Command[] }
export type ScheduleCall = EntityCall<ScheduleCommand> & { readonly schedule_id: string }

/** How an entity stands: its page and its timer in words, made where zones are known. */
export type EntityReport<Status extends string = string> = {
  readonly sequence: number
  readonly status: Status
  /** From the answer on, until the loop is to look again by itself. */
  readonly wake_in_ms: number
  readonly next_fire_at: string | null
  /** Of commands, by request id. */
  readonly answers: Readonly<Record<string, CommandAnswer>>
  /** Absent in what an older activity answers, as are all that follow. null: the entity is not known. */
  readonly page?: EntityPage | null
  /** What the loop's timer waits for. */
  readonly timer?: string
  /** What the last command of this call came to. */
  readonly last_command?: string
  /** For `ServoName`; absent where the namespace has no such attribute. */
  readonly name?: string
  /** The run of the workflow that called. */
  readonly run_id?: string
  readonly settings?: EntitySettings
  /** An older activity says it of commands by signal that were not taken. */
  readonly refused?: string | null
}

export type EntityPage = {
  /** Beside the status. */
  readonly headline: string
  readonly lines: readonly string[]
  /** Why the entity is in ERROR. */
  readonly last_error: string | null
}

/** They come with each answer, so that a release can change them; nothing of them is carried to the next run. */
export type EntitySettings = {
  /** A new run begins after this many looks. */
  readonly looks_max: number
  /** `ServoNextFireAt` stays as it is where it is no more than this off. */
  readonly next_fire_slack_ms: number
}

/** ERROR: the last call failed, or the last tick did. WAITING: no such schedule is known, and may be in a moment. REMOVED is the
 *  tombstone: it ends the loop, and nothing else does. */
export type ScheduleLoopStatus = 'WAITING' | 'ACTIVE' | 'PAUSED' | 'ERROR' | 'REMOVED'
export type ScheduleReport = EntityReport<ScheduleLoopStatus>
