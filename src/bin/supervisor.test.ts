import { describe, expect, test } from '@jest/globals'
import { createVirtualTime } from '../../test/fixtures/virtual-time.js'
import { SECOND_MS } from '../core/time.js'
import { createHealth } from '../telemetry/health.js'
import { ConfigError } from './config.js'
import { type Session, supervise } from './supervisor.js'
import { SessionError, type SessionTrouble, temporalTrouble } from './troubles.js'

const missing: SessionTrouble = { needs: 'namespace', problem: 'There is no namespace servo.', is_setting: false }
const refused: SessionTrouble = { needs: 'temporal', problem: 'Temporal does not know this client.', is_setting: true }

const TEMPORAL = { address: '127.0.0.1:7233', namespace: 'servo' }
const grpcError = (code: number, details: string) =>
  Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {}, name: 'ServiceError' })

/** What an attempt to open a session comes to: a trouble, or a session whose end the test decides. */
type Opening = SessionTrouble | 'works'

function world(script: readonly Opening[], close: () => Promise<void> = async () => undefined, drawn = 0.999_999) {
  const time = createVirtualTime(0)
  const stopping = new AbortController()
  const health = createHealth(time.now)
  const opened_at: number[] = []
  const logged: string[] = []
  const lost: string[] = []
  let closes = 0
  let end: (trouble: SessionTrouble) => void = () => undefined
  const open = async (): Promise<Session> => {
    const next = script[opened_at.length] ?? 'works'
    opened_at.push(Math.round(time.now()))
    if (next !== 'works') throw new SessionError(next)
    return {
      ended: new Promise((resolve) => {
        end = resolve
      }),
      close() {
        closes += 1
        return close()
      },
    }
  }
  let outcome: unknown = 'running'
  const supervised = supervise({
    open,
    clock: time.clock(),
    random: () => drawn,
    stopping: stopping.signal,
    health,
    log: (line) => logged.push(line),
    onWorking: () => undefined,
    onLost: ({ needs }) => lost.push(needs),
  }).then(
    () => {
      outcome = 'ended'
    },
    (error: unknown) => {
      outcome = error
    },
  )
  return {
    time,
    health,
    opened_at,
    logged,
    lost,
    closes: () => closes,
    end: (trouble: SessionTrouble) => end(trouble),
    stop: () => stopping.abort(),
    outcome: () => outcome,
    supervised,
  }
}

describe('what is missing', () => {
  test('is waited for with exponential back-off, for ever, and shown meanwhile', async () => {
    const at = world(Array.from({ length: 1_000 }, () => missing))
    await at.time.pass(3_600_000)
    expect(at.opened_at.slice(0, 7)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 25_000, 35_000])
    expect(at.opened_at.length).toBeGreaterThan(350)
    expect(at.health.now()).toMatchObject({
      ok: false,
      state: 'waiting',
      problems: [{ needs: 'namespace', problem: 'There is no namespace servo.', since: '1970-01-01T00:00:00.000Z' }],
    })
    expect(at.outcome()).toBe('running')
    // What is the same is told once.
    expect(at.logged).toEqual(['It cannot work now, and tries again until it can: There is no namespace servo.'])
    at.stop()
    await at.time.pass(1)
    expect(at.outcome()).toBe('ended')
    expect(at.health.now().state).toBe('stopping')
  })

  test('is logged once, however the text of the server changes, and again when something else is missing', async () => {
    const late = (seconds: string) =>
      temporalTrouble(grpcError(4, `Deadline exceeded after ${seconds}s,LB pick: 0.000s,remote_addr=127.0.0.1:7233`), TEMPORAL)
    const away = temporalTrouble(grpcError(14, 'No connection established. Last error: connect ECONNREFUSED 127.0.0.1:7233'), TEMPORAL)
    const other = (port: number) => temporalTrouble(grpcError(14, `No connection established. Last error: from port ${port}`), TEMPORAL)
    const at = world([late('0.000'), late('0.001'), late('5.0'), away, other(1), other(2), missing, missing, late('0.002')])
    await at.time.pass(120_000)
    expect(at.logged).toEqual(
      [
        'Temporal at 127.0.0.1:7233 does not answer: Deadline exceeded.',
        'Temporal at 127.0.0.1:7233 does not answer: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:7233.',
        'There is no namespace servo.',
        'Temporal at 127.0.0.1:7233 does not answer: Deadline exceeded.',
      ].map((problem) => `It cannot work now, and tries again until it can: ${problem}`),
    )
  })

  test('is over as soon as it is there', async () => {
    const at = world([missing, missing, 'works'])
    await at.time.pass(4_000)
    expect(at.health.now()).toEqual({ ok: true, state: 'working', problems: [] })
    expect(at.outcome()).toBe('running')
  })

  test('is looked for out of step by two processes', async () => {
    const at = world([missing, missing, missing, missing], undefined, 0)
    await at.time.pass(8_000)
    expect(at.opened_at).toEqual([0, 500, 1_500, 3_500, 7_500])
  })
})

