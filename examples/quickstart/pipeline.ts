// Five days of a tea shop: raw orders are cleaned, joined with the prices, and summed up in one report.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asset, daily, defineCodeLocation, lastComplete, type RunContext, schedule } from 'servo'

/** A partition for each day that there are orders of: 2025-01-01 to 2025-01-05. */
const days = daily({ start_date: '2025-01-01', end_date: '2025-01-06' })

const shop = { group: 'shop', owners: ['team-shop'], code_version: '1', timeout_seconds: 300 }
/** Files on a share are not always there at the first try. */
const retry = { max_attempts: 3, backoff_seconds: 5 }

export const products = asset({
  ...shop,
  key: 'shop.products',
  description: 'What the shop sells, and the price of one piece.',
  tags: { layer: 'raw' },
  deps: [],
  retry,
  run: async ({ attempt_id }) => {
    const rows = await readRows(input('products.csv'))
    const wrong = rows.find(([, , price]) => !/^\d+\.\d\d$/.test(price ?? ''))
    if (wrong !== undefined) throw permanent(`The price of ${wrong[0]} is "${wrong[2]}". Write it as 12.50 in products.csv.`)
    const path = await writeRows(output('products.csv'), ['product_id', 'name', 'price'], rows, attempt_id)
    return { row_count: rows.length, path }
  },
})

const isOrder = (row: Row): boolean => /^\d+,[a-z-]+,[1-9]\d*,[A-Z]{2}$/.test(row.join())

export const orders = asset({
  ...shop,
  key: 'shop.orders',
  description: 'The orders of a day, without the lines that are malformed.',
  tags: { layer: 'clean' },
  deps: [],
  partitions: days,
  retry,
  run: async (context) => {
    let row_count = 0
    let malformed_count = 0
    for (const day of daysOf(context)) {
      const rows = await readRows(input(`orders/${day}.csv`))
      const kept = rows.filter(isOrder)
      const malformed = rows.length - kept.length
      if (malformed > 0) context.logger.warn('Malformed lines were dropped.', { day, count: malformed })
      await writeRows(output(`orders/${day}.csv`), ['order_id', 'product_id', 'quantity', 'country'], kept, context.attempt_id)
      row_count += kept.length
      malformed_count += malformed
    }
    return { row_count, malformed_count, path: output('orders') }
  },
})

export const dailyRevenue = asset({
  ...shop,
  key: 'shop.daily_revenue',
  description: 'What each product earned on a day.',
  tags: { layer: 'mart' },
  deps: [products, orders],
  partitions: days,
  run: async (context) => {
    const [priceList] = context.upstream['shop.products']
    if (priceList === undefined) throw permanent('There are no prices yet. Run shop.products first.')
    const prices = new Map((await readRows(output('products.csv'))).map(([id, , price]) => [id, cents(price)]))
    const cleaned = new Set(context.upstream['shop.orders'].map(({ partition_key }) => partition_key))
    let total = 0
    for (const day of daysOf(context)) {
      if (!cleaned.has(day)) throw permanent(`There are no orders of ${day} yet. Run shop.orders for it first.`)
      const sold = new Map<string, number>()
      for (const [, id = '', quantity] of await readRows(output(`orders/${day}.csv`))) sold.set(id, (sold.get(id) ?? 0) + Number(quantity))
      const earned = [...sold].sort().map(([id, quantity]) => {
        const price = prices.get(id)
        if (price === undefined) throw permanent(`${id} was sold on ${day} and has no price. Add it to products.csv.`)
        total += price * quantity
        return [id, String(quantity), money(price * quantity)]
      })
      await writeRows(output(`daily_revenue/${day}.csv`), ['product_id', 'quantity', 'revenue'], earned, context.attempt_id)
    }
    context.logger.info(`${context.partitions.keys.length} days earned ${money(total)}.`)
    return { revenue: total / 100, price_list: priceList.materialization_id, path: output('daily_revenue') }
  },
})

export const report = asset({
  ...shop,
  key: 'shop.report',
  description: 'One line a day, and the product that earned most on it.',
  tags: { layer: 'mart' },
  deps: [dailyRevenue],
  run: async ({ attempt_id, upstream }) => {
    const done = upstream['shop.daily_revenue'].map(({ partition_key }) => partition_key).sort()
    if (done.length === 0) return { skip_reason: 'No day of shop.daily_revenue is there yet.' }
    const lines = await Promise.all(
      done.map(async (day) => {
        const rows = await readRows(output(`daily_revenue/${day}.csv`))
        const [best = '-'] = rows.toSorted(([, , left], [, , right]) => cents(right) - cents(left))[0] ?? []
        return [day, money(rows.reduce((sum, [, , revenue]) => sum + cents(revenue), 0)), best]
      }),
    )
    const path = await writeRows(output('report.csv'), ['day', 'revenue', 'best_product'], lines, attempt_id)
    return { row_count: lines.length, revenue: lines.reduce((sum, [, revenue]) => sum + cents(revenue), 0) / 100, path }
  },
})

/** Every minute, so that there is something to see. `npx servo schedule pause quickstart` lets it rest. */
const everyMinute = schedule({
  name: 'quickstart',
  description: 'The last day once more, and the report.',
  cron: '* * * * *',
  assets: '+shop.report',
  partitions: lastComplete(),
  overlap_policy: 'SKIP',
  max_catchup_ticks: 1,
})

export const quickstart = defineCodeLocation({
  name: 'quickstart',
  assets: [products, orders, dailyRevenue, report],
  schedules: [everyMinute],
})

/** The days of a task one by one: it says how far it is, and stops where it is asked to. */
function* daysOf({ partitions, heartbeat, signal }: RunContext<string, typeof days>): Generator<string> {
  for (const [done, day] of partitions.keys.entries()) {
    signal.throwIfAborted()
    heartbeat({ done, total: partitions.keys.length, message: day })
    yield day
  }
}

/** Another try would end in the same way, so none is made. */
const permanent = (message: string): Error => Object.assign(new Error(message), { retryable: false })

/** Sums are counted in cents: 0.1 + 0.2 is not 0.3. */
const cents = (price = ''): number => Math.round(Number(price) * 100)
const money = (amount: number): string => (amount / 100).toFixed(2)

type Row = readonly string[]

const input = (name: string): URL => new URL(`data/${name}`, import.meta.url)
const output = (name: string): string => join(process.env['SERVO_QUICKSTART_OUTPUT'] ?? '.servo/quickstart', name)

/** Without the head. No value here has a comma or a quote; where one may, use a library for CSV. */
async function readRows(path: URL | string): Promise<readonly Row[]> {
  const [, ...lines] = (await readFile(path, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => line.split(','))
}

/** Under a name of the attempt first: two attempts may overlap, and nobody reads half a file. */
async function writeRows(path: string, head: Row, rows: readonly Row[], attempt_id: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.${attempt_id}`, [head, ...rows].map((row) => `${row.join()}\n`).join(''))
  await rename(`${path}.${attempt_id}`, path)
  return path
}
