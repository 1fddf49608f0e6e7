// The command line's front door: it knows the groups by name and loads only the one that is asked for, so that
// `servo --version` stays quick whatever the groups import.

import { Command, CommanderError } from 'commander'
import { readFileSync } from 'node:fs'
import { isOperatingError, messageOf } from '../core/errors.js'
import { DONE, type ExitCode, exitCodeOf, FAILED, USAGE, UsageError } from './exit-code.js'

type Group = {
  readonly name: string
  readonly summary: string
  /** Adds the group's commands to it. */
  readonly load: () => Promise<(group: Command) => void>
}

const GROUPS: readonly Group[] = [
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
    name: 'worker',
    summary: 'serve the assets of a module over HTTP',
    load: async () => {
      const { addWorkerCommand } = await import('./local/worker.js')
      return (group) => addWorkerCommand(group, process.env)
    },
  },
]

/** Runs what the arguments after the program's name ask for, and answers the exit code. Never throws. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  // `servo table runs | head` closes the pipe early, and that is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(DONE)
  })
  try {
    const program = await buildProgram(args[0] === 'help' ? args[1] : args[0])
    await program.parseAsync([...args], { from: 'user' })
    return asExitCode(process.exitCode)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : USAGE
    process.stderr.write(`servo: ${report(error)}\n`)
    return exitCodeOf(error)
  }
}

async function buildProgram(wanted: string | undefined): Promise<Command> {
  const program = new Command('servo')
    .description('An asset-automation control plane over an append-only ledger on object storage.')
    .version(packageVersion(), '-V, --version', 'say which version this is')
    .helpOption('-h, --help', 'say what there is')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`servo: ${asSentence(text)}\n`) })
    .showHelpAfterError('Run it with --help to see what there is.')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 not understood, 3 the store is not reachable.')
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

/** What nobody expected carries its stack, for whoever has to mend it. */
function report(error: unknown): string {
  if (error instanceof UsageError || isOperatingError(error)) return error.message
  return error instanceof Error && exitCodeOf(error) === FAILED ? (error.stack ?? error.message) : messageOf(error)
}

function asSentence(text: string): string {
  const bare = text.trim().replace(/^error: /, '')
  const sentence = bare.charAt(0).toUpperCase() + bare.slice(1)
  return /[.!?)]$/.test(sentence) ? sentence : `${sentence}.`
}