describe('workers that end by themselves', () => {
  test('are closed, told of, and opened again', async () => {
    const at = world(['works', 'works'])
    await at.time.pass(10 * SECOND_MS)
    at.end({ needs: 'temporal', problem: 'Temporal does not answer.', is_setting: false })
    await at.time.pass(1)
    expect(at.closes()).toBe(1)
    expect(at.lost).toEqual(['temporal'])
    expect(at.health.now()).toMatchObject({ ok: false, state: 'waiting', problems: [{ needs: 'temporal' }] })
    await at.time.pass(2_000)
    expect(at.opened_at).toEqual([0, 11_000])
    expect(at.health.now()).toMatchObject({ ok: true })
  })

  test('again and again are opened less and less often, and those that lived for long are opened soon', async () => {
    const at = world([])
    const lose = async (after_ms: number) => {
      await at.time.pass(after_ms)
      at.end({ needs: 'temporal', problem: 'Temporal does not answer.', is_setting: false })
      await at.time.pass(20_000)
    }
    for (let times = 0; times < 6; times++) await lose(0)
    const pauses = at.opened_at.slice(1).map((opened_at, i) => opened_at - 20_000 * i)
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
    const before = at.opened_at.length
    await at.time.pass(60_000)
    const lost_at = at.time.now()
    await lose(0)
    expect((at.opened_at[before] as number) - lost_at).toBe(1_000)
  })

  test('end the process when they do not let themselves be closed: nothing may work beside the next ones', async () => {
    const at = world(['works'], () => new Promise(() => undefined))
    await at.time.pass(1)
    at.end(missing)
    await at.time.pass(29_000)
    expect(at.outcome()).toBe('running')
    await at.time.pass(2_000)
    expect(String(at.outcome())).toContain('The workers did not end within 30 s')
  })

  test('are opened again when a part of them ended badly', async () => {
    const at = world(['works', 'works'], async () => {
      throw new Error('one was slow')
    })
    await at.time.pass(1)
    at.end(missing)
    await at.time.pass(5_000)
    expect(at.opened_at).toHaveLength(2)
    expect(at.logged).toContain('What was left of the workers did not end in order: Error: one was slow')
  })
})

describe('a setting that a server refuses', () => {
  test('ends a process that has never worked, within 30 s, as a wrong setting', async () => {
    const at = world(Array.from({ length: 100 }, () => refused))
    await at.time.pass(9_000)
    expect(at.outcome()).toBe('running')
    await at.time.pass(10_000)
    expect(at.outcome()).toBeInstanceOf(ConfigError)
    expect(String(at.outcome())).toContain('Temporal does not know this client.')
  })

  test('is waited for when the process has worked: the server may be the one that is wrong', async () => {
    const at = world(['works', ...Array.from({ length: 100 }, () => refused)])
    await at.time.pass(1)
    at.end(refused)
    await at.time.pass(120_000)
    expect(at.outcome()).toBe('running')
    expect(at.health.now()).toMatchObject({ state: 'waiting' })
  })

  test('is waited for when it was refused for a moment', async () => {
    const at = world([refused, refused, missing, refused, refused, missing, refused, 'works'])
    await at.time.pass(120_000)
    expect(at.health.now()).toMatchObject({ ok: true })
  })
})

describe('a process that is stopped', () => {
  test('closes its session, and ends with its fault where that did not end in order', async () => {
    const well = world(['works'])
    await well.time.pass(1)
    well.stop()
    await well.time.pass(1)
    expect([well.outcome(), well.closes()]).toEqual(['ended', 1])
    const ill = world(['works'], async () => {
      throw new Error('a worker was cut off')
    })
    await ill.time.pass(1)
    ill.stop()
    await ill.time.pass(1)
    expect(String(ill.outcome())).toBe('Error: a worker was cut off')
  })

  test('closes a session that was being opened', async () => {
    const time = createVirtualTime(0)
    const stopping = new AbortController()
    let closes = 0
    const supervised = supervise({
      open: () => time.sleep(5_000).then(() => ({ ended: new Promise(() => undefined), close: async () => void (closes += 1) })),
      clock: time.clock(),
      random: () => 0,
      stopping: stopping.signal,
      health: createHealth(time.now),
      log: () => undefined,
      onWorking: () => undefined,
      onLost: () => undefined,
    })
    await time.pass(1_000)
    stopping.abort()
    await time.until(supervised)
    expect([time.now(), closes]).toEqual([5_000, 1])
  })
})
