// The rules that chaos evaluates are read from the file that Prometheus reads, and fire as Prometheus would let them.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { createAlerts, simpleRulesIn } from './alerts.js'

const rules = simpleRulesIn(readFileSync(fileURLToPath(new URL('../../temporal/grafana/alerts.yml', import.meta.url)), 'utf8'))
const overdue = (seconds: number) => [new Map([['servo_turn_overdue_seconds', seconds]])]

test('the rules about dead automations and the store are among those that are read', () => {
  expect(rules.map(({ name }) => name)).toEqual(expect.arrayContaining(['ServoNothingFolded', 'ServoTurnOverdue', 'ServoStoreUnreachable']))
  expect(rules.find(({ name }) => name === 'ServoTurnOverdue')).toEqual({
    name: 'ServoTurnOverdue',
    over: 'max',
    metric: 'servo_turn_overdue_seconds',
    compare: '>',
    than: 60,
    for_ms: 60_000,
  })
})

test('a rule fires once its query has held for its time, and begins again where it does not hold or nothing answers', () => {
  const alerts = createAlerts(rules)
  alerts.scraped(0, overdue(61))
  alerts.scraped(59_999, overdue(120))
  expect(alerts.fired()).toEqual([])
  alerts.scraped(59_999.5, [])
  alerts.scraped(61_000, overdue(130))
  alerts.scraped(70_000, overdue(59))
  alerts.scraped(75_000, overdue(61))
  alerts.scraped(134_999, overdue(121))
  expect(alerts.fired()).toEqual([])
  alerts.scraped(135_000, overdue(121))
  expect(alerts.fired()).toEqual(['ServoTurnOverdue'])
})

test('a gauge that is not known holds for no rule', () => {
  const alerts = createAlerts(rules)
  for (const at of [0, 60_000, 120_000]) alerts.scraped(at, overdue(Number.NaN))
  expect(alerts.fired()).toEqual([])
})
