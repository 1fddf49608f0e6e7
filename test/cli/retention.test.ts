// `servo workspace retention` on a real API with real turns.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Commands, startCommands } from '../fixtures/api-commands.js'

let at: Commands
beforeAll(async () => {
  at = await startCommands()
  const path = at.module(
    `export default defineCodeLocation({ name: 'main', assets: [asset({ key: 'a', deps: [], run: () => undefined })] })`,
  )
  expect(await at.servo('deploy', path)).toMatchObject({ code: 0, stderr: '' })
}, 60_000)
afterAll(() => at.close())

const retention = (...args: readonly string[]) => at.servo('workspace', 'retention', ...args)

describe('servo workspace retention', () => {
  test('shows what holds, what is usual, and who set it when', async () => {
    const set = await retention('--idempotency-hours', '336', '--refusals-days', '14', '--wait', '--by', 'ada', '--reason', 'Two weeks.')
    expect(set).toMatchObject({ code: 0, stdout: 'idempotency_hours is 336, refusals_days is 14, from now on.', stderr: '' })
    const { stdout } = await retention()
    expect(stdout).toMatch(/│ idempotency_hours +│ 336 +│ 168 +│ .* by ada +│ Two weeks\. +│/)
    expect(stdout).toMatch(/│ as_of_hours_days +│ 30 +│ 30 +│ +│ +│/)
    expect(JSON.parse((await retention('--json')).stdout)).toHaveLength(8)
  })

  test('--dry-run says what a change would do, and changes nothing', async () => {
    const shown = await retention('--idempotency-hours', '168', '--as-of-hours-days', '60', '--cold-after-days', '1', '--dry-run')
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    for (const said of [
      /^idempotency_hours: 336 -> 168\ncold_after_days: 7 -> 1\nas_of_hours_days: 30 -> 60\n/,
      /│ idempotency_keys +│ 0 +│ 0 +│ 0 +│/,
      /│ dispatch_outbox +│ 0 +│/,
      /Nothing comes back that was let go before\./,
      /Counted at revision \d+\. Nothing was changed\.$/,
    ]) {
      expect(shown.stdout).toMatch(said)
    }
    expect((await retention()).stdout).toMatch(/│ idempotency_hours +│ 336 +│/)
  })

  test('says what is wrong with what it is given', async () => {
    expect(await retention('--dry-run')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--dry-run shows what a change would do.'),
    })
    expect(await retention('--idempotency-hours', '24')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('idempotency_hours is 24. Give it a whole number from 168 to 744: a repeat of a request'),
    })
    expect(await retention('--outbox-days', 'many')).toMatchObject({ code: 2, stderr: expect.stringContaining('Give a whole number.') })
  })
})
