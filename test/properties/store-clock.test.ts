// What a process believes of a store's clock, against worlds drawn by seed: servers whose clocks lie apart, a machine whose
// clock drifts, latencies from microseconds to seconds, pauses of minutes, and clocks that are set.

import { describe, expect, test } from '@jest/globals'
import { STORE_CLOCK_DRIFT_MAX, STORE_CLOCKS_APART_MS, STORE_WINDOWS_APART_MS } from '../../src/core/limits.js'
import { floorTo, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createStoreClock } from '../../src/storage/store-clock.js'
import { createRandom, type Random } from '../fixtures/random.js'

const START = Date.parse('2026-11-20T06:04:43.570Z')

type WorldOptions = { readonly apart_ms?: number; readonly creates?: boolean }

/** Real time goes on in milliseconds from 0, and everything else is said of it. */
function createClockWorld(random: Random, { apart_ms = STORE_WINDOWS_APART_MS / 2, creates = true }: WorldOptions = {}) {
  const servers = Array.from({ length: 1 + random.below(4) }, () => random.between(-apart_ms / 2, apart_ms / 2))
  const drift = random.between(-STORE_CLOCK_DRIFT_MAX, STORE_CLOCK_DRIFT_MAX) * 0.9
  const clock = createStoreClock()
  let real = 0
  let own_offset = random.between(0, 1_000_000)
  let store_offset = START
  const own = () => own_offset + real * (1 + drift)
  const fastest = () => store_offset + real + Math.max(...servers)
  const slowest = () => store_offset + real + Math.min(...servers)
  const latency = () => random.pick([random.between(0.1, 2), random.between(1, 60), random.between(50, 400), random.between(1, 2_000)])

  function ask(way_ms = latency(), back_ms = latency()): { readonly isCreate: boolean; readonly back_ms: number } {
    const sent_at = own()
    real += way_ms
    const at = store_offset + real + random.pick(servers)
    const isCreate = creates && random.isTrue(0.3)
    real += back_ms
    const window = isCreate
      ? { from: Math.floor(at), until: Math.floor(at) + 1 }
      : { from: floorTo(at, SECOND_MS), until: floorTo(at, SECOND_MS) + SECOND_MS }
    clock.note({ sent_at, received_at: own(), ...window })
    return { isCreate, back_ms }
  }

  return {
    clock,
    ask,
    fastest,
    slowest,
    atLeast: () => clock.atLeast(own()) as number,
    now: () => clock.now(own()) as number,
    widthAt: () => clock.widthAt(own()) as number,
    real: () => real,
    pass: (ms: number) => void (real += ms),
    /** Its own clock counts nothing: a laptop that was closed, a machine that was moved. */
    suspend(ms: number) {
      real += ms
      own_offset -= ms * (1 + drift)
    },
    setStore: (ms: number) => void (store_offset += ms),
    setOwn: (ms: number) => void (own_offset += ms),
  }
}

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1)

/** The seed is in what is compared, so that a failure says it. */
function each(name: string, run: (seed: number, random: Random) => void): void {
  test(name, () => {
    for (const seed of SEEDS) run(seed, createRandom(`store-clock ${seed}`))
  })
}

const pauseIn = (random: Random): number =>
  random.pick([0, random.between(0, 50), random.between(0, 3_000), random.between(0, 20 * MINUTE_MS)])

