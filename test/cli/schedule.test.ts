// `servo schedule` on a real API with real turns, and nothing of Temporal there.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Commands, startCommands } from '../fixtures/api-commands.js'

let at: Commands
beforeAll(async () => {
  at = await startCommands()
  const assets = [`asset({ key: 'load', deps: [], run: () => undefined })`, `asset({ key: 'check', deps: ['load'], run: () => undefined })`]
  const path = at.module(`export default defineCodeLocation({ name: 'main', assets: [${assets.join(', ')}] })`)
  expect(await at.servo('deploy', path, '--slots', '4')).toMatchObject({ code: 0, stderr: '' })
}, 60_000)
afterAll(() => at.close())

const schedule = (...args: readonly string[]) => at.servo('schedule', ...args)
const json = async (...args: readonly string[]) => JSON.parse((await schedule(...args, '--json')).stdout) as Record<string, unknown>
const YEARLY = ['--cron', '0 0 1 1 *', '--select', 'load']

describe('servo schedule', () => {
  test('create makes one, says when it fires in its own zone, and list shows it', async () => {
    const made = await schedule('create', 'yearly', ...YEARLY, '--timezone', 'Asia/Tokyo', '--description', 'New year.', '--wait')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made.stdout).toMatch(/^yearly is made\.\nIt fires next at \d{4}-01-01 00:00:00 \+09:00 \(in \d+ d\)\.$/)
    const { stdout } = await schedule('list')
    expect(stdout).toMatch(/yearly +│ ACTIVE +│ 0 0 1 1 \* +│ Asia\/Tokyo │ \d{4}-01-01 00:00:00 \+09:00 \(in \d+ d\)/)
    expect(await json('show', 'yearly')).toMatchObject({ schedule_name: 'yearly', description: 'New year.', asset_selection: ['load'] })
    expect((await schedule('show', 'yearly')).stdout).toMatch(
      /^Schedule yearly\n {2}id +[0-9A-Z]{26}\n {2}about +New year\.\n {2}status +ACTIVE/,
    )
  })

  test('list and show say that no automation is at work, where a turn is overdue', async () => {
    const detail = 'A turn was due at 2026-01-01T00:00:00.000Z, 420 s ago, and has not come.'
    const readiness = async () => [{ name: 'automation', ok: false, needed: false, detail }]
    const api = await at.world.start({ readiness })
    for (const command of [['list'], ['show', 'yearly']]) {
      const { code, stderr } = await at.servo('schedule', ...command, '--api', api.listeningOrigin)
      expect({ code, stderr }).toEqual({ code: 0, stderr: `No automation is at work. ${detail}` })
    }
  })

  test('create takes a document, and options go before what it says', async () => {
    const path = at.document({ cron_expressions: ['@daily', '@weekly'], asset_selection: '+check', max_catchup_ticks: 9 })
    expect(await schedule('create', 'documented', '--file', path, '--max-catchup-ticks', '2', '--paused', '--wait')).toMatchObject({
      code: 0,
    })
    expect(await json('show', 'documented')).toMatchObject({
      status: 'PAUSED',
      cron_expressions: ['@daily', '@weekly'],
      asset_selection: ['+check'],
      max_catchup_ticks: 2,
    })
  })

  test('update changes what is named, and says where nothing changes', async () => {
    expect((await schedule('update', 'documented', '--cron', '@monthly', '--rename', 'monthly', '--expect', '1', '--wait')).stdout).toBe(
      'monthly is changed.',
    )
    expect(await json('show', 'monthly')).toMatchObject({ cron_expressions: ['@monthly'], max_catchup_ticks: 2, definition_version: 2 })
    expect((await schedule('update', 'monthly', '--cron', '@monthly')).stdout).toBe('Nothing changes: monthly is so already.')
    expect(await schedule('update', 'monthly', '--timezone', 'Asia/Tokyo', '--expect', '1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is at definition version 2, and this change was made for version 1'),
    })
  })

  test('pause says by whom and why where it is looked at, and resume ends it', async () => {
    expect((await schedule('pause', 'yearly', '--reason', 'The source is down.', '--by', 'ada', '--wait')).stdout).toBe('yearly is paused.')
    expect((await schedule('list', '--status', 'paused')).stdout).toContain('PAUSED by ada: The source is down.')
    expect(await schedule('pause', 'yearly')).toMatchObject({ code: 1, stderr: expect.stringContaining('is paused already, since') })
    expect((await schedule('dry-run', 'yearly', '--at', '2100-06-01T00:00:00Z')).stderr).toMatch(
      /It is paused: \d+ instants until then are held back/,
    )
    expect((await schedule('resume', 'yearly', '--wait')).stdout).toBe('yearly is active.')
  })

  test('trigger asks for a tick, and --wait for the end of its run', async () => {
    const triggered = await schedule('trigger', 'monthly', '--request-key', 'trial-1')
    expect(triggered).toMatchObject({ code: 0, stdout: expect.stringMatching(/^monthly asked for 1 run: run_[a-z0-9]{26}$/) })
    const again = await json('trigger', 'monthly', '--request-key', 'trial-1')
    const [run] = again['runs'] as { run_id: string }[]
    expect(triggered.stdout).toContain(run?.run_id)
    await at.world.turn.run()
    expect(await at.work()).toBe(2)
    const shown = await schedule('ticks', 'monthly', '--wait', '20s')
    expect(shown.stdout).toMatch(/TRIGGERED │ MANUAL │ +│ +│ run_[a-z0-9]{26} SUCCEEDED/)
  })

  test('ticks --wait ends with 1 where none comes, and says when it fires next', async () => {
    expect(await schedule('ticks', 'yearly', '--wait', '1s')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /No tick of yearly was TRIGGERED within 1\.0 s: it is ACTIVE\. It fires next at \d{4}-01-01 00:00:00 \+09:00/,
      ),
    })
  })

  test('ticks --wait shows the tick of the clock, its delay and its run', async () => {
    await schedule('create', 'minutely', '--cron', '* * * * *', '--select', 'load', '--wait')
    const waiting = schedule('ticks', 'minutely', '--wait', '30s')
    at.world.passSeconds(61)
    await at.world.turn.run()
    expect((await waiting).stdout).toMatch(/TRIGGERED │ CRON +│ (under 1 s|[\d.]+ (s|min[ \ds]*)) +│ +│ run_[a-z0-9]{26} [A-Z]+/)
    await schedule('delete', 'minutely', '--wait')
  })

  test('preview shows the fires of a schedule as of a cron', async () => {
    const fires = await schedule('preview', 'yearly', '--from', '2025-06-01T00:00:00Z', '--count', '2', '--json')
    expect(JSON.parse(fires.stdout)).toEqual(['2026-01-01T00:00:00+09:00', '2027-01-01T00:00:00+09:00'])
    expect(await schedule('preview')).toMatchObject({ code: 2, stderr: expect.stringContaining('Say which') })
    expect(await schedule('preview', 'yearly', '--cron', '@daily')).toMatchObject({ code: 2 })
  })

  test('delete leaves the history, and is told by the id', async () => {
    const { schedule_id } = (await json('show', 'monthly')) as { schedule_id: string }
    expect((await schedule('delete', 'monthly', '--wait')).stdout).toBe(`monthly (${schedule_id}) is removed.`)
    expect((await schedule('show', schedule_id)).stdout).toMatch(/status +REMOVED/)
    expect((await schedule('preview', schedule_id)).stderr).toContain(`${schedule_id} is REMOVED: it fires at none of these as it is.`)
    expect(await json('ticks', schedule_id)).toHaveLength(1)
  })

  test.each([
    [
      ['show', 'yaerly'],
      1,
      'There is no schedule yaerly. Did you mean yearly? If it was made just now, ask again in a moment, or the API with fresh=true.',
    ],
    [['create', 'wrong', '--cron', '* * *', '--select', 'load'], 2, 'has 3 fields'],
    [['create', 'wrong', '--cron', '@daily'], 2, 'asset_selection'],
    [['create', 'wrong', '--cron', '@daily', '--select', 'load', '--partition-mapping', 'first'], 2, 'Write last-complete'],
    [['create', 'wrong', '--file', 'nowhere.json'], 2, 'cannot be read'],
    [['update', 'yearly'], 2, 'Say what is to change'],
    [['ticks', 'yearly', '--wait', 'long'], 2, 'Give a time such as 90s, 2m or 1h.'],
    [
      ['ticks', 'yearly', '--from', '2025-01-02T00:00:00Z', '--to', '2025-01-01T00:00:00Z', '--wait', '90s'],
      2,
      '--from 2025-01-02T00:00:00.000Z is after --to 2025-01-01T00:00:00.000Z',
    ],
    [['ticks', 'yearly', '--status', 'triggerd'], 2, 'Did you mean TRIGGERED?'],
  ])('%j ends with %i: %s', async (args, code, sentence) => {
    expect(await schedule(...args)).toMatchObject({ code, stderr: expect.stringContaining(sentence) })
  })
})
