// `servo ledger example` and `servo ledger append`.

import type { Command } from 'commander'
import { openAppender } from '../../bin/deps.js'
import { appendBatches, type LineAnswer, type LineFault, parseLines } from '../../commands/append-lines.js'
import { exampleEvent, knownEventTypes } from '../../commands/example.js'
import { FAILED, UsageError } from '../exit-code.js'
import { readInput } from '../input-file.js'
import { type StoreOptions, withDeps, withStore } from './options.js'
import { counted, note, printJson, printLine } from './print.js'

const FAULTS_SHOWN = 20

/** What programs are told, done or refused. */
type AppendReport = {
  readonly appended_count: number
  readonly duplicate_count: number
  readonly answers: readonly LineAnswer[]
  readonly faults: readonly LineFault[]
}

export function addAppendCommands(group: Command): void {
  withStore(group.command('example'))
    .description('print the golden example of an event type, ready to edit')
    .argument('<event-type>', 'for example RunRequested')
    .action((event_type: string, options: StoreOptions) => printExample(event_type, options))
  withStore(group.command('append'))
    .description(
      'append events: one a line; consecutive lines with the same "batch" member are one batch. Answers appended or duplicate for each: ' +
        'duplicate is only known for about a minute; what is appended again later is a duplicate when it is folded, for seven days. ' +
        'With --json: {appended_count, duplicate_count, answers, faults}; faults: the lines for which nothing was appended',
    )
    .requiredOption('--file <path>', 'the file with the events, - for standard input')
    .action((options: StoreOptions & { readonly file: string }) => append(options))
}

function printExample(event_type: string, { tenant, workspace, json }: StoreOptions): void {
  const example = exampleEvent(event_type)
  if (example === undefined) {
    throw new UsageError(`${event_type} is no event of this version. There are: ${knownEventTypes().join(', ')}.`)
  }
  // Made out to the workspace that was asked for, so that it can be appended as it is.
  const event = { ...example, tenant_id: tenant, workspace_id: workspace }
  if (json === true) printJson(event)
  else printLine(JSON.stringify(event))
}

async function append(options: StoreOptions & { readonly file: string }): Promise<void> {
  const scope = { tenant_id: options.tenant, workspace_id: options.workspace }
  const { batches, faults } = parseLines(await readInput('--file', options.file), scope)
  if (faults.length > 0) return refuse(faults, options)
  const answers: LineAnswer[] = []
  await withDeps(options, 'write', async (deps) => {
    // Without a log: that a segment was there already is what the answers say, event by event.
    for await (const some of appendBatches(await openAppender(deps), batches)) {
      answers.push(...some)
      if (options.json !== true) for (const answer of some) printLine(`${answer.answer} ${answer.event_id} ${answer.idempotency_key}`)
    }
  })
  const duplicate_count = answers.filter(({ answer }) => answer === 'duplicate').length
  const appended_count = answers.length - duplicate_count
  if (options.json === true) return printJson({ appended_count, duplicate_count, answers, faults } satisfies AppendReport)
  note(`${counted(answers.length, 'event')}: ${appended_count} appended, ${duplicate_count} durable already.`)
}

function refuse(faults: readonly LineFault[], { json }: StoreOptions): void {
  process.exitCode = FAILED
  if (json === true) return printJson({ appended_count: 0, duplicate_count: 0, answers: [], faults } satisfies AppendReport)
  for (const { line, problem } of faults.slice(0, FAULTS_SHOWN)) note(`line ${line}: ${problem}`)
  if (faults.length > FAULTS_SHOWN) note(`and ${faults.length - FAULTS_SHOWN} more.`)
  note(`servo: nothing was appended, because ${counted(faults.length, 'line')} cannot be.`)
}
