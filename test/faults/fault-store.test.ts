import { expect, test } from '@jest/globals'
import { isOperatingError } from '../../src/core/errors.js'
import { crc32cHex } from '../../src/core/hash.js'
import { MINUTE_MS } from '../../src/core/time.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { createRandom } from '../fixtures/random.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'
import {
  createFaultState,
  FAULTS,
  type Fault,
  type FaultRule,
  type FaultStoreOptions,
  faultStore,
  KilledError,
  POISONS,
  plantPoison,
  skewedClock,
  swarmOfFaults,
} from './fault-store.js'
import { createHints } from './hints.js'

const bytes = new TextEncoder().encode('hello')

function setUp(faults: readonly FaultRule[], options: Partial<FaultStoreOptions> = {}, seed: number | string = 1) {
  const time = createVirtualTime()
  const inner = createMemoryStore({ clock: { now: time.now }, page_size: 5 })
  const store = faultStore(inner, { actor: 'writer', random: createRandom(seed), clock: time.clock(), faults, ...options })
  return { time, inner, store }
}
const always = (fault: Fault, more: Partial<FaultRule> = {}): FaultRule[] => [{ fault, probability: 1, ...more }]
const create = (store: ObjectStore, name = 'a') => store.put(name, bytes, { if_generation: CREATE })
const isThere = async (store: ObjectStore, name = 'a') => (await store.head(name)).kind === 'found'
async function outcomeOf(promise: Promise<object>): Promise<string> {
  try {
    return ((await promise) as { readonly kind?: string }).kind ?? 'listed'
  } catch (error) {
    if (error instanceof KilledError) return 'killed'
    if (isOperatingError(error)) return error.kind
    throw error
  }
}
async function createdGeneration(store: ObjectStore): Promise<string> {
  const answer = await create(store)
  if (answer.kind !== 'stored') throw new Error(answer.kind)
  return answer.head.generation
}

test('without faults it is the store itself, with a log of what was asked', async () => {
  const { store } = setUp([])
  const if_generation = await createdGeneration(store)
  expect(await store.get('a')).toMatchObject({ kind: 'found', bytes })
  expect((await store.list('')).objects).toHaveLength(1)
  expect(await store.delete('a', { if_generation })).toEqual({ kind: 'deleted' })
  expect(store.state.calls.map(({ number, actor, operation, name }) => [number, actor, operation, name])).toEqual([
    [1, 'writer', 'put', 'a'],
    [2, 'writer', 'get', 'a'],
    [3, 'writer', 'list', ''],
    [4, 'writer', 'delete', 'a'],
  ])
})

test('F1: a call that fails before it is applied leaves nothing', async () => {
  const { store, inner } = setUp(always('fail_before'))
  expect(await outcomeOf(create(store))).toBe('unavailable')
  expect(await isThere(inner)).toBe(false)
  for (const read of [store.get('a'), store.head('a'), store.list('')]) expect(await outcomeOf(read)).toBe('unavailable')
})

test('F2: a write whose answer is lost is there', async () => {
  const { store, inner } = setUp(always('lose_answer'))
  expect(await outcomeOf(create(store))).toBe('unavailable')
  expect(await isThere(inner)).toBe(true)
  const head = await inner.head('a')
  if (head.kind === 'found') expect(await outcomeOf(store.delete('a', { if_generation: head.head.generation }))).toBe('unavailable')
  expect(await isThere(inner)).toBe(false)
})

test('F3: a write that was given up is applied later, on what holds by then, even after its actor died', async () => {
  const { store, inner, time } = setUp(always('apply_late', { duration_ms: [MINUTE_MS, MINUTE_MS] }))
  const sent = bytes.slice()
  expect(await outcomeOf(store.put('a', sent, { if_generation: CREATE }))).toBe('unavailable')
  expect(await outcomeOf(create(store, 'b'))).toBe('unavailable')
  sent.fill(0)
  store.kill()
  await inner.put('b', new TextEncoder().encode('other'), { if_generation: CREATE })
  expect(await isThere(inner)).toBe(false)
  expect(store.state.pending).toBe(2)
  await time.pass(2 * MINUTE_MS)
  expect(await inner.get('a')).toMatchObject({ kind: 'found', bytes })
  expect(await inner.get('b')).toMatchObject({ bytes: new TextEncoder().encode('other') })
  expect(store.state.pending).toBe(0)
})

test('F4: a write that landed is reported as a lost race', async () => {
  const { store, inner } = setUp(always('refuse_after_success'))
  expect(await outcomeOf(create(store))).toBe('precondition_failed')
  const head = await inner.head('a')
  if (head.kind !== 'found') throw new Error('It should be there.')
  expect(await outcomeOf(store.delete('a', { if_generation: head.head.generation }))).toBe('absent')
  expect(await isThere(inner)).toBe(false)
})

