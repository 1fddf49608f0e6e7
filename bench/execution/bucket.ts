// How many short tasks a second a location of a few slots gets through on a bucket, where one publish a second is all there is.

import { asset } from '../../src/sdk/asset.js'
import { startFakeGcs } from '../../test/fixtures/fake-gcs.js'
import type { Report } from '../report.js'
import { withSystem } from '../run/system.js'
import type { SuiteOptions } from '../truth/options.js'

const SLOTS = 4
/** Tasks of a run: none of them waits for another, so that slots and publishes are all that holds them up. */
const WIDTH = 20
const RUNS = 50
const QUICK_RUNS = 10

export async function measureBucket(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const runs = is_quick ? QUICK_RUNS : RUNS
  const assets = Array.from({ length: WIDTH }, (_, i) => asset({ key: `t${i}`, deps: [], run: async () => undefined }))
  const gcs = await startFakeGcs()
  try {
    const environment = { SERVO_STORE: `gs://${gcs.bucket}`, STORAGE_EMULATOR_HOST: gcs.endpoint }
    const run = async (system: Parameters<Parameters<typeof withSystem>[2]>[0]) => {
      const began = performance.now()
      const ids = await Promise.all(Array.from({ length: runs }, () => system.request(['*'])))
      for (const run_id of ids) await system.untilOver(run_id)
      const seconds = (performance.now() - began) / 1_000
      report.add({
        name: 'bucket_tasks_per_s',
        value: (runs * WIDTH) / seconds,
        unit: '1/s',
        target: '>= 40',
        setup: `${runs} runs of ${WIDTH} tasks that do nothing and need nothing, asked for at once, ${SLOTS} slots, in ${seconds.toFixed(1)} s; fake-gcs-server in memory, one publish a second`,
      })
    }
    await withSystem(assets, SLOTS, run, { environment })
  } finally {
    await gcs.stop()
  }
}
