// `servo deploy`: the code location of a module or a document, whole. What it changes is shown first, and the deploy is made for exactly the
// version that was shown: who comes in between is not overwritten.

import type { Command } from 'commander'
import { WORKER_SLOTS_DEFAULT } from '../../core/limits.js'
import type { DeployAnswer, DeployAsked } from '../answers.js'
import { type ApiOptions, type Around, sessionOf, withApi, withExample } from '../api-command.js'
import { parseCount, parseWhole } from '../arguments.js'
import { type CommandedOptions, commandedBy, withCommanded } from '../commanded.js'
import { isEmptyDiff, planLines } from '../deploy-plan.js'
import { assertTaken } from '../outcome.js'
import { assertCarriedOut } from '../settled.js'
import { deployPlanned, planDeploy } from './deploy-location.js'
import { type DeploySource, readDeploySource } from './deploy-source.js'
import { type Chosen, chooseWorker, chosenLine, WORKER_URL_DEFAULT, WORKER_URL_VARIABLE } from './deploy-worker.js'
import { note, printJson, printLine } from './print.js'

type Options = ApiOptions &
  CommandedOptions & {
    readonly dryRun?: boolean
    readonly workerUrl?: string
    readonly slots?: number
    readonly prefetch?: number
    readonly queue?: string
    readonly codeVersion?: string
    readonly wait: boolean
  }

export function addDeployCommand(command: Command, around: Around): void {
  withCommanded(withApi(command))
    .description('deploy the code location of a module or a document: show what changes, then make it so; it never asks')
    .argument(
      '<module>',
      'the module that exports the code location, such as ./module.ts, or a document that says the same, such as ./location.json',
    )
    .option('--dry-run', 'show what would change, and deploy nothing')
    .option(
      '--worker-url <url>',
      `where the worker of this location listens, as Servo reaches it (what the document says, else as deployed before, else ${WORKER_URL_VARIABLE}, else ${WORKER_URL_DEFAULT})`,
    )
    .option(
      '--slots <count>',
      `how many attempts run there at once, over all workers behind the URL (what the document says, else what the worker says, else as deployed before, else ${WORKER_SLOTS_DEFAULT})`,
      parseCount,
    )
    .option(
      '--prefetch <count>',
      'how many attempts more its workers keep until a slot is free, where a store takes one publish a second; 0 turns it off (what the document says, else what the worker says, else as deployed before, else 0)',
      parseWhole,
    )
    .option('--queue <name>', 'the queue of the worker')
    .option('--code-version <text>', 'what is deployed, such as a commit')
    .option('--wait', 'wait until it stands (this is what it does unless you say otherwise)', true)
    .option('--no-wait', 'do not wait until it stands')
    .action((module: string, options: Options) => deploy(module, options, around))
  withExample(
    command,
    'servo deploy ./pipeline.ts --dry-run',
    'servo deploy ./pipeline.ts --worker-url http://worker:7801 --slots 16',
    'servo deploy ./location.json',
  )
}

async function deploy(module: string, options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const { location_name, members } = await readDeploySource(module)
  const { client } = session
  const said = {
    worker_url: firstSaid([options.workerUrl, '--worker-url'], [members.worker_url, 'as the document says']),
    slots: firstSaid([options.slots, '--slots'], [members.slots, 'as the document says']),
    prefetch: firstSaid([options.prefetch, '--prefetch'], [members.prefetch, 'as the document says']),
  }
  const worker = await chooseWorker({ client, location_name, asked: said, environment: around.environment })
  const asked = { ...askedOf(options, worker, members), ...commandedBy(options, around, members) }
  const planned = await planDeploy({ client, location_name, asked })
  if (!session.json) for (const line of planLines(planned.diff, location_name, session.screen)) printLine(line)
  if (!session.json) printLine(chosenLine(worker))
  if (isEmptyDiff(planned.diff)) {
    return session.json
      ? printJson({ ...planned, worker })
      : printLine(`Nothing to deploy: version ${planned.location_version} is what you have.`)
  }
  if (options.dryRun === true) return session.json ? printJson({ ...planned, worker }) : note('Nothing was deployed: this is a dry run.')
  const answer = await deployPlanned({ client, location_name, asked }, planned, options)
  assertTaken(answer.outcome, `The deploy of ${location_name}`)
  if (session.json) printJson({ ...answer, worker })
  else report(location_name, answer)
  assertCarriedOut(answer)
}

type Source<Value> = readonly [Value | undefined, string]

const firstSaid = <Value>(...sources: readonly Source<Value>[]): readonly [Value, string] | undefined =>
  sources.find((source): source is readonly [Value, string] => source[0] !== undefined)

function askedOf({ queue, codeVersion }: Options, chosen: Chosen, members: DeploySource['members']): DeployAsked {
  const { worker_url, slots, prefetch } = chosen
  return {
    ...members,
    worker_url,
    slots,
    // A worker that keeps none is deployed as it always was, to an older API too.
    ...(prefetch === 0 ? {} : { prefetch }),
    ...(queue === undefined ? {} : { worker_queue: queue }),
    ...(codeVersion === undefined ? {} : { code_version: codeVersion }),
  }
}

function report(location_name: string, { location_version, outcome }: DeployAnswer): void {
  if (outcome?.kind === 'applied' || outcome?.kind === 'duplicate')
    return printLine(`Deployed ${location_name}, version ${location_version}.`)
  if (outcome?.kind === 'pending') return printLine(`The deploy of ${location_name} is accepted.`)
  if (outcome === undefined) printLine(`Sent the deploy of ${location_name}. \`servo deploy --dry-run\` says whether it stands.`)
}
