// What must hold of the ledger and of what became of it, whatever crashed in between: each check answers sentences that
// begin with the invariant they speak for.

import { createHash } from 'node:crypto'
import { canonicalJson } from '../../src/core/canonical.js'
import { instantMs, stampMs } from '../../src/core/time.js'
import { segmentName } from '../../src/ledger/segment.js'
import type { LooseRow, TableName } from '../../src/projections/tables.js'
import { type Evidence, PACKED, type StoredEvent, type StoredSegment } from './evidence.js'

const pairOf = ({ idempotency_key, basis }: StoredEvent): string =>
  `${idempotency_key}\t${basis === undefined ? '-' : canonicalJson(basis)}`

/** Every row that there ever was, expired or not. */
function allRows(evidence: Evidence, table: TableName): readonly LooseRow[] {
  const last = evidence.revisions.at(-1)
  return last === undefined ? [] : rowsThen(evidence, table, last.sequence)
}

const rowsThen = ({ history }: Evidence, table: TableName, sequence: number): readonly LooseRow[] => [
  ...(history.everythingAt(sequence).get(table)?.values() ?? []),
]

/** I1: an acknowledgement names an object that is there, unchanged, and that says what the caller said. */
export function checkAcknowledged({ oracle, ledger }: Evidence): string[] {
  const problems: string[] = []
  for (const { by, events, kind, head } of oracle.acks) {
    const segment = ledger.get(segmentName(head.name))
    if (segment === undefined || !isGeneration(segment, head.generation) || segment.head.crc32c !== head.crc32c) {
      problems.push(`I1 ${head.name} was acknowledged to ${by} and is gone or another.`)
      continue
    }
    const stored = (segment.batches ?? []).flat()
    const pairs = new Set(stored.map(pairOf))
    const ids = new Set(stored.map(({ event_id }) => event_id))
    for (const event of events) {
      if (!pairs.has(pairOf(event))) problems.push(`I1 ${event.idempotency_key} was acknowledged to ${by} in ${head.name}, which lacks it.`)
      else if (kind === 'appended' && !ids.has(event.event_id))
        problems.push(`I1 ${event.event_id} was acknowledged as appended in ${head.name}, which holds somebody else's.`)
    }
  }
  for (const { name, generation } of oracle.ledger.values()) {
    if (!isGeneration(ledger.get(segmentName(name)), generation)) problems.push(`I19 ${name} is gone or another generation.`)
  }
  return problems
}

/** A pack says nothing of the generation that the object had. */
const isGeneration = (segment: StoredSegment | undefined, generation: string): boolean =>
  segment?.head.generation === generation || segment?.head.generation === PACKED

/** I2, I3: each folded event was counted once, and under one outcome. */
export function checkOutcomes(evidence: Evidence): string[] {
  const { ledger, revisions, foldedAt } = evidence
  const problems: string[] = []
  const times = new Map<string, number>()
  for (const { segments, counts, sequence } of revisions) {
    let entries = 0
    for (const { name, count } of segments) {
      times.set(name, (times.get(name) ?? 0) + 1)
      const segment = ledger.get(name)
      if (segment === undefined) problems.push(`I2 Revision ${sequence} folded ${name}, which is not in the ledger.`)
      // What nobody can read counts as one.
      const isWhole = segment?.batches === undefined || count < segment.batches.flat().length
      entries += isWhole ? count : segment.batches.flat().length
    }
    const accounted = counts.applied + counts.duplicate + counts.refused + counts.quarantined
    if (entries !== accounted)
      problems.push(`I2 The segments of revision ${sequence} hold ${entries} events, it accounts for ${accounted}.`)
  }
  for (const [name, count] of times) if (count > 1) problems.push(`I3 Segment ${name} was folded ${count} times.`)
  const newest = revisions.at(-1)
  const keys = allRows(evidence, 'idempotency_keys')
  const applied = newest?.applied_total ?? 0
  // Where no key was forgotten and used again, there is one row for each event that was applied.
  if (keys.length !== applied && !isOlderThanKeys(evidence))
    problems.push(`I3 ${applied} events were applied, and ${keys.length} keys are known.`)
  problems.push(...checkRefusedOnce(evidence, keys))
  if (times.size !== foldedAt.size) problems.push('I2 The account of folded segments does not add up.')
  return problems
}

/** By the first segment and not by the revision that folded it: one turn may fold what came in weeks. */
const isOlderThanKeys = ({ revisions }: Evidence): boolean => {
  const [first, last] = [revisions.flatMap(({ segments }) => segments)[0], revisions.at(-1)]
  if (first === undefined || last === undefined) return false
  // The shortest that anybody may set.
  return instantMs(last.fold_time) - stampMs(first.creation_time) > 168 * 3_600_000
}

/** I2: what was refused was not applied as well, unless it is in the ledger twice and was judged twice. */
function checkRefusedOnce(evidence: Evidence, keys: readonly LooseRow[]): string[] {
  const appliedIds = new Set(keys.map(({ event_id }) => event_id))
  const copies = new Map<string, number>()
  for (const { batches } of evidence.ledger.values()) {
    for (const { event_id } of (batches ?? []).flat()) if (event_id !== undefined) copies.set(event_id, (copies.get(event_id) ?? 0) + 1)
  }
  return allRows(evidence, 'refusals')
    .filter(({ event_id }) => appliedIds.has(event_id) && copies.get(String(event_id)) === 1)
    .map(({ event_id }) => `I2 Event ${String(event_id)} was both refused and applied.`)
}

