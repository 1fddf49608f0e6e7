// Which runs a filter means: people name a schedule, and runs have its id.

import type { View } from '../readers/reader.js'
import type { RunFilter } from '../readers/runs.js'
import { SCHEDULE_READS } from '../readers/schedules.js'
import { orRefuse } from './problems.js'

type AskedFilter = Omit<RunFilter, 'schedule_id'> & { readonly schedule?: string | undefined }

/** A name that no schedule has is a mistake, and not a filter without results. */
export async function openRunFilter(view: View | undefined, { schedule, ...filter }: AskedFilter): Promise<RunFilter> {
  if (schedule === undefined) return filter
  const { definition } = orRefuse(await SCHEDULE_READS.find(view, schedule))
  return { ...filter, schedule_id: definition.schedule_id }
}
