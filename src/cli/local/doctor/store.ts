// The store: whether it answers, what is published there, and how far its clock is from this machine's. It only looks.

import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { openDeps, openReader, storeFault, type WorkspaceConfig } from '../../../bin/deps.js'
import { listDamagedFiles } from '../../../compactor/damaged-files.js'
import { isOperatingError, messageOf } from '../../../core/errors.js'
import { CREATION_SKEW_MS_MAX } from '../../../core/limits.js'
import { agoText, durationText } from '../../moments.js'
import { type Finding, fail, ok, warn } from './finding.js'

type StorePlace = Pick<WorkspaceConfig, 'store' | 'tenant_id' | 'workspace_id' | 'gcs_endpoint'>

const LOCAL = 'local:'
/** Far below what makes appends fail, and above what a network does to a measurement. */
const SKEW_WARN_MS = 5_000

export async function checkStore(place: StorePlace): Promise<readonly Finding[]> {
  const fault = storeFault(place.store)
  if (fault !== undefined) return [fail('store', fault, 'Set SERVO_STORE, or give --store.')]
  const rights = await checkWritable(place.store)
  const folder = folderOf(place.store)
  if (folder !== undefined && !existsSync(folder)) return [warn('store', `${folder} is not there yet`, NOT_YET), rights]
  return [...(await lookInside(place)), rights]
}

const NOT_YET = 'The first write makes it: `servo dev` or `servo api`. If it should be there, give its place with --store or SERVO_STORE.'

const folderOf = (store: string): string | undefined => (store.startsWith(LOCAL) ? resolve(store.slice(LOCAL.length)) : undefined)

async function lookInside(place: StorePlace): Promise<readonly Finding[]> {
  try {
    const deps = await openDeps({ ...place, access: 'read' })
    try {
      const asked_at = Date.now()
      const { server_time } = await deps.store.list('', undefined)
      const skew = skewFinding('store clock', deps.store.now?.() ?? server_time, asked_at, Date.now())
      // Only a folder answers that a file is damaged.
      const damage = folderOf(place.store) === undefined ? [] : damageFindings(await listDamagedFiles(deps.store))
      const view = await openReader(deps).latest()
      const where = deps.store.label
      if (view === undefined) return [ok('store', `${where} answers; nothing is published there yet`), skew, ...damage]
      const published_at = Date.parse(view.snapshot.revision.published_at)
      return [
        ok('store', `${where} answers; revision ${view.sequence} was published ${agoText(published_at, Date.now())}`),
        skew,
        ...damage,
      ]
    } finally {
      await deps.close()
    }
  } catch (error) {
    if (isOperatingError(error, 'corrupt')) {
      return [
        fail(
          'store',
          `${place.store} answers, and what it has is damaged: ${messageOf(error)}`,
          'Run `servo ledger verify`: it names all that is damaged, and what to do about each.',
        ),
      ]
    }
    return [
      fail('store', `${place.store} does not answer: ${messageOf(error)}`, 'Check the path or the bucket, its rights, and the network.'),
    ]
  }
}

function damageFindings([first, ...others]: readonly string[]): readonly Finding[] {
  if (first === undefined) return []
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return [warn('store files', `${first}${more} cannot be read, as a crash of the machine may leave a file`, MEND_FILES)]
}

const MEND_FILES =
  '`servo ledger compact --filters` rebuilds what ends in .bloom. Restore other files from a copy: `servo ledger verify` names each that is needed.'

/** The answer was made somewhere between the question and its arrival: what the middle may be wrong by is no skew. */
export function skewFinding(check: string, server_ms: number, asked_ms: number, answered_ms: number): Finding {
  const slack = (answered_ms - asked_ms) / 2
  const skew = Math.max(0, Math.abs(server_ms - (asked_ms + slack)) - slack)
  const text = skew < 1_000 ? 'within a second of this machine' : `${durationText(skew)} from this machine's`
  const mend = 'Let the clock follow the network (NTP): `timedatectl set-ntp true`, or what your system has for it.'
  if (skew >= CREATION_SKEW_MS_MAX) return fail(check, `its clock is ${text}: appends would be refused`, mend)
  return skew >= SKEW_WARN_MS ? warn(check, `its clock is ${text}`, mend) : ok(check, `its clock is ${text}`)
}

async function checkWritable(store: string): Promise<Finding> {
  const folder = folderOf(store)
  if (folder === undefined) return ok('store rights', 'not tried: a look writes nothing; the first deploy shows it')
  const nearest = await nearestThere(folder)
  try {
    await access(nearest, constants.W_OK)
    return ok('store rights', nearest === folder ? `${folder} may be written to` : `${folder} is not there yet, and can be made`)
  } catch {
    return fail(
      'store rights',
      `${nearest} may not be written to by this user`,
      `Give this user the right to write there: chown or chmod ${nearest}`,
    )
  }
}

async function nearestThere(folder: string): Promise<string> {
  for (let each = folder; ; each = dirname(each)) {
    const isThere = await access(each).then(
      () => true,
      () => false,
    )
    if (isThere || each === dirname(each)) return each
  }
}
