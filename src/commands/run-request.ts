// A request for a run, from API and CLI: what is selected is looked up now and written down key by key, so that nothing
// that is deployed later changes what was asked for.

import { userRunKey } from '../core/keys.js'
import { INLINE_KEYS_MAX, PRIORITY_DEFAULT } from '../core/limits.js'
import { runId } from '../core/run-id.js'
import type { Secrets } from '../core/token.js'
import type { Draft } from '../events/draft.js'
import type { Assets, Selector } from '../events/value.js'
import { writeList } from '../ledger/lists.js'
import { selectAssets } from '../projections/asset-selection.js'
import { type RunSpec, requestDraft } from '../projections/run-request.js'
import { readAssetGraph } from '../readers/assets.js'
import type { View } from '../readers/reader.js'
import type { WriteOnce } from '../storage/write-once.js'
import { type By, by } from './by.js'
import { type Problem, problem } from './problem.js'
import { claimRunKey, type RunRequestedDraft } from './run-key-claim.js'
import { type AskedPartitions, canonicalPartitions, partitionFaults, writePartitions } from './run-partitions.js'
import type { Submit } from './submit.js'

export type RunAsked = By & {
  readonly selection: readonly string[]
  readonly partitions?: AskedPartitions | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  readonly run_key?: string | undefined
  readonly priority?: number | undefined
}

export type RunDeps = Pick<Submit, 'scope'> & WriteOnce & { readonly secrets: Secrets }

export type RunPlanned = {
  /** The request itself comes last. Before it, where the key was claimed for another request, that one: the claim may outlive
   *  a process that never appended it, and the run that the answer names has to be there. */
  readonly drafts: readonly Draft[]
  readonly run_id: string
  readonly run_key: string
  readonly asset_count: number
  /** Another request holds the key already. */
  readonly conflict: Problem | undefined
}

/** `request_id` names the run where the requester chose no key of their own. `now`: which partitions exist. */
export async function planRunRequest(
  deps: RunDeps,
  view: View | undefined,
  asked: RunAsked,
  { request_id, now }: { readonly request_id: string; readonly now: number },
): Promise<RunPlanned | Problem> {
  if (view === undefined) return problem('bad-input', 'No asset is defined yet. Deploy a code location first.')
  const graph = await readAssetGraph(view)
  const { asset_keys, faults } = selectAssets(graph, asked.selection)
  const definitions = asset_keys.flatMap((asset_key) => graph.definitions.get(asset_key) ?? [])
  const instant = { requested_at: now, partition_end_offset: null }
  const all = [...faults, ...(faults.length > 0 ? [] : partitionFaults(asked.partitions, definitions, instant))]
  if (all.length > 0) return problem('bad-input', all.map(({ message }) => message).join(' '), { faults: all })

  const run_key = userRunKey(asked.run_key ?? request_id)
  return writeRunRequest(deps, view, {
    ...asked,
    partitions: canonicalPartitions(asked.partitions, definitions),
    asset_keys,
    run_key,
    is_key_claimed: asked.run_key !== undefined,
    origin: { trigger: { type: 'MANUAL' } },
  })
}

/** What is known of a run once its selection was looked up and found right. */
type RunSelected = Omit<RunAsked, 'selection' | 'run_key'> & {
  readonly asset_keys: readonly string[]
  /** With its namespace. */
  readonly run_key: string
  /** A key that other requests may have, at this moment and by another process, is claimed before the append. */
  readonly is_key_claimed: boolean
  readonly origin: RunSpec['origin']
}

export async function writeRunRequest(deps: RunDeps, view: View, asked: RunSelected): Promise<RunPlanned> {
  const { asset_keys, run_key } = asked
  const assets = await writeAssets(deps, asset_keys)
  const partitions = await writeSelector(deps, asked.partitions)
  const row = await view.row('run_key_index', [run_key])
  const [secret] = deps.secrets
  const draft: RunRequestedDraft = requestDraft(
    {
      run_key,
      asset_keys,
      assets,
      partitions,
      tags: asked.tags ?? {},
      priority: asked.priority ?? PRIORITY_DEFAULT,
      origin: { ...asked.origin, ...by(asked) },
    },
    // A request that is repeated after the secret changed is one for the run that is there, under the id that it has.
    { secret_key_id: secret.secret_key_id, runIdOf: () => row?.run_id ?? runId(secret, deps.scope, run_key) },
  )
  const { run_id, request_fingerprint } = draft.payload
  const planned = { run_key, asset_count: asset_keys.length }
  if (row !== undefined || !asked.is_key_claimed) {
    const isOther = row !== undefined && row.request_fingerprint !== request_fingerprint
    return { ...planned, drafts: [draft], run_id, conflict: isOther ? runKeyConflict(run_key, run_id) : undefined }
  }
  const holder = await claimRunKey(deps, draft)
  if (holder.payload.request_fingerprint === request_fingerprint) {
    return { ...planned, drafts: [holder], run_id: holder.payload.run_id, conflict: undefined }
  }
  return { ...planned, drafts: [holder, draft], run_id: holder.payload.run_id, conflict: runKeyConflict(run_key, holder.payload.run_id) }
}

const USER_NAMESPACE = /^user:/

/** The key is named as its requester wrote it. */
export const runKeyConflict = (run_key: string, run_id: string): Problem =>
  problem(
    'run-key-conflict',
    `The run key ${JSON.stringify(run_key.replace(USER_NAMESPACE, ''))} belongs to run ${run_id}, which was asked for with other assets, partitions or tags. ` +
      'That run stands, and this request is recorded as a conflict. Choose another key, or ask for the same.',
    { members: { run_id } },
  )

async function writeAssets(deps: WriteOnce, asset_keys: readonly string[]): Promise<Assets> {
  return asset_keys.length <= INLINE_KEYS_MAX ? { keys: asset_keys } : { list: await writeList(deps, asset_keys) }
}

async function writeSelector(deps: WriteOnce, asked: AskedPartitions | undefined): Promise<Selector> {
  const written = writePartitions(asked)
  return 'selector' in written ? written.selector : { list: await writeList(deps, written.long_list) }
}
