// `servo temporal set-up`: creates the namespace and its search attributes, or prints the commands that do.

import { Connection } from '@temporalio/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Environment, TEMPORAL_ADDRESS_DEFAULT, type TemporalConfig, temporalAddressFault } from '../../bin/config.js'
import { clientOptions } from '../../bin/temporal.js'
import { SetUpRefusedError, setUpNamespace } from '../../bin/temporal-namespace.js'
import { messageOf, unavailable } from '../../core/errors.js'
import { ALL_SEARCH_ATTRIBUTES, NAMESPACE_DEFAULT } from '../../core/names.js'
import { withExample } from '../api-command.js'
import { FAILED } from '../exit-code.js'
import { counted, note, printJson, printLine } from './print.js'

type Options = { readonly temporal: string; readonly namespace: string; readonly json?: boolean }

/** Until the server has answered once. */
const TIMEOUT_MS = 5_000

export function addTemporalCommands(group: Command, environment: Environment): void {
  group.helpCommand(false)
  const command = group
    .command('set-up')
    .description("create Servo's namespace and search attributes, or print the commands where this client may not")
    .addOption(
      new Option('--temporal <address>', 'where Temporal is; TEMPORAL_API_KEY has the key for Temporal Cloud')
        .env('TEMPORAL_ADDRESS')
        .default(TEMPORAL_ADDRESS_DEFAULT)
        .argParser(parseAddress),
    )
    .addOption(new Option('--namespace <name>', 'namespace in Temporal').env('TEMPORAL_NAMESPACE').default(NAMESPACE_DEFAULT))
    .option('--json', 'print one JSON value for programs')
    .action((options: Options) => setUp(options, environment['TEMPORAL_API_KEY'] || undefined))
  withExample(command, 'servo temporal set-up --temporal temporal.example.com:7233 --namespace servo')
}

function parseAddress(text: string): string {
  const fault = temporalAddressFault(text)
  if (fault === undefined) return text
  throw new InvalidArgumentError(fault)
}

async function setUp({ temporal: address, namespace, json }: Options, api_key: string | undefined): Promise<void> {
  const config: TemporalConfig = { address, namespace, ...(api_key === undefined ? {} : { api_key }) }
  const connection = await connect(config)
  try {
    const answer = await setUpNamespace(connection, config)
    if (json === true) return printJson({ ok: true, ...answer, commands: [] })
    printLine(answer.namespace === 'created' ? `The namespace ${namespace} was created.` : `The namespace ${namespace} is there.`)
    const all = `All ${counted(Object.keys(ALL_SEARCH_ATTRIBUTES).length, 'search attribute')} are there.`
    printLine(answer.created.length === 0 ? all : `Created search attributes: ${answer.created.join(', ')}.`)
  } catch (error) {
    if (!(error instanceof SetUpRefusedError)) throw error
    if (json === true) printJson({ ok: false, problem: error.message, commands: error.commands })
    else for (const line of error.commands) printLine(line)
    note(`servo: ${error.message} Run the commands above with an account that may, and then this one again.`)
    process.exitCode = FAILED
  } finally {
    await connection.close()
  }
}

async function connect(config: TemporalConfig): Promise<Connection> {
  try {
    return await Connection.connect({ ...clientOptions(config), connectTimeout: TIMEOUT_MS })
  } catch (error) {
    throw unavailable(`Temporal at ${config.address} does not answer: ${messageOf(error)}. Is it running, and is the address right?`, error)
  }
}
