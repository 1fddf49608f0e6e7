// Every command that changes something says who asked: read from the ledger, where history is.

import { userInfo } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { listSegments, readSegment } from '../../src/ledger/read.js'
import { parseSegment } from '../../src/ledger/segment.js'
import { type Commands, startCommands } from '../fixtures/api-commands.js'

let at: Commands
let module: string
beforeAll(async () => {
  at = await startCommands()
  module = at.module(
    `export default defineCodeLocation({ name: 'main', assets: [asset({ key: 'load', deps: [], run: () => undefined })] })`,
  )
}, 60_000)
afterAll(() => at.close())

type Said = { readonly event_type: string; readonly requested_by: unknown }

async function saidInLedger(): Promise<readonly Said[]> {
  const { store, scope } = at.world.appending
  const { segments } = await listSegments(store, 0)
  const parsed = await Promise.all(segments.map(async ({ name, crc32c }) => parseSegment(await readSegment(store, name, crc32c), scope)))
  return parsed.flatMap(({ batches }) =>
    batches.flatMap(({ entries }) =>
      entries.flatMap((entry) => {
        if (entry.kind !== 'event') return []
        const payload = entry.event.payload as Readonly<Record<string, unknown>>
        return [{ event_type: entry.event.event_type, requested_by: payload['requested_by'] }]
      }),
    ),
  )
}

const DEFINED = ['--cron', '0 0 1 1 *', '--select', 'load']

describe('a command that changes something', () => {
  // Each has a name of its own, so that none is taken for another's.
  test.each([
    ['CodeLocationDeployed', () => ['deploy', module, '--slots', '4']],
    ['RunRequested', () => ['run', 'start', 'load']],
    ['RunRequested', () => ['run', 'rerun', 'last', '--whole']],
    ['RunCancelRequested', () => ['run', 'cancel', 'last']],
    ['ScheduleDefined', () => ['schedule', 'create', 'yearly', ...DEFINED, '--wait']],
    ['ScheduleDefined', () => ['schedule', 'update', 'yearly', '--cron', '0 0 2 1 *', '--wait']],
    ['ScheduleStatusChanged', () => ['schedule', 'pause', 'yearly', '--wait']],
    ['ScheduleStatusChanged', () => ['schedule', 'resume', 'yearly', '--wait']],
    ['ScheduleTicked', () => ['schedule', 'trigger', 'yearly']],
    ['RunCancelRequested', () => ['run', 'cancel', '--asset', 'load', '--yes']],
    ['ScheduleRemoved', () => ['schedule', 'delete', 'yearly', '--wait']],
    ['PoolDefined', () => ['pool', 'set', 'pool:warehouse', '3', '--wait']],
    ['PoolRemoved', () => ['pool', 'remove', 'pool:warehouse', '--wait']],
  ])('keeps who asked: %s of %#', async (event_type, words) => {
    // Only a run that is over is run again.
    if (words().includes('rerun')) await at.work()
    const name = `ada-${words().join('-')}`
    expect(await at.servo(...words(), '--by', name)).toMatchObject({ code: 0, stderr: expect.not.stringContaining('servo:') })
    expect(await saidInLedger()).toContainEqual({ event_type, requested_by: name })
  })
})

test('a paused schedule names who paused it, by the login where nobody is named', async () => {
  await at.servo('schedule', 'create', 'monthly', '--cron', '@monthly', '--select', 'load', '--wait')
  const login = process.env['SERVO_BY'] ?? userInfo().username
  await at.servo('schedule', 'pause', 'monthly', '--reason', 'A trial.', '--wait')
  expect((await at.servo('schedule', 'list')).stdout).toContain(`PAUSED by ${login}: A trial.`)
})

test('a document says who asked, and an option goes before it', async () => {
  const document = at.document({ cron_expressions: '@weekly', asset_selection: 'load', requested_by: 'paper' })
  await at.servo('schedule', 'create', 'by-paper', '--file', document, '--wait')
  await at.servo('schedule', 'create', 'by-option', '--file', document, '--by', 'option', '--wait')
  const names = (await saidInLedger()).filter(({ event_type }) => event_type === 'ScheduleDefined').map(({ requested_by }) => requested_by)
  expect(names).toEqual(expect.arrayContaining(['option', 'paper']))
})

test('the same request key from another person is the same tick', async () => {
  await at.servo('schedule', 'create', 'keyed', '--cron', '@weekly', '--select', 'load', '--wait')
  const trigger = (name: string) => at.servo('schedule', 'trigger', 'keyed', '--request-key', 'one', '--by', name)
  const first = await trigger('ada')
  expect(first).toMatchObject({ code: 0 })
  expect(await trigger('ben')).toEqual(first)
})