describe('the clock of a store, as a process can tell it', () => {
  test('is not known before the first answer', () => {
    const clock = createStoreClock()
    expect([clock.atLeast(1), clock.now(1), clock.widthAt(1)]).toEqual([undefined, undefined, undefined])
  })

  each('never stands later than it does, and its two bounds hold it between them', (seed, random) => {
    const world = createClockWorld(random)
    for (let step = 0; step < 300; step++) {
      world.ask()
      world.pass(pauseIn(random))
      const late_ms = world.atLeast() - world.fastest()
      const early_ms = world.slowest() - (world.atLeast() + world.widthAt())
      if (late_ms > 0 || early_ms > 0) expect({ seed, step, late_ms, early_ms }).toBe('within the bounds')
    }
  })

  each('never goes back from one answer to the next, and keeps to whole milliseconds', (seed, random) => {
    const world = createClockWorld(random)
    let before = Number.NEGATIVE_INFINITY
    for (let step = 0; step < 300; step++) {
      world.ask()
      for (const pause_ms of [0, pauseIn(random)]) {
        world.pass(pause_ms)
        const now = world.now()
        if (now < before || !Number.isInteger(now) || now > world.fastest()) expect({ seed, step, before, now }).toBe('in order')
        before = now
      }
    }
  })

  each('is known to the second after one answer, and ever better by the dates of further ones', (seed, random) => {
    const world = createClockWorld(random, { apart_ms: 0, creates: false })
    const ask = () => world.ask(random.between(1, 20), random.between(1, 20))
    ask()
    const first = { off_ms: world.fastest() - world.atLeast(), width_ms: world.widthAt() }
    for (let step = 0; step < 60; step++) {
      world.pass(random.between(0, 700))
      ask()
    }
    const last = { off_ms: world.fastest() - world.atLeast(), width_ms: world.widthAt() }
    const isBetter = last.width_ms < 250 && last.off_ms < 150 && last.width_ms < first.width_ms
    if (first.off_ms > 1_030 || !isBetter) expect({ seed, first, last }).toBe('ever better')
  })

  each('is as well known as the way back of a write was short', (seed, random) => {
    const world = createClockWorld(random, { apart_ms: 0 })
    const writes: { readonly back_ms: number; readonly real: number }[] = []
    for (let step = 0; step < 60; step++) {
      const { isCreate, back_ms } = world.ask()
      if (isCreate) writes.push({ back_ms, real: world.real() })
      world.pass(random.between(0, 200))
    }
    // A millisecond for the creation time, which is cut, and what both clocks may drift from each other since.
    const known_to = Math.min(...writes.map(({ back_ms, real }) => back_ms + 1 + (world.real() - real) * 2 * STORE_CLOCK_DRIFT_MAX))
    const off_ms = world.fastest() - world.atLeast()
    if (off_ms > known_to) expect({ seed, off_ms, known_to }).toBe('well known')
  })

  each('is right again with the first answer after a process was suspended or a clock was set', (seed, random) => {
    const world = createClockWorld(random)
    for (let step = 0; step < 30; step++) {
      for (let asked = 0; asked < 10; asked++) {
        world.ask(random.between(0.1, 30), random.between(0.1, 30))
        world.pass(random.between(0, 500))
      }
      const jump_ms = random.pick([3 * SECOND_MS, 30 * SECOND_MS, random.between(3 * SECOND_MS, 120 * MINUTE_MS)])
      const jump = random.pick(['suspended', 'store set back', 'store set ahead', 'own set back', 'own set ahead'] as const)
      if (jump === 'suspended') world.suspend(jump_ms)
      if (jump === 'store set back') world.setStore(-jump_ms)
      if (jump === 'store set ahead') world.setStore(jump_ms)
      if (jump === 'own set back') world.setOwn(-jump_ms)
      if (jump === 'own set ahead') world.setOwn(jump_ms)
      world.ask(random.between(0.1, 30), random.between(0.1, 30))
      const late_ms = world.atLeast() - world.fastest()
      const held_ms = world.now() - world.fastest()
      if (late_ms > 0 || late_ms < -1_200 || held_ms > STORE_CLOCKS_APART_MS)
        expect({ seed, step, jump, jump_ms, late_ms, held_ms }).toBe('right')
      // What it gave too early is waited for, and then it goes on.
      world.pass(STORE_CLOCKS_APART_MS)
      world.ask(1, 1)
      if (world.now() > world.fastest()) expect({ seed, step, jump, jump_ms }).toBe('over after ten seconds')
    }
  })

  each('holds to no answer for long: an hour later only the last minutes count', (seed, random) => {
    const world = createClockWorld(random, { apart_ms: 0, creates: false })
    // A clock that drifts faster than is allowed for, unnoticed because the windows are wide.
    world.ask(0.1, 0.1)
    for (let minute = 0; minute < 60; minute++) {
      world.pass(MINUTE_MS)
      world.setOwn(60)
      world.ask(0.1, 0.1)
      const late_ms = world.atLeast() - world.fastest()
      // Thirty a minute more than is allowed for, over eleven minutes at most.
      if (late_ms > 335) expect({ seed, minute, late_ms }).toBe('bounded')
    }
  })
})
