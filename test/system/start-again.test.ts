// `npm start` again and again, as somebody does who works on the quickstart: what failed is tried once more, and what
// is new is run.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { makeCheckout } from '../fixtures/checkout.js'
import { freePorts, type Started, start, untilSaid } from '../fixtures/started.js'

const TIMEOUT_MS = 240_000
const DONE = 'Ctrl-C stops everything'

const checkout = makeCheckout()
const running: Started[] = []
afterAll(async () => {
  for (const one of running) await one.interrupt()
  checkout.remove()
}, TIMEOUT_MS)

const edit = (path: string, change: (text: string) => string) => {
  const file = join(checkout.folder, path)
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}
const runsIn = (text: string, state: string) =>
  [...text.matchAll(/Run (run_[a-z2-7]+) (SUCCEEDED|FAILED)/g)].filter(([, , is]) => is === state).map(([, id]) => id)

test(
  'a run that failed is tried again, and an added asset is run',
  async () => {
    const data = join(checkout.folder, '.servo')
    const ports = await freePorts()
    const output = async (): Promise<string> => {
      const one = start(data, ports, checkout.folder)
      running.push(one)
      await untilSaid(one, DONE)
      expect(await one.interrupt()).toBe(0)
      return one.output()
    }

    edit('examples/quickstart/data/products.csv', (text) => text.replace(/,(\d+)\.(\d\d)$/m, ',$1'))
    const failed = await output()
    expect(failed).toContain('The quickstart was not materialized')
    const [failed_run_id] = runsIn(failed, 'FAILED')

    edit('examples/quickstart/data/products.csv', (text) => text.replace(/,(\d+)$/m, ',$1.00'))
    const mended = await output()
    expect(mended).toContain(`Run ${failed_run_id} did not succeed before: this is attempt 2.`)
    expect(mended).toContain('The quickstart is materialized')
    const [mended_run_id] = runsIn(mended, 'SUCCEEDED')
    expect(mended_run_id).not.toBe(failed_run_id)

    edit('examples/quickstart/pipeline.ts', (text) =>
      text
        .replace('dailyRevenue, report]', 'dailyRevenue, report, added]')
        .replace(
          'export const quickstart',
          "const added = asset({ key: 'shop.added', deps: [report], run: async () => undefined })\n\nexport const quickstart",
        ),
    )
    const extended = await output()
    expect(extended).toContain('+ shop.added')
    expect(extended).toContain('shop.added SUCCEEDED')
    expect(runsIn(extended, 'SUCCEEDED')).not.toEqual([mended_run_id])
  },
  TIMEOUT_MS,
)
