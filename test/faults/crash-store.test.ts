import { expect, test } from '@jest/globals'
import { isOperatingError } from '../../src/core/errors.js'
import { createMemoryState, createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { CRASHES, type Crash, createCrashScript } from './crash-store.js'
import { KilledError } from './fault-store.js'

const bytes = new TextEncoder().encode('x')
const namesIn = async (store: ObjectStore) => (await store.list('')).objects.map(({ name }) => name)

/** Creates three objects, reading between; answers how far it came. */
async function scenario(store: ObjectStore): Promise<string> {
  try {
    for (const name of ['a', 'b', 'c']) {
      await store.put(name, bytes, { if_generation: CREATE })
      await store.get(name)
    }
    return 'done'
  } catch (error) {
    if (error instanceof KilledError) return 'killed'
    if (isOperatingError(error)) return error.kind
    throw error
  }
}

test('without points it counts and records', async () => {
  const script = createCrashScript()
  expect(await scenario(script.store(createMemoryStore({ clock: Date }), 'one'))).toBe('done')
  expect(script.calls.map(({ number, actor, operation, name }) => `${number} ${actor} ${operation} ${name}`)).toEqual([
    '1 one put a',
    '2 one get a',
    '3 one put b',
    '4 one get b',
    '5 one put c',
    '6 one get c',
  ])
  expect(script.reached).toEqual([])
})

/** At call 3, the put of b: the outcome, what is there then, and what is there after the release. */
const EXPECTED: Record<Crash, readonly [string, readonly string[], readonly string[]]> = {
  before: ['killed', ['a'], ['a']],
  after: ['killed', ['a', 'b'], ['a', 'b']],
  late: ['unavailable', ['a'], ['a', 'b']],
  late_killed: ['killed', ['a'], ['a', 'b']],
}

test.each(CRASHES)('a crash %s the call leaves what it says', async (how) => {
  const inner = createMemoryStore({ clock: Date, state: createMemoryState() })
  const script = createCrashScript([{ at: 3, how }])
  let kills = 0
  const store = script.store(inner, 'one', () => void (kills += 1))
  const [outcome, now, later] = EXPECTED[how]
  expect(await scenario(store)).toBe(outcome)
  expect(script.reached).toEqual([{ at: 3, how }])
  expect(await namesIn(inner)).toEqual(now)
  await script.release()
  expect(await namesIn(inner)).toEqual(later)
  expect(kills).toBe(outcome === 'killed' ? 1 : 0)
  if (outcome !== 'killed') return
  await expect(store.head('a')).rejects.toThrow(KilledError)
  expect(script.calls).toHaveLength(3)
  expect(await scenario(script.store(inner, 'one again'))).toBe('done')
})

test('a late write takes effect on what holds by then', async () => {
  const inner = createMemoryStore({ clock: Date })
  const script = createCrashScript([{ at: 1, how: 'late' }])
  expect(await scenario(script.store(inner, 'one'))).toBe('unavailable')
  await inner.put('a', new TextEncoder().encode('other'), { if_generation: CREATE })
  await script.release()
  expect(await inner.get('a')).toMatchObject({ bytes: new TextEncoder().encode('other') })
})

test('two points can be reached in one run, by two actors', async () => {
  const inner = createMemoryStore({ clock: Date })
  const script = createCrashScript([
    { at: 2, how: 'after' },
    { at: 5, how: 'before' },
  ])
  expect(await scenario(script.store(inner, 'one'))).toBe('killed')
  expect(await scenario(script.store(inner, 'two'))).toBe('killed')
  expect(script.reached).toHaveLength(2)
  expect(await namesIn(inner)).toEqual(['a'])
})
