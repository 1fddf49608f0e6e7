// `servo workspace backup`, `backups` and `restore`. Each command works on the stores themselves, without a server.

import { type Command, Option } from 'commander'
import { openAppender, turnDeps } from '../../bin/deps.js'
import { type BackupAnswer, backUp } from '../../compactor/backup/backup.js'
import { listBackups, type Manifest, readBackup } from '../../compactor/backup/manifest.js'
import { type RestoreAnswer, restore } from '../../compactor/backup/restore.js'
import { viewOf } from '../../compactor/backup/view.js'
import { verify } from '../../compactor/verify.js'
import { createTurn } from '../../turn/turn.js'
import { withExample } from '../api-command.js'
import { FAILED, UsageError } from '../exit-code.js'
import { type StoreOptions, withDeps, withStore } from './options.js'
import { counted, note, printJson, printLine, printTable } from './print.js'

type BackupOptions = StoreOptions & { readonly to: string; readonly verify?: boolean }
type ListOptions = StoreOptions & { readonly from: string }
type RestoreOptions = ListOptions & { readonly backup?: string }

const from = () => new Option('--from <place>', 'where the backups are: local:PATH or gs://bucket/prefix').makeOptionMandatory()

export function addCopyCommands(group: Command): void {
  const backup = withStore(group.command('backup'))
    .description('copy a workspace while it is worked on; what an earlier backup has is not copied again')
    .addOption(new Option('--to <place>', 'where backups go: local:PATH or gs://bucket/prefix').makeOptionMandatory())
    .option('--verify', 'read the whole backup afterwards: every file, every checksum, every event')
    .action((options: BackupOptions) => runBackup(options))
  withExample(
    backup,
    'servo workspace backup --to local:/mnt/backups',
    'servo workspace backup --store gs://bucket/servo --to gs://backups/servo',
  )
  const list = withStore(group.command('backups'))
    .description('list the backups of a workspace in a place')
    .addOption(from())
    .action((options: ListOptions) => runList(options))
  withExample(list, 'servo workspace backups --from local:/mnt/backups')
  const back = withStore(group.command('restore'))
    .description('make a workspace of a backup, in a store where it is not, and check all of it')
    .addOption(from())
    .option('--backup <id>', 'another than the newest; `servo workspace backups` lists them')
    .action((options: RestoreOptions) => runRestore(options))
  withExample(back, 'servo workspace restore --from local:/mnt/backups --store local:.servo/restored')
}

const at = (options: StoreOptions, store: string): StoreOptions => ({ ...options, store })

/** Copies of table files are of one place. */
const elsewhere = ({ cache: _, ...options }: StoreOptions, store: string): StoreOptions => ({ ...options, store })

function refuseSamePlace(one: string, other: string): void {
  if (one === other) throw new UsageError(`${one} is named twice. A backup is of use in another place than the workspace.`)
}

async function runBackup(options: BackupOptions): Promise<void> {
  refuseSamePlace(options.store, options.to)
  await withDeps(options, 'read', (source) =>
    withDeps(elsewhere(options, options.to), 'write', async (target) => {
      const answer = await backUp({ ...source, source: source.store, target: target.store, say: note })
      const view = { store: viewOf(target.store, answer.manifest), files: target.files, scope: target.scope }
      const problems = options.verify === true ? (await verify(view)).problems : undefined
      if (problems !== undefined && problems.length > 0) process.exitCode = FAILED
      if (options.json === true) return printJson({ ...described(answer), ...(problems === undefined ? {} : { problems }) })
      for (const problem of problems ?? []) printLine(`wrong: ${problem}`)
      const { backup, pointer, taken_at } = answer.manifest
      printLine(`Backup ${backup}: revision ${pointer.sequence}, and every event acknowledged before ${taken_at}.`)
      printLine(`${counted(answer.copied, 'object')} copied (${answer.bytes} bytes), ${answer.present} there already${verdict(problems)}.`)
    }),
  )
}

function verdict(problems: readonly string[] | undefined): string {
  if (problems === undefined) return ''
  return problems.length === 0 ? '; read again whole: all is well' : `; read again whole: ${counted(problems.length, 'problem')}`
}

const described = ({ manifest, copied, bytes, present }: BackupAnswer | RestoreAnswer) => ({
  ...summaryOf(manifest),
  copied_count: copied,
  copied_bytes: bytes,
  present_count: present,
})

const summaryOf = ({ backup, pointer, taken_at, source, contents, branch }: Manifest) => ({
  backup,
  taken_at,
  sequence: pointer.sequence,
  fold_version: pointer.fold_version,
  source,
  object_count: contents.object_count,
  branch: branch?.id ?? null,
  restored_backup: branch?.backup ?? null,
})

const runList = (options: ListOptions): Promise<void> =>
  withDeps(at(options, options.from), 'read', async ({ store }) => {
    const backups: Manifest[] = []
    for (const backup of await listBackups(store)) backups.push(await readBackup(store, backup))
    if (options.json === true) return printJson(backups.map(summaryOf))
    if (backups.length === 0) return note(`There is no backup in ${store.label}.`)
    printTable(
      ['backup', 'taken', 'revision', 'branch', 'restored from', 'of'],
      backups.map(({ backup, taken_at, pointer, source, branch }) => [
        backup,
        taken_at,
        String(pointer.sequence),
        branch?.id ?? '-',
        branch?.backup ?? '-',
        source,
      ]),
    )
  })

async function runRestore(options: RestoreOptions): Promise<void> {
  refuseSamePlace(options.store, options.from)
  await withDeps(elsewhere(options, options.from), 'read', (source) =>
    withDeps(options, 'write', async (target) => {
      const answer = await restore({ ...target, source: source.store, target: target.store, say: note }, options.backup)
      const { verified, missed } = answer
      if (missed.length > 0) await createTurn(turnDeps(target, await openAppender(target, note), note)).run({ missed })
      if (verified.problems.length > 0) process.exitCode = FAILED
      const { events, revision_count } = verified
      if (options.json === true) {
        return printJson({ ...described(answer), revision_count, events, missed_count: missed.length, problems: verified.problems })
      }
      for (const problem of verified.problems) printLine(`wrong: ${problem}`)
      if (verified.problems.length > 0) {
        return printLine(
          `Nothing was published in ${target.store.label}: ${counted(verified.problems.length, 'problem')}. Try an older backup.`,
        )
      }
      printLine(`Restored backup ${answer.manifest.backup} into ${target.store.label}: ${counted(answer.copied, 'object')} copied.`)
      printLine(
        `${counted(revision_count, 'revision')}, ${counted(events.ledger, 'event')}, ${events.unfolded} of them not folded yet: all is well.`,
      )
    }),
  )
}
