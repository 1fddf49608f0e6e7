// How many tasks a second go from request to success, where many runs are asked for at once.

import type { Asset } from '../../src/sdk/dependency.js'
import type { Report } from '../report.js'
import { type Measured, withSystem } from './system.js'

/** Two and a half layers of eight: each task of a layer needs one of the layer before. */
const WIDTH = 8
const SIZE = 20
const RUNS = 100
const QUICK_RUNS = 25

export type Load = {
  readonly name: string
  readonly target: string
  readonly slots: number
  readonly is_quick: boolean
  readonly make: (key: string, deps: readonly string[], index: number) => Asset
  /** What there is besides, as the set-up says it. */
  readonly with?: string
  /** Called before the first run is asked for. */
  readonly prepare?: (system: Measured) => Promise<void>
  /** Other members of the i-th request. */
  readonly request?: (run: number) => object
}

export async function measureThroughput(report: Report, load: Load): Promise<void> {
  const { name, target, slots } = load
  const runs = load.is_quick ? QUICK_RUNS : RUNS
  const keys = Array.from({ length: SIZE }, (_, i) => `t${i}`)
  const assets = keys.map((key, i) => load.make(key, i < WIDTH ? [] : [keys[i - WIDTH] as string], i))
  await withSystem(assets, slots, async (system) => {
    await load.prepare?.(system)
    const began = performance.now()
    const ids = await Promise.all(Array.from({ length: runs }, (_, run) => system.request(['*'], load.request?.(run))))
    for (const run_id of ids) await system.untilOver(run_id)
    const seconds = (performance.now() - began) / 1_000
    const asked = `${runs} runs of ${SIZE} tasks, ${WIDTH} wide, asked for at once, ${slots} slots, in ${seconds.toFixed(1)} s`
    report.add({
      name,
      value: (runs * SIZE) / seconds,
      unit: '1/s',
      target,
      setup: load.with === undefined ? asked : `${asked}; ${load.with}`,
    })
  })
}
