// Opens an older revision: what was believed then. Which ones are kept is the rule of tables/history/kept.ts, whether or not
// collection has run since; of the chain it reads as much as it needs to find one, and of the ledger nothing.

import { isOperatingError, missing } from '../core/errors.js'
import { instantText } from '../core/time.js'
import { type History, openHistory } from '../tables/history/history.js'
import { keptSentence } from '../tables/history/kept.js'
import { isKept, type KeptAt, newerKept, olderKept } from '../tables/history/kept-revisions.js'
import type { Listed } from '../tables/history/pages.js'
import { checkpointName, type Pointer, parseCheckpoint } from '../tables/revision.js'
import { openSnapshot, readDocument, readPointer, readRevision, type Snapshot, type TableStore } from '../tables/snapshot.js'

/** The newest kept revision published at or before an instant, or a revision by its sequence or its id. */
export type Moment = { readonly at: number } | { readonly sequence: number } | { readonly revision: string }

export async function openAsOf(tables: TableStore, moment: Moment): Promise<Snapshot> {
  const { store } = tables
  const { published, server_time } = await readPointer(store)
  if (published === undefined) throw missing(`${store.label} has no revision yet, so there is nothing to look back at.`)
  const history = openHistory(store, published.pointer)
  const stood = await findStood(history, moment)
  if (stood === undefined) throw missing(`No revision was published ${describe(moment)}. The newest is ${history.newest.sequence}.`)
  const at = { now: server_time, retention: await history.retentionOf(history.newest) }
  const older = (await isKept(history, stood, at)) ? stood : await olderKept(history, stood, at)
  // Who asks for an instant is told what was believed a little before it; who names a revision wants that one.
  const opened = 'at' in moment || older === stood ? older : undefined
  if (opened === undefined) throw missing(await notKept(history, { stood, older, at }))
  try {
    return await openSnapshot(tables, await pointerAt(tables, history, opened))
  } catch (error) {
    if (!isOperatingError(error, 'missing')) throw error
    throw missing(`A file of ${nameOf(opened)} is gone, though it is kept. Run \`servo ledger verify\` to see which.`, error)
  }
}

const describe = (moment: Moment): string => {
  if ('at' in moment) return `at or before ${instantText(moment.at)}`
  return 'sequence' in moment ? `with sequence ${moment.sequence}` : `under the id ${moment.revision}`
}

async function findStood(history: History, moment: Moment): Promise<Listed | undefined> {
  const { newest } = history
  if ('at' in moment) return newest.published_at <= moment.at ? newest : history.newestBefore(newest.sequence, moment.at + 1)
  if ('revision' in moment) return history.named(moment.revision)
  return moment.sequence >= 1 && moment.sequence <= newest.sequence ? history.at(moment.sequence) : undefined
}

type NotKept = { readonly stood: Listed; readonly older: Listed | undefined; readonly at: KeptAt }

async function notKept(history: History, { stood, older, at }: NotKept): Promise<string> {
  const newer = nameOf(await newerKept(history, stood, at))
  const nearest =
    older === undefined ? `The oldest that is kept is ${newer}.` : `The nearest that are kept are ${nameOf(older)} and ${newer}.`
  return (
    `No longer kept: ${nameOf(stood)}. ${keptSentence(at.retention)} ${nearest} The ledger is kept whole, and \`servo ledger replay\` folds ` +
    'all of it again to compare the end with the newest tables; older tables it does not bring back.'
  )
}

const nameOf = ({ sequence, published_at }: Listed): string => `revision ${sequence} (published at ${instantText(published_at)})`

/** The pointer as it was when this revision was the newest. */
async function pointerAt({ store }: TableStore, history: History, { sequence, revision }: Listed): Promise<Pointer> {
  const { fold_version, published_at, checkpoint: name } = await readRevision(store, sequence, revision)
  const checkpoint = await readDocument(store, checkpointName(name), parseCheckpoint)
  const deltas: { sequence: number; revision: string }[] = []
  for (let at = checkpoint.sequence + 1; at <= sequence; at++) deltas.push({ sequence: at, revision: (await history.at(at)).revision })
  return {
    schema: 'servo-pointer-v1',
    revision,
    sequence,
    fold_version,
    published_at,
    checkpoint: { name, sequence: checkpoint.sequence },
    deltas,
    chain_through: 0,
  }
}
