// The loop of a schedule: it shows how the schedule stands, takes what people signal in Temporal, and calls for a turn when
// one is due and none has come. It decides nothing and knows no cron: the activity says when to look again. Nothing kills
// it; a schedule that is not found is waited for, and only the tombstone ends it.

import { ApplicationFailure } from '@temporalio/common'
import * as wf from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { queuesBeside } from '../core/names.js'
import { callOptions } from './activity-options.js'
import {
  pauseSignal,
  pokeSignal,
  resumeSignal,
  type ScheduleCommand,
  type ScheduleLoopInput,
  type ScheduleLoopState,
  type ScheduleLoopStatus,
  type ScheduleReport,
  scheduleStateQuery,
  type Told,
  type TriggerAnswer,
  type TriggerAsked,
  triggerUpdate,
} from './contract.js'
import { setNextFire } from './loop.js'
import { openLoop } from './run-loop.js'
import { triggerFault } from './trigger-asked.js'
import { callSummary, errorText, scheduleDetails, scheduleWaitSummary } from './words.js'

/** Each look costs a place in the history. */
const WAIT_MS_MIN = 1_000
/** What one call appends; the rest goes with the next one. */
const COMMANDS_AT_ONCE = 50

export async function scheduleLoop(input: ScheduleLoopInput): Promise<void> {
  const { tenant_id, workspace_id, schedule_id } = input
  const calls = wf.proxyActivities<Pick<Activities, 'scheduleTurn'>>(callOptions(queuesBeside(wf.workflowInfo().taskQueue)))
  const commands: ScheduleCommand[] = [...input.commands]
  const answers = new Map<string, TriggerAnswer>()
  /** Triggers that somebody waits for: a new run of the workflow would leave them without an answer. */
  const unanswered = new Set<string>()
  const loop = openLoop(input)
  let { refused = null } = input
  let report: ScheduleReport | undefined
  const command = (kind: 'pause' | 'resume') => (told?: Told) => {
    commands.push({ ...toldIn(told), kind })
    loop.wake()
  }
  wf.setHandler(pauseSignal, command('pause'))
  wf.setHandler(resumeSignal, command('resume'))
  wf.setHandler(pokeSignal, loop.wake)
  wf.setHandler(scheduleStateQuery, (): ScheduleLoopState => {
    const { status = 'STARTING', next_fire_at = null, sequence = 0 } = report ?? {}
    const { failures, last_error } = loop.health()
    return { turns: loop.turns(), failures, last_error, sequence, status: failures > 0 ? 'ERROR' : status, next_fire_at }
  })
  wf.setHandler(
    triggerUpdate,
    async (asked) => {
      answers.delete(asked.request_id)
      unanswered.add(asked.request_id)
      commands.push(triggerIn(asked))
      loop.lookAtOnce()
      await wf.condition(() => answers.has(asked.request_id))
      return answers.get(asked.request_id) as TriggerAnswer
    },
    { validator: refuseFaulty },
  )
  const showDetails = (status: ScheduleLoopStatus) =>
    wf.setCurrentDetails(scheduleDetails(status, report, { last_error: loop.health().last_error, refused }))
  const show = (status: ScheduleLoopStatus) => {
    setNextFire(status, report?.next_fire_at ?? null)
    showDetails(status)
  }

  function answer(request_id: string, said: TriggerAnswer): void {
    answers.set(request_id, said)
    unanswered.delete(request_id)
  }

  async function look(): Promise<number | 'over'> {
    const batch = commands.splice(0, COMMANDS_AT_ONCE)
    const call = { tenant_id, workspace_id, schedule_id, commands: batch }
    let answered: ScheduleReport
    try {
      answered = await calls.scheduleTurn.executeWithOptions({ summary: callSummary(loop.turns(), batch) }, [call])
    } catch (error) {
      // Who waits is told; the rest is said again with the next call, and absorbed where it had been appended.
      for (const { kind, request_id } of batch) if (kind === 'trigger') answer(request_id, { problem: errorText(error) })
      commands.unshift(...batch.filter(({ kind }) => kind !== 'trigger'))
      throw error
    }
    report = answered
    for (const [request_id, said] of Object.entries(report.answers)) answer(request_id, said)
    loop.clearHealth()
    if (batch.length > 0) refused = report.refused ?? null
    show(report.status)
    if (report.status === 'REMOVED' && commands.length === 0 && unanswered.size === 0) return 'over'
    return commands.length > 0 ? 0 : Math.max(WAIT_MS_MIN, report.wake_in_ms)
  }

  if (input.failures === 0) showDetails('STARTING')
  const end = await loop.run({
    look,
    onFailed: () => show('ERROR'),
    waitSummary: () => scheduleWaitSummary(report),
    mayBeginAnew: () => unanswered.size === 0,
  })
  if (end === 'over') return
  const next = wf.makeContinueAsNewFunc<typeof scheduleLoop>({ taskQueue: loop.taskQueue() })
  await next({ ...input, commands, ...loop.health(), refused })
}

/** Synchronous: nobody waits for a validator's promise, and nothing that it says would refuse anything. */
function refuseFaulty(asked: unknown): void {
  const fault = triggerFault(asked)
  if (fault !== undefined) throw ApplicationFailure.nonRetryable(fault, 'BadInput')
}

const textIn = <Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: string } =>
  (typeof value === 'string' ? { [name]: value } : {}) as { readonly [Key in Name]?: string }

const triggerIn = ({ request_id, partition, instant, requested_by, reason }: TriggerAsked): ScheduleCommand => ({
  kind: 'trigger',
  request_id,
  ...textIn('partition', partition),
  ...textIn('instant', instant),
  ...textIn('requested_by', requested_by),
  ...textIn('reason', reason),
})

/** Of what somebody typed into a form, what can be meant; a command without an id gets one of its own. */
function toldIn(told: Told | undefined): Told & { readonly request_id: string } {
  const { request_id, requested_by, reason } = typeof told === 'object' && told !== null ? told : {}
  return {
    request_id: typeof request_id === 'string' && request_id !== '' ? request_id : wf.uuid4(),
    ...textIn('requested_by', requested_by),
    ...textIn('reason', reason),
  }
}
