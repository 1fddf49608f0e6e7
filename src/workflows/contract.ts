// What the loops and the rest of Servo say to each other through Temporal: names of workflows, signals and queries, and the
// shapes of what they carry. Pointers and counts, never rows and never secrets.

import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { Scope } from '../core/ids.js'

export const WORKFLOW_TYPES = { workspace: 'workspaceLoop', maintenance: 'maintenanceLoop' } as const

/** "Something is new": an append, or a change of rows. It carries nothing, because the turn looks at what is. */
export const pokeSignal = defineSignal('poke')
/** Segments that only a listing of the whole window has found. */
export const missedSignal = defineSignal<[(readonly string[])?]>('missed')
export const mergeDueSignal = defineSignal('merge_due')
/** Leaves old code after a deploy of Servo itself: the loop begins anew. */
export const drainSignal = defineSignal('drain')

export const stateQuery = defineQuery<LoopState>('state')

export type LoopTimings = {
  /** How long an idle loop waits before it looks by itself; doubled while nothing comes. */
  readonly backstop_ms: number
  readonly backstop_ms_max: number
  readonly maintenance_ms: number
}

type LoopInput = Scope & {
  readonly v: 1
  readonly timings: LoopTimings
  /** Begins anew after this many turns: for tests of that. */
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
  readonly missed: readonly string[]
}

export type TurnCall = Scope & { readonly missed: readonly string[] }
export type MaintenanceCall = Scope & { readonly merge: boolean; readonly collect: boolean }