/** I8: a run key has one run, the first that was applied; another request for it leaves a conflict. */
export function checkRunKeys(evidence: Evidence): string[] {
  const { ledger, revisions } = evidence
  const problems: string[] = []
  const appliedIds = new Set(allRows(evidence, 'idempotency_keys').map(({ event_id }) => event_id))
  const holders = new Map<string, { readonly run_id: unknown; readonly fingerprint: unknown }>()
  const conflicts = new Set<string>()
  for (const { segments } of revisions) {
    for (const { name } of segments) {
      for (const { event_type, event_id, payload } of (ledger.get(name)?.batches ?? []).flat()) {
        if (event_type !== 'RunRequested' || payload === undefined) continue
        const { run_key, run_id, request_fingerprint: fingerprint } = payload
        const holder = holders.get(String(run_key))
        if (holder === undefined) {
          if (appliedIds.has(event_id)) holders.set(String(run_key), { run_id, fingerprint })
        } else if (holder.fingerprint !== fingerprint) conflicts.add(`${String(run_key)} ${String(fingerprint)}`)
      }
    }
  }
  if (isOlderThanKeys(evidence)) return []
  const runs = new Map(allRows(evidence, 'runs').map((run) => [String(run['run_key']), run]))
  if (allRows(evidence, 'runs').length !== runs.size) problems.push('I8 Two runs have one run key.')
  for (const [run_key, { run_id }] of holders) {
    if (runs.get(run_key)?.['run_id'] !== run_id) problems.push(`I8 The run key ${run_key} does not belong to the run that asked first.`)
  }
  if (runs.size !== holders.size) problems.push(`I8 There are ${runs.size} runs for ${holders.size} run keys.`)
  const recorded = new Set(
    allRows(evidence, 'run_key_conflicts').map((row) => `${String(row['run_key'])} ${String(row['conflicting_fingerprint'])}`),
  )
  for (const conflict of conflicts) if (!recorded.has(conflict)) problems.push(`I8 The conflict ${conflict} has no row.`)
  for (const conflict of recorded) if (!conflicts.has(conflict)) problems.push(`I8 The conflict row ${conflict} has no event.`)
  return problems
}

/** I11: an event that names its cause in the same batch became visible with it. */
export function checkCauses(evidence: Evidence): string[] {
  const applied = new Map(allRows(evidence, 'idempotency_keys').map(({ event_id, row_version }) => [String(event_id), row_version]))
  // As it was then: a key that has expired may come again, and names another event, or another revision for the same one.
  // Where that happens within one revision, which may fold months at once, the row names the later event.
  const appliedThen = ({ event_id: cause, idempotency_key: key }: StoredEvent, sequence: number) => {
    const rows = rowsThen(evidence, 'idempotency_keys', sequence)
    return (rows.find(({ event_id }) => event_id === cause) ?? rows.find(({ idempotency_key }) => idempotency_key === key))?.row_version
  }
  const problems: string[] = []
  for (const { batches } of evidence.ledger.values()) {
    for (const batch of batches ?? []) {
      for (const { event_id = '', causation_id } of batch) {
        const cause = batch.find((other) => other.event_id === causation_id)
        const visible = applied.get(event_id)
        if (cause === undefined || causation_id === undefined || visible === undefined) continue
        const causeVisible = appliedThen(cause, visible) ?? applied.get(causation_id)
        if (causeVisible !== visible) {
          problems.push(`I11 ${event_id} is visible since revision ${visible}, its cause since ${causeVisible ?? 'never'}.`)
        }
      }
    }
  }
  return problems
}

/** I13: whoever claims an instant shows everything that was acknowledged before it. */
export function checkClaims({ oracle, revisions, foldedAt }: Evidence): string[] {
  const ofRevisions = revisions
    .filter(({ segments }) => segments.length > 0)
    .map(({ sequence, watermarks }) => ({ by: `revision ${sequence}`, before: instantMs(watermarks.last_processed_at), sequence }))
  const acks = oracle.acks.map(({ at, head }) => ({ at, name: segmentName(head.name), sequence: foldedAt.get(segmentName(head.name)) }))
  const problems: string[] = []
  for (const { by, before, sequence, besides } of [...ofRevisions.map((one) => ({ ...one, besides: undefined })), ...oracle.claims]) {
    const isSeen = (ack: (typeof acks)[number]) => (ack.sequence ?? Number.POSITIVE_INFINITY) <= sequence || besides?.includes(ack.name)
    const hidden = acks.find((ack) => ack.at < before && !isSeen(ack))
    if (hidden === undefined) continue
    problems.push(
      `I13 ${by} claims ${new Date(before).toISOString()} with revision ${sequence}, but ${hidden.name}, acknowledged at ` +
        `${new Date(hidden.at).toISOString()}, was folded by ${hidden.sequence === undefined ? 'nobody' : `revision ${hidden.sequence}`}.`,
    )
  }
  return problems
}

/** I14: the ledger is what was folded and a tail. */
export function checkSetSum({ ledger, revisions, foldedAt }: Evidence): string[] {
  const folded = [...ledger.values()].filter(({ name }) => foldedAt.has(name)).map(({ name, head }) => `${name}:${head.crc32c}`)
  const recorded = revisions.at(-1)?.set_sum ?? setSumOf([])
  return recorded === setSumOf(folded)
    ? []
    : ['I14 The set-sum of the newest revision is not that of the segments that it says were folded.']
}

/** Byte by byte with a carry, and nothing of what the product adds with: whatever that does wrong, both would do. */
function setSumOf(members: readonly string[]): string {
  const sum = new Uint8Array(32)
  for (const member of members) {
    const digest = createHash('sha256').update(member).digest()
    let carry = 0
    for (let at = sum.length - 1; at >= 0; at--) {
      carry += (sum[at] as number) + (digest[at] as number)
      sum[at] = carry % 256
      carry = carry >> 8
    }
  }
  return Buffer.from(sum).toString('hex')
}