test('F5: a throttled write may or may not have met another, and one name is changed once a second', async () => {
  const seen = new Set<string>()
  for (let seed = 0; seed < 20; seed++) {
    const { store, inner } = setUp(always('throttle'), {}, seed)
    const is_taken = seed % 2 === 0
    if (is_taken) await create(inner)
    const answer = await outcomeOf(create(store))
    if (is_taken) expect(answer).toBe('throttled')
    else expect(await isThere(inner)).toBe(answer === 'stored')
    seen.add(answer)
  }
  expect([...seen].sort()).toEqual(['stored', 'throttled'])

  const { store, time } = setUp([], { same_name_interval_ms: 1_000 })
  const if_generation = await createdGeneration(store)
  expect(await outcomeOf(store.put('a', bytes, { if_generation }))).toBe('throttled')
  expect(await outcomeOf(create(store, 'b'))).toBe('stored')
  await time.pass(1_000)
  expect(await outcomeOf(store.put('a', bytes, { if_generation }))).toBe('stored')
})

test('F6: a burst answers nothing for a while, then ends', async () => {
  const random = createRandom(3)
  // Only the first call draws a hit: what follows is the burst.
  let draws = 0
  const first_only = { ...random, isTrue: (probability: number) => (draws++ === 0 ? true : probability === 0.5 && random.isTrue(0.5)) }
  const { store, time } = setUp([{ fault: 'burst', probability: 0.01, duration_ms: [5_000, 5_000] }], { random: first_only })
  for (let i = 0; i < 5; i++) {
    expect(await outcomeOf(store.head('a'))).toBe('unavailable')
    await time.pass(1_000)
  }
  expect(await outcomeOf(store.head('a'))).toBe('absent')
})

test('F7: a listing fails between its pages only', async () => {
  const { store } = setUp(always('fail_next_page'))
  for (let i = 0; i < 8; i++) await create(store, `n${i}`)
  const page = await store.list('n')
  expect(page.objects).toHaveLength(5)
  expect(await outcomeOf(store.list('n', page.next))).toBe('unavailable')
})

test('F7: a page ends just before or just after the youngest name, and all pages together are complete', async () => {
  const ends = new Set<string>()
  for (let seed = 0; seed < 20; seed++) {
    const { store, inner, time } = setUp(always('cut_page'), {}, seed)
    for (const name of ['a', 'b', 'd', 'e']) await create(inner, name)
    await time.pass(10)
    await create(inner, 'c')
    const first = await store.list('')
    ends.add(first.next ?? 'none')
    const names = first.objects.map(({ name }) => name)
    for (let next = first.next; next !== undefined; ) {
      const page = await store.list('', next)
      names.push(...page.objects.map(({ name }) => name))
      next = page.next
    }
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e'])
  }
  expect([...ends].sort()).toEqual(['b', 'c'])
})

test('F8: a delayed call takes its time, and a skewed clock is wrong by what it is told', async () => {
  const { store, time } = setUp(always('delay', { duration_ms: [700, 700] }))
  const began = time.now()
  await time.until(create(store))
  expect(time.now() - began).toBe(700)
  const clock = skewedClock(time.clock(), (now) => (now < began + 1_000 ? -3 * MINUTE_MS : 0))
  expect(clock.now() - time.now()).toBe(-3 * MINUTE_MS)
  await time.pass(1_000)
  expect(clock.now()).toBe(time.now())
})

test('F9: a damaged body differs from its head, and the next read is whole', async () => {
  const lengths = new Set<boolean>()
  for (let seed = 0; seed < 20; seed++) {
    const { store, inner } = setUp(always('damage_body', { prefix: 'a' }), {}, seed)
    await create(store)
    const got = await store.get('a')
    if (got.kind !== 'found') throw new Error('It should be there.')
    expect(crc32cHex(got.bytes)).not.toBe(got.head.crc32c)
    lengths.add(got.bytes.length === bytes.length)
    expect(await inner.get('a')).toMatchObject({ bytes })
  }
  expect(lengths.size).toBe(2)
})

test('F10: a killed actor is dead at this call and at every later one, its call applied or not', async () => {
  const applied = new Set<boolean>()
  for (let seed = 0; seed < 20; seed++) {
    let kills = 0
    const { store, inner } = setUp(always('kill', { operations: ['put'] }), { onKill: () => void (kills += 1) }, seed)
    expect(await outcomeOf(store.head('a'))).toBe('absent')
    expect(await outcomeOf(create(store))).toBe('killed')
    for (const call of [create(store, 'b'), store.get('a'), store.head('a'), store.list(''), store.delete('a', { if_generation: '1' })]) {
      expect(await outcomeOf(call)).toBe('killed')
    }
    expect([store.isKilled(), kills, await isThere(inner, 'b')]).toEqual([true, 1, false])
    applied.add(await isThere(inner))
  }
  expect(applied.size).toBe(2)
})

