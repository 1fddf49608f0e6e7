// A deploy is taken as a whole or not at all, so all of its parts are judged before any of them is folded. Each noun judges its own.

import type { EventOf, LedgerEvent } from '../../events/event.js'
import { locationVersion, staleLocation } from '../asset.js'
import { type Refusal, refusal } from '../outcome.js'
import type { WorkingSet } from '../working-set.js'
import type { BatchJudge, DeployedLocations, DeployJudge } from './event-fold.js'

export const deployJudge = (nouns: readonly DeployJudge[]): BatchJudge => ({
  types: new Set(['CodeLocationDeployed'] as const),
  judge(rows, batch) {
    const faults = faultsOf(nouns, rows, batch)
    return faults.size === 0 ? undefined : (_event, index) => faults.get(index) ?? refusal('TRIGGER_NOT_APPLIED')
  },
})

/** By their place in the batch. */
function faultsOf(
  nouns: readonly DeployJudge[],
  rows: WorkingSet,
  batch: readonly (LedgerEvent | undefined)[],
): ReadonlyMap<number, Refusal> {
  const faults = new Map<number, Refusal>()
  const locations = locationJudge(rows)
  const judges = [locations, ...nouns.map((judgeOf) => judgeOf(rows, locations))]
  for (const [index, event] of batch.entries()) {
    if (event === undefined) continue
    for (const { judge } of judges) {
      const fault = judge(event)
      if (fault !== undefined) faults.set(index, fault)
    }
  }
  return faults
}

function locationJudge(rows: WorkingSet): DeployedLocations & ReturnType<DeployJudge> {
  // What the parts before would have changed: the batch is judged as it would be folded.
  const versions = new Map<string, number>()
  const versionOf = (location_name: string): number => versions.get(location_name) ?? locationVersion(rows, location_name)

  function deploy({ payload: { location_name }, basis }: EventOf<'CodeLocationDeployed'>): Refusal | undefined {
    const version = versionOf(location_name)
    if (basis.expected_location_version !== version) return staleLocation(location_name, version)
    versions.set(location_name, version + 1)
    return undefined
  }

  return { versionOf, judge: (event) => (event.event_type === 'CodeLocationDeployed' ? deploy(event) : undefined) }
}
