// The command line's front door: it knows the groups by name and loads only the one that is asked for, so that
// `servo --version` stays quick whatever the groups import.

import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { isOperatingError, messageOf } from '../core/errors.js'
import { SECRET_VARIABLES } from '../core/secrets.js'
import type { Around } from './api-command.js'
import { ApiError } from './client.js'
import { loginNameOf } from './commanded.js'
import { DONE, type ExitCode, exitCodeOf, FAILED, FailedError, USAGE, UsageError } from './exit-code.js'
import { problemText } from './problem-text.js'
import { screenOf } from './screen.js'
import { linesFor, setRaw } from './terminal.js'

type Group = {
  readonly name: string
  readonly summary: string
  /** Adds the group's commands to it. */
  readonly load: () => Promise<(group: Command) => void>
}

/** As it was when this process began. */
const environment: Readonly<Record<string, string | undefined>> = { ...process.env }

const around = (): Around => ({
  environment,
  loginName: loginNameOf,
  screen: screenOf(process.stdout, environment),
})

const GROUPS: readonly Group[] = [
  {
    name: 'dev',
    summary: 'run everything on this machine, with a worker for your module',
    load: async () => {
      const { addDevCommand } = await import('./local/dev.js')
      return (group) => addDevCommand(group, environment)
    },
  },
  {
    name: 'deploy',
    summary: 'deploy the code location of a module, after showing what changes',
    load: async () => {
      const { addDeployCommand } = await import('./local/deploy.js')
      return (group) => addDeployCommand(group, around())
    },
  },
  {
    name: 'run',
    summary: 'start runs, watch them, read their logs, cancel them',
    load: async () => {
      const { addRunCommands } = await import('./run.js')
      return (group) => addRunCommands(group, around())
    },
  },
  {
    name: 'asset',
    summary: 'the assets that are deployed, who needs whom, what is materialized',
    load: async () => {
      const { addAssetCommands } = await import('./asset.js')
      return (group) => addAssetCommands(group, around())
    },
  },
  {
    name: 'partition',
    summary: 'the keys of a definition, and the windows of time that they stand for',
    load: async () => (await import('./partition.js')).addPartitionCommands,
  },
  {
    name: 'schedule',
    summary: 'make schedules, look at them and their ticks, pause and trigger them; when a cron fires',
    load: async () => {
      const { addScheduleCommands } = await import('./schedule.js')
      return (group) => addScheduleCommands(group, around())
    },
  },
  {
    name: 'pool',
    summary: 'how many tasks may run at once: of the workspace, a pool, a location, a tag',
    load: async () => {
      const { addPoolCommands } = await import('./pool.js')
      return (group) => addPoolCommands(group, around())
    },
  },
  {
    name: 'workspace',
    summary: 'back a workspace up and restore it; how long it keeps what, and what a change of that would do',
    load: async () => {
      const { addWorkspaceCommands } = await import('./workspace.js')
      const { addCopyCommands } = await import('./local/workspace-copies.js')
      return (group) => {
        addWorkspaceCommands(group, around())
        addCopyCommands(group)
      }
    },
  },
  {
    name: 'conflicts',
    summary: 'requests whose run key belongs to another run',
    load: async () => {
      const { addConflictCommands } = await import('./conflicts.js')
      return (group) => addConflictCommands(group, around())
    },
  },
  {
    name: 'doctor',
    summary: 'check this machine, the store, Temporal and the API, and say how to mend what is wrong',
    load: async () => {
      const { addDoctorCommand } = await import('./local/doctor.js')
      return (group) => addDoctorCommand(group, environment)
    },
  },
  {
    name: 'api',
    summary: 'serve the REST API',
    load: async () => {
      const { addApiCommand } = await import('./local/api.js')
      return (group) => addApiCommand(group, environment, packageVersion())
    },
  },
  {
    name: 'automation',
    summary: 'run the loops that decide what runs',
    load: async () => {
      const { addAutomationCommand } = await import('./local/automation.js')
      return (group) => addAutomationCommand(group, environment)
    },
  },
  {
    name: 'worker',
    summary: 'serve the assets of a module over HTTP',
    load: async () => {
      const { addWorkerCommand } = await import('./local/worker.js')
      return (group) => addWorkerCommand(group, environment, packageVersion())
    },
  },
  {
    name: 'temporal',
    summary: 'create the namespace and the search attributes that the loops need in Temporal',
    load: async () => {
      const { addTemporalCommands } = await import('./local/temporal.js')
      return (group) => addTemporalCommands(group, environment)
    },
  },
  {
    name: 'ledger',
    summary: 'append events to a ledger, fold it into tables, verify and replay it',
    load: async () => (await import('./local/ledger.js')).addLedgerCommands,
  },
  {
    name: 'table',
    summary: 'show the rows of a table, now or as they were',
    load: async () => (await import('./local/table.js')).addTableCommand,
  },
  {
    name: 'sql',
    summary: 'read all tables at one revision with SQL, now or as they were',
    load: async () => (await import('./local/sql.js')).addSqlCommand,
  },
]