test('F10: whoever is killed while a call is under way does not hear its answer', async () => {
  const { store, time } = setUp(always('delay', { duration_ms: [1_000, 1_000] }))
  const outcome = outcomeOf(create(store))
  await time.pass(500)
  store.kill()
  await time.pass(1_000)
  expect(await outcome).toBe('killed')
})

test('F11: a paused actor makes its call before or after the pause', async () => {
  const stamps = new Set<number>()
  for (let seed = 0; seed < 20; seed++) {
    const { store, time } = setUp(always('pause', { duration_ms: [5 * MINUTE_MS, 5 * MINUTE_MS] }), {}, seed)
    const began = time.now()
    const answer = await time.until(create(store))
    expect(time.now() - began).toBe(5 * MINUTE_MS)
    if (answer.kind === 'stored') stamps.add(Date.parse(answer.head.creation_time) - began)
  }
  expect([...stamps].sort()).toEqual([0, 5 * MINUTE_MS])
})

test('F12: hints are lost, doubled, overtaken and late', async () => {
  const time = createVirtualTime()
  const heard: { readonly hint: number; readonly at: number }[] = []
  const began = time.now()
  const hint = createHints<number>((value) => heard.push({ hint: value, at: time.now() - began }), {
    clock: time.clock(),
    random: createRandom(5),
  })
  for (let i = 0; i < 200; i++) hint(i)
  await time.pass(4 * 86_400_000)
  const counts = Array.from({ length: 200 }, (_, i) => heard.filter((one) => one.hint === i).length)
  expect([counts.includes(0), counts.includes(1), counts.includes(2), Math.max(...counts)]).toEqual([true, true, true, 2])
  expect(heard.some((one, i) => i > 0 && one.hint < (heard[i - 1]?.hint ?? 0))).toBe(true)
  expect(heard.at(-1)?.at).toBeGreaterThan(86_400_000)
})

test('F14: a lost race is answered 403, a won one as ever', async () => {
  const { store } = setUp(always('forbid'))
  expect(await outcomeOf(create(store))).toBe('stored')
  expect(await outcomeOf(create(store))).toBe('forbidden')
  expect(await outcomeOf(store.delete('a', { if_generation: '77' }))).toBe('forbidden')
})

test('F16: every poison can be planted, and none of them is JSON of a segment', async () => {
  const { inner } = setUp([])
  for (const poison of POISONS) {
    expect(await outcomeOf(plantPoison(inner, poison, poison, createRandom(1)))).toBe('stored')
    const got = await inner.get(poison)
    const text = got.kind === 'found' ? new TextDecoder().decode(got.bytes) : ''
    expect(() => {
      const parsed = JSON.parse(text) as { batches?: unknown }
      if (!Array.isArray(parsed.batches)) throw new Error('no segment')
    }).toThrow()
  }
})

test('a rule is for its operations and its prefix, and no fault happens where it cannot', async () => {
  const { store, inner } = setUp([
    ...always('fail_before', { operations: ['put'], prefix: 'ledger/' }),
    ...always('damage_body', { operations: ['put', 'head'] }),
  ])
  expect(await outcomeOf(create(store, 'ledger/a'))).toBe('unavailable')
  expect(await outcomeOf(create(store, 'state/a'))).toBe('stored')
  expect(await outcomeOf(store.head('ledger/a'))).toBe('absent')
  expect(await isThere(inner, 'state/a')).toBe(true)
})

test('one seed is one history, and a swarm leaves faults out', async () => {
  const history = async (seed: string) => {
    const state = createFaultState()
    const { store, time } = setUp(swarmOfFaults(createRandom(seed), 0.3), { state }, seed)
    const outcomes: string[] = []
    for (let i = 0; i < 100; i++) outcomes.push(await time.until(outcomeOf(i % 3 === 0 ? store.head(`n${i - 1}`) : create(store, `n${i}`))))
    return JSON.stringify({ outcomes, calls: state.calls })
  }
  const seeds = ['a', 'b', 'c', 'd']
  const histories = await Promise.all(seeds.map(history))
  expect(await Promise.all(seeds.map(history))).toEqual(histories)
  expect(new Set(histories).size).toBe(seeds.length)
  const swarms = Array.from({ length: 30 }, (_, seed) => new Set(swarmOfFaults(createRandom(seed)).map(({ fault }) => fault)))
  for (const fault of Object.keys(FAULTS) as Fault[]) expect(swarms.every((swarm) => swarm.has(fault))).toBe(false)
})
