// Which execution has an attempt. Attempts of one location that were dispatched by the same turn share a log: entries that
// are created in the order of their numbers, each with the claims of whoever asked at the same time. Who writes an entry has
// read all before it, so an attempt is claimed once, whatever queues, workers and processes do. A claim is made durable
// before TaskStarted is appended, and is never given back.

import { corrupt } from '../core/errors.js'
import { type StartGroup, startLogFolder, startLogName } from '../core/keys.js'
import { remember } from '../core/recent.js'
import { parseStartEntry, type StartClaim, type StartEntry, startEntryDocument } from '../ledger/start-entry.js'
import { type CreateDeps, createOrRead } from '../storage/create-or-read.js'
import { readIntact } from '../storage/read-intact.js'

export type StartDeps = CreateDeps & { readonly start_logs: StartLogs }

/** What this process has read and written, by folder. Forgotten, a log is read again. */
type StartLogs = Map<string, StartLog>

type StartLog = {
  readonly group: StartGroup
  readonly owners: Map<string, Owner>
  /** Entries that `owners` is made of. */
  length: number
  waiting: Waiting[]
  isWriting: boolean
}

type Owner = Pick<StartClaim, 'execution_id' | 'worker_id'>
type Waiting = { readonly claim: StartClaim; readonly resolve: (owner: Owner) => void; readonly reject: (error: unknown) => void }

const LOGS_MAX = 1_000
/** Three minutes of a hundred starts a second, and some 3 MB: what was dispatched lately is what is started next. */
const CLAIMS_KEPT_MAX = 20_000
/** An entry of some hundred kilobytes. */
const CLAIMS_PER_ENTRY_MAX = 500
const AGAIN = 'Ask again with the same execution_id.'

/** Whose the attempt is now: the asker's, or that of whoever came first. */
export function claimStart(deps: StartDeps, group: StartGroup, claim: StartClaim): Promise<Owner> {
  const log = logOf(deps, group)
  return new Promise((resolve, reject) => {
    log.waiting.push({ claim, resolve, reject })
    void drain(deps, log)
  })
}

/** undefined: nobody has claimed the attempt, as far as the store knows at this moment. */
export async function readStart(deps: StartDeps, group: StartGroup, attempt_id: string): Promise<Owner | undefined> {
  const log = logOf(deps, group)
  for (;;) {
    const known = log.owners.get(attempt_id)
    if (known !== undefined) return known
    const number = log.length + 1
    const name = startLogName(group, number)
    const found = await readIntact(deps.store, name)
    if (found.kind === 'absent') return undefined
    learn(log, parseEntry(name, found.bytes))
  }
}

function logOf({ start_logs }: StartDeps, group: StartGroup): StartLog {
  const folder = startLogFolder(group)
  const known = start_logs.get(folder)
  const log = known ?? { group, owners: new Map<string, Owner>(), length: 0, waiting: [], isWriting: false }
  // One that is being written to is not forgotten by who writes.
  remember(start_logs, folder, log, LOGS_MAX)
  if (known === undefined) forgetOldest(start_logs)
  return log
}

/** Only where a log is new: one that is known is asked for with each start. */
function forgetOldest(start_logs: StartLogs): void {
  let claims = 0
  for (const [folder, { owners, isWriting }] of [...start_logs].reverse()) {
    claims += owners.size
    if (claims > CLAIMS_KEPT_MAX && !isWriting) start_logs.delete(folder)
  }
}

/** Claims of the same moment go at once, in one entry; those that come while it is written go together in the next. */
async function drain(deps: StartDeps, log: StartLog): Promise<void> {
  if (log.isWriting) return
  log.isWriting = true
  await undefined
  while (log.waiting.length > 0) {
    const group = log.waiting.splice(0, CLAIMS_PER_ENTRY_MAX)
    try {
      await settle(deps, log, group)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
  log.isWriting = false
}

/** Writes one entry for all that nobody has claimed before; as often as others are quicker. */
async function settle(deps: StartDeps, log: StartLog, group: readonly Waiting[]): Promise<void> {
  for (;;) {
    const starts = [...firstOfEach(group.filter(({ claim }) => !log.owners.has(claim.attempt_id))).values()]
    if (starts.length === 0) break
    const number = log.length + 1
    const name = startLogName(log.group, number)
    const entry: StartEntry = { ...log.group, number, starts }
    const found = await createOrRead(deps, name, startEntryDocument(entry, deps.clock.now()), AGAIN)
    // An own entry whose answer was lost looks like another's, and is learnt like one.
    learn(log, found === 'created' ? entry : parseEntry(name, found))
  }
  for (const { claim, resolve } of group) resolve(log.owners.get(claim.attempt_id) as Owner)
}

/** Of two executions that ask in the same moment the first has the attempt. */
function firstOfEach(group: readonly Waiting[]): ReadonlyMap<string, StartClaim> {
  const claims = new Map<string, StartClaim>()
  for (const { claim } of group) if (!claims.has(claim.attempt_id)) claims.set(claim.attempt_id, claim)
  return claims
}

function learn(log: StartLog, { number, starts }: StartEntry): void {
  // Two who read at the same time learn the same entry.
  log.length = Math.max(log.length, number)
  for (const { attempt_id, execution_id, worker_id } of starts) {
    if (!log.owners.has(attempt_id)) log.owners.set(attempt_id, { execution_id, worker_id })
  }
}

function parseEntry(name: string, bytes: Uint8Array): StartEntry {
  const entry = parseStartEntry(name, bytes)
  if (entry === undefined) throw corrupt(`${name} is no entry of a log of starts that this version understands.`)
  return entry
}
