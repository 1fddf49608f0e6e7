// What a key costs that is nowhere: new idempotency keys among a week of hours, with filters over finished days and without;
// new run ids after years of cold days.

import { DAY_MS, floorTo, HOUR_MS, instantText } from '../../src/core/time.js'
import type { RowKey, TableName } from '../../src/projections/tables.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { buildFilter } from '../../src/tables/bloom.js'
import { lookupCold } from '../../src/tables/cold/find.js'
import { type ColdPart, encodeColdList } from '../../src/tables/cold/list.js'
import { createFilterCache, type FilterCache, lookupRows } from '../../src/tables/lookup.js'
import type { ColdList, Part } from '../../src/tables/revision.js'
import { median, type Report } from '../report.js'
import { STORY_START } from '../workspace.js'

const HOURS = 168
const KEYS_ASKED = 1_000
const RUNS_ASKED = 50
const ROUNDS = 9
/** Nothing is in the files: what a filter lets through costs a look-up, which is counted. */
const NO_FILES = { lookup: async () => [] }

type Counted = { readonly filters: FilterCache; readonly counts: { opened: number; asked: number } }

function countedFilters(store: ObjectStore): Counted {
  const counts = { opened: 0, asked: 0 }
  const get: ObjectStore['get'] = (name) => {
    counts.opened += 1
    return store.get(name)
  }
  const cache = createFilterCache({ store: { ...store, get } })
  const filters: FilterCache = (part) => {
    counts.asked += 1
    return cache(part)
  }
  return { filters, counts }
}

export async function benchFilters(report: Report, is_quick: boolean): Promise<void> {
  await benchKeys(report, is_quick ? 250 : 25_800)
  await benchRuns(report, is_quick ? 100 : 10_000)
}

async function benchKeys(report: Report, keys_an_hour: number): Promise<void> {
  const store = createMemoryStore({ clock: Date })
  const start = floorTo(STORY_START, DAY_MS)
  const parts: Part[] = []
  for (let day = 0; day * 24 < HOURS; day++) {
    const keys: string[] = []
    for (let hour = day * 24; hour < (day + 1) * 24; hour++) {
      const own = Array.from({ length: keys_an_hour }, (_, i) => `task_finished:${hour}:${i}`)
      keys.push(...own)
      const filter = `hour-${hour}.bloom`
      await store.put(filter, buildFilter(own), { if_generation: CREATE })
      const period = start + hour * HOUR_MS
      parts.push({ ...partOf(filter, keys_an_hour), period, ...(day < 6 ? { day_filter: `day-${day}.bloom` } : {}) })
    }
    await store.put(`day-${day}.bloom`, buildFilter(keys), { if_generation: CREATE })
  }
  for (const isByDay of [false, true]) {
    const { filters, counts } = countedFilters(store)
    const asked = isByDay ? parts : parts.map(({ day_filter: _day_filter, ...part }) => part)
    const ms = await medianOf(async (round) => {
      const keys: RowKey[] = Array.from({ length: KEYS_ASKED }, (_, i) => [`task_finished:new:${round}:${i}`])
      await lookupRows({ files: NO_FILES, table: 'idempotency_keys', parts: asked, filters, overlay: () => undefined }, keys)
    })
    const how = isByDay ? 'six finished days with a filter each' : 'hours alone'
    const setup = `${HOURS} hours of ${keys_an_hour} keys, ${how}; ${counts.opened} filters opened, ${counts.asked / ROUNDS} asked a round`
    report.add({ name: isByDay ? 'absent_keys_by_day_ms' : 'absent_keys_by_hour_ms', value: ms, unit: 'ms', target: '', setup })
  }
}

async function benchRuns(report: Report, runs_a_month: number): Promise<void> {
  for (const months of [1, 12, 60]) {
    const store = createMemoryStore({ clock: Date })
    const lists: ColdList[] = []
    for (let month = 0; month < months; month++) {
      const filter = `month-${month}.bloom`
      const keys = Array.from({ length: runs_a_month }, (_, i) => `run_${month}_${i}`)
      await store.put(filter, buildFilter(keys), { if_generation: CREATE })
      const day = instantText(STORY_START + month * 31 * DAY_MS).slice(0, 10)
      const held: ColdPart[] = [{ ...partOf(filter, runs_a_month), day }]
      const { name, bytes } = encodeColdList(held)
      await store.put(name, bytes, { if_generation: CREATE })
      lists.push({ name, day_min: day, day_max: day, parts: 1, rows: runs_a_month, bytes: 0, times: {}, filters: [filter] })
    }
    const { filters, counts } = countedFilters(store)
    const table: TableName = 'runs'
    const source = { store, files: NO_FILES, checkpoint: { cold: new Map([[table, lists]]) }, filters, table }
    const ms = await medianOf(async (round) => {
      await lookupCold(
        source,
        Array.from({ length: RUNS_ASKED }, (_, i) => [`run_new_${round}_${i}`]),
      )
    })
    const setup = `${RUNS_ASKED} ids, ${months} months of ${runs_a_month} runs; ${counts.opened} filters opened, ${Math.round((months * runs_a_month * 3) / 1_024)} KB`
    report.add({ name: `absent_runs_${months}_months_ms`, value: ms, unit: 'ms', target: '', setup })
  }
}

const partOf = (filter: string, rows: number): Part => ({
  name: filter.replace('.bloom', '.parquet'),
  level: 1,
  rows,
  bytes: 0,
  crc32c: '00000000',
  min_key: [''],
  max_key: ['\uffff'],
  times: {},
  filter,
  period: null,
})

/** The first round opens the filters, and is not counted. */
async function medianOf(work: (round: number) => Promise<void>): Promise<number> {
  const took: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    await work(round)
    took.push(performance.now() - began)
  }
  return median(took.slice(1))
}