/** Runs what the arguments after the program's name ask for, and answers the exit code. Never throws. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  // Several commands load a user's module: what its code, and the programs that it starts, find in the environment is no secret.
  for (const name of SECRET_VARIABLES) delete process.env[name]
  // `servo table runs | head` closes the pipe early, and that is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(DONE)
  })
  const isDebug = args.includes(DEBUG)
  setRaw(args.includes(RAW))
  const words = args.filter((word) => word !== DEBUG && word !== RAW)
  try {
    const program = await buildProgram(words[0] === 'help' ? words[1] : words[0])
    await program.parseAsync(words, { from: 'user' })
    return asExitCode(process.exitCode)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : USAGE
    process.stderr.write(`${linesFor(process.stderr, `servo: ${isDebug ? stackOf(error) : report(error)}`)}\n`)
    return exitCodeOf(error)
  }
}

async function buildProgram(wanted: string | undefined): Promise<Command> {
  const program = new Command('servo')
    .description('An asset-automation control plane over an append-only ledger on object storage.')
    .version(packageVersion(), '-V, --version', 'say which version this is')
    .helpOption('-h, --help', 'say what there is')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${linesFor(process.stderr, `servo: ${asSentence(text)}`)}\n`) })
    .showHelpAfterError('Run it with --help to see what there is.')
    .addHelpText(
      'after',
      '\n--debug with any command shows where an error comes from, and --raw prints control characters as they are, on a terminal too.\nExit codes: 0 done, 1 failed, 2 not understood, 3 the store or the API is not reachable or cannot accept it now, 4 accepted and not carried out yet.',
    )
  for (const { name, summary, load } of GROUPS) {
    const group = program.command(name).description(summary)
    if (name === wanted) (await load())(group)
  }
  return program
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  return version
}

/** A command that did what it could and still has to say that something is wrong sets process.exitCode. */
const asExitCode = (code: typeof process.exitCode): ExitCode => (code === undefined ? DONE : (Number(code) as ExitCode))

/** Takes part in no command: whoever looks for the line that threw puts it anywhere. */
const DEBUG = '--debug'
/** Nor this: what a terminal gets of any command. */
const RAW = '--raw'

/** What nobody expected says how to see more; the stack itself is for those who ask. */
function report(error: unknown): string {
  if (error instanceof ApiError) return problemText(error.problem)
  const isTold = error instanceof UsageError || error instanceof FailedError || isOperatingError(error) || exitCodeOf(error) !== FAILED
  if (isTold) return messageOf(error)
  return `${messageOf(error)}\nRun it again with ${DEBUG} to see where this comes from.`
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

function asSentence(text: string): string {
  const bare = text.trim().replace(/^error: /, '')
  const sentence = bare.charAt(0).toUpperCase() + bare.slice(1)
  return /[.!?)]$/.test(sentence) ? sentence : `${sentence}.`
}
