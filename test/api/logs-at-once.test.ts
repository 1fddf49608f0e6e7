// The same chunk twice at the same time: neither is answered before the chunk is durable.

import { expect, test } from '@jest/globals'
import { systemClock } from '../../src/bin/clock.js'
import { storeLogs } from '../../src/commands/logs.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import type { ObjectStore } from '../../src/storage/object-store.js'
import { ulidOf } from '../fixtures/say.js'

const ATTEMPT = { run_id: 'run_1', attempt_id: ulidOf('attempt') }
const SAID = { chunk: 0, lines: [{ message: 'one' }] }

/** Of what is put, nothing is answered before `release`. */
function heldStore() {
  const memory = createMemoryStore({ clock: systemClock })
  let release: (fault?: Error) => void = () => undefined
  const released = new Promise<Error | undefined>((resolve) => (release = resolve))
  const store: ObjectStore = {
    ...memory,
    async put(...asked) {
      const fault = await released
      if (fault !== undefined) throw fault
      return memory.put(...asked)
    },
  }
  return { memory, store, release: (fault?: Error) => release(fault) }
}

test('both are answered once it is', async () => {
  const { store, release } = heldStore()
  const deps = { store, clock: systemClock, log_counts: new Map() }
  const answered: string[] = []
  const asked = ['one', 'two'].map((name) => storeLogs(deps, ATTEMPT, SAID).then((answer) => (answered.push(name), answer)))
  await new Promise(setImmediate)
  expect(answered).toEqual([])
  release()
  const [one, two] = await Promise.all(asked)
  expect(one).toEqual(two)
})

test('neither is, where it could not be stored; sent again, it is stored', async () => {
  const { store, memory, release } = heldStore()
  const log_counts = new Map()
  const asked = ['one', 'two'].map(() => storeLogs({ store, clock: systemClock, log_counts }, ATTEMPT, SAID))
  release(new Error('The store is gone.'))
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await storeLogs({ store: memory, clock: systemClock, log_counts }, ATTEMPT, SAID)).toHaveProperty('bytes_left')
  expect((await memory.list('logs/')).objects).toHaveLength(1)
})
