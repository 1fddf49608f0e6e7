import { expect, test } from '@jest/globals'
import { createHealth, type HealthReport } from './health.js'

const START = Date.parse('2026-11-20T10:00:00.000Z')

function world() {
  let now = START
  const told: HealthReport[] = []
  const health = createHealth(
    () => now,
    (report) => told.push(report),
  )
  return { health, told, pass: (duration_ms: number) => (now += duration_ms) }
}

test('a process is well when it works and no source has a problem', () => {
  const { health } = world()
  expect(health.now()).toEqual({ ok: false, state: 'starting', problems: [] })
  health.enter('working')
  expect(health.now()).toEqual({ ok: true, state: 'working', problems: [] })
  health.report('rows', { needs: 'store', problem: 'The store does not answer.' })
  expect(health.now()).toMatchObject({ ok: false, state: 'working' })
  health.report('rows', undefined)
  expect(health.now()).toMatchObject({ ok: true, problems: [] })
  health.enter('stopping')
  expect(health.now()).toMatchObject({ ok: false })
})

test('a problem keeps the time at which it began while its words change, and another need is another problem', () => {
  const { health, pass } = world()
  health.report('session', { needs: 'temporal', problem: 'refused' })
  pass(1_000)
  health.report('session', { needs: 'temporal', problem: 'timed out' })
  expect(health.now().problems).toEqual([{ needs: 'temporal', problem: 'timed out', since: '2026-11-20T10:00:00.000Z' }])
  pass(1_000)
  health.report('session', { needs: 'namespace', problem: 'no such namespace' })
  expect(health.now().problems).toEqual([{ needs: 'namespace', problem: 'no such namespace', since: '2026-11-20T10:00:02.000Z' }])
})

test('sources do not overwrite each other, and what does not change is not told again', () => {
  const { health, told } = world()
  health.report('loops', { needs: 'temporal', problem: 'away' })
  health.report('loops', { needs: 'temporal', problem: 'away' })
  health.report('rows', { needs: 'store', problem: 'away' })
  health.report('rows', undefined)
  health.report('rows', undefined)
  expect(told.map(({ problems }) => problems.map(({ needs }) => needs))).toEqual([[], ['temporal'], ['temporal', 'store'], ['temporal']])
})
