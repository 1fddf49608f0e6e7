// What the worker of a soak serves: twenty assets in two and a half layers of eight, by the hour, whose code does nothing. It
// is loaded as a user's module is, so it imports none of ours.

import { asset, defineCodeLocation, hourly } from 'servo'

const WIDTH = 8
const SIZE = 20

/** Hours to ask for: each run takes the next one, so that every partition is a new row. */
export const FIRST_HOUR = '1990-01-01'

const keys = Array.from({ length: SIZE }, (_, index) => `soak.t${String(index).padStart(2, '0')}`)

const assets = keys.map((key, index) =>
  asset({
    key,
    deps: index < WIDTH ? [] : [keys[index - WIDTH] as string],
    partitions: hourly({ start_date: FIRST_HOUR }),
    run: () => undefined,
  }),
)

export const location = defineCodeLocation({ name: 'bench', assets })

/** Of one run: RunRequested, PlanCreated, and of each task DispatchRequested, TaskStarted and TaskFinished. */
export const TASKS_PER_RUN = SIZE
export const EVENTS_PER_RUN = 2 + 3 * SIZE
