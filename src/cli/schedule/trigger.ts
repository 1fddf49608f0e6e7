// `servo schedule trigger`.

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { CommandOptions } from '../accepted.js'
import { type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { parseInstant } from '../arguments.js'
import { commandedBy, withCommanded } from '../commanded.js'
import { counted, note, printJson, printLine } from '../local/print.js'
import { assertTaken } from '../outcome.js'
import { watchAccepted } from '../run/watch.js'
import type { ScheduleTriggered } from './answers.js'
import { SCHEDULE_WORDS, schedulePath } from './words.js'

type Options = CommandOptions & { readonly partition?: string; readonly instant?: number; readonly requestKey?: string }

export function addTriggerCommand(group: Command, around: Around): void {
  const command = withCommanded(withApi(group.command('trigger')))
    .description('ask for a tick now, paused or not; no other tick moves')
    .argument('<schedule>', SCHEDULE_WORDS)
    .option('--partition <key>', 'the partition to ask for, instead of the one that its mapping says')
    .option('--instant <instant>', 'as if it were then: the mapping looks from there', parseInstant)
    .option('--request-key <key>', 'the same key is the same tick, however often it is asked for')
    .option('--wait', 'until its run is over; exit code 0 only if it succeeded')
    .action((text: string, options: Options) => trigger(text, options, around))
  withExample(command, 'servo schedule trigger nightly --wait', 'servo schedule trigger days --partition 2025-01-05')
}

async function trigger(text: string, options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const { partition, instant, requestKey, wait } = options
  const body = {
    ...(partition === undefined ? {} : { partition }),
    ...(instant === undefined ? {} : { instant: new Date(instant).toISOString() }),
    ...commandedBy(options, around),
  }
  const triggered = await session.client.post<ScheduleTriggered>(`${schedulePath(text)}/trigger`, body, {
    query: wait === true ? { wait: true } : {},
    idempotency_key: requestKey ?? randomUUID(),
  })
  const { outcome, runs, schedule_name } = triggered
  assertTaken(outcome, `The tick of ${schedule_name}`)
  if (wait !== true && session.json) return printJson(triggered)
  if (!session.json) printLine(`${schedule_name} asked for ${counted(runs.length, 'run')}: ${runs.map(({ run_id }) => run_id).join(', ')}`)
  if (wait !== true) return note(`Watch it: servo run watch ${runs[0]?.run_id}`)
  for (const { run_id } of runs) await watchAccepted(session, run_id, triggered)
}
