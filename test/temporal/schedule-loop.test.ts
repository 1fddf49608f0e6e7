// The loop of a schedule on a real server, with a real automation: what it shows, what it takes, and what it lives through.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { WorkflowHandle } from '@temporalio/client'
import { WorkflowUpdateFailedError } from '@temporalio/client'
import { defineSearchAttributeKey } from '@temporalio/common'
import { taskQueues, workflowId } from '../../src/core/names.js'
import { SECOND_MS } from '../../src/core/time.js'
import type { ScheduleDefinition } from '../../src/events/schedule-definition.js'
import {
  drainSignal,
  entityStateQuery,
  pauseSignal,
  pauseUpdate,
  pokeSignal,
  resumeSignal,
  resumeUpdate,
  stateQuery,
  triggerUpdate,
} from '../../src/workflows/contract.js'
import { type AutomationFixture, startAutomationFixture } from '../fixtures/automation.js'
import { createSpeaker, ulidOf } from '../fixtures/say.js'
import { withTemporal } from '../fixtures/temporal.js'
import { until } from '../fixtures/until.js'

const temporal = withTemporal()
const TIMEOUT_MS = 90_000
const YEARLY = ulidOf('yearly')
const OFTEN = ulidOf('often')
const OTHER = ulidOf('other')
const WIDE = ulidOf('wide')
const LAST_TICK = /^- last tick \d+ \w+ [\d:]+ TRIGGERED, decided after \d+ s, run \w+$/
const HINT = '- Terminating this workflow does not stop the schedule. Send pause.'

type Described = { readonly name?: string; readonly description?: string }
type Definition = {
  readonly signalDefinitions?: readonly Described[]
  readonly updateDefinitions?: readonly Described[]
  readonly queryDefinitions?: readonly Described[]
}

describe('the loop of a schedule', () => {
  let fixture: AutomationFixture
  const say = createSpeaker()

  const handleOf = (schedule_id: string): WorkflowHandle =>
    temporal().client.workflow.getHandle(workflowId(fixture.scope, 'schedule', schedule_id))
  const stateOf = (schedule_id: string) => handleOf(schedule_id).query(entityStateQuery)
  const untilStatus = (schedule_id: string, status: string) =>
    until(`the loop says ${status}`, async () => (await stateOf(schedule_id)).status === status)
  const tick = (fits: (row: Readonly<Record<string, unknown>>) => boolean) => fixture.row('schedule_ticks', fits)
  const row = (schedule_id: string) => fixture.row('schedule_state', (state) => state['schedule_id'] === schedule_id)

  async function detailsOf(schedule_id: string): Promise<readonly string[]> {
    const metadata = (await handleOf(schedule_id).query('__temporal_workflow_metadata')) as { readonly currentDetails: string }
    return metadata.currentDetails.split('\n')
  }

  async function append(...events: Parameters<AutomationFixture['appender']['append']>[0]): Promise<void> {
    await fixture.appender.append(events)
    await temporal().client.workflow.getHandle(workflowId(fixture.scope, 'workspace')).signal(pokeSignal)
  }
  const at = () => ({ at: fixture.appender.now() })
  const define = (schedule_id: string, definition: Partial<ScheduleDefinition>, schedule_name: string) =>
    append(say.scheduleDefined(schedule_id, { asset_selection: ['a'], ...definition }, { schedule_name }, at()))

  beforeAll(async () => {
    fixture = await startAutomationFixture(temporal())
    const loop = temporal().client.workflow.getHandle(workflowId(fixture.scope, 'workspace'))
    await until('the workspace has had a turn', async () => (await loop.query(stateQuery)).sequence > 0)
    await append(say.locationDeployed('main', 0, {}, at()), say.assetDefined('a', {}, 'main', at()))
    await define(YEARLY, { cron_expressions: ['0 10 1 1 *'], timezone: 'America/New_York' }, 'yearly')
  }, TIMEOUT_MS)

  afterAll(() => fixture?.stop(), TIMEOUT_MS)

  test(
    'is there as soon as the schedule is, and says what it is and when it fires',
    async () => {
      await untilStatus(YEARLY, 'ACTIVE')
      const description = await handleOf(YEARLY).describe()
      expect(await description.staticSummary()).toBe('yearly: 0 10 1 1 * (America/New_York)')
      const attribute = (name: string) => description.typedSearchAttributes.get(defineSearchAttributeKey(name, 'KEYWORD'))
      expect(['ServoKind', 'ServoEntityId', 'ServoStatus'].map(attribute)).toEqual(['schedule', YEARLY, 'ACTIVE'])
      const year = new Date(fixture.appender.now()).getUTCFullYear() + 1
      const next = description.typedSearchAttributes.get(defineSearchAttributeKey('ServoNextFireAt', 'DATETIME'))
      expect(next).toEqual(new Date(`${year}-01-01T15:00:00Z`))
      const fires = Array.from({ length: 5 }, (_, i) => `1 Jan ${year + i} 10:00`)
      expect(await detailsOf(YEARLY)).toEqual([
        `**ACTIVE** · next fire ${fires[0]} America/New_York`,
        '',
        '- schedule `yearly`',
        '- cron `0 10 1 1 *`, zone America/New_York',
        '- no tick yet',
        `- then ${fires.slice(1).join(', ')}`,
        HINT,
      ])
    },
    TIMEOUT_MS,
  )

  test(
    'pauses and resumes by signals as the API does, with what they carry and without anything',
    async () => {
      await handleOf(YEARLY).signal(pauseSignal, { request_id: 'p-1', requested_by: 'user:7', reason: 'a | reason' })
      await untilStatus(YEARLY, 'PAUSED')
      expect(await row(YEARLY)).toMatchObject({ status: 'PAUSED', status_changed_by: 'user:7', status_reason: 'a | reason' })
      const shown = (await detailsOf(YEARLY)).join('\n')
      expect(shown).toMatch(/^\*\*PAUSED\*\* · no fire ahead\n/)
      expect(shown).toMatch(/\n- paused since \S+ \S+ \S+ by user:7: a \| reason\n/)
      expect(shown).toContain('\n- last command: pause by user:7, done\n')
      const key = await fixture.row('idempotency_keys', ({ idempotency_key }) => idempotency_key === `schedule_status:${YEARLY}:p-1`)
      expect(key).toMatchObject({ event_type: 'ScheduleStatusChanged' })

      await handleOf(YEARLY).signal(resumeSignal)
      await untilStatus(YEARLY, 'ACTIVE')
      expect(await row(YEARLY)).toMatchObject({ status: 'ACTIVE', status_changed_by: 'temporal', status_reason: null })
      // In one moment, in their order.
      await handleOf(YEARLY).signal(pauseSignal)
      await handleOf(YEARLY).signal(resumeSignal)
      await until('both are done', async () => Number((await row(YEARLY))?.['state_version']) >= 5)
      expect(await row(YEARLY)).toMatchObject({ status: 'ACTIVE' })
    },
    TIMEOUT_MS,
  )

  test(
    'shows a pause or a resume that was not taken, until the next command and not only until the next look',
    async () => {
      const lastCommand = async () => (await detailsOf(YEARLY)).filter((line) => line.startsWith('- last command: ')).join()
      const untilSaid = (words: string) => until(words, async () => (await lastCommand()).includes(words))
      await handleOf(YEARLY).signal(resumeSignal, { request_id: 'r-1', requested_by: 'ana' })
      await untilSaid('- last command: resume by ana, refused: The schedule was active already.')
      // A mistake of the sender is not a trouble of the schedule.
      expect(await stateOf(YEARLY)).toMatchObject({ status: 'ACTIVE' })
      const { turns } = await stateOf(YEARLY)
      await handleOf(YEARLY).signal(pokeSignal)
      await until('it has looked again', async () => (await stateOf(YEARLY)).turns > turns)
      await untilSaid('resume by ana, refused:')
      const { runId } = await handleOf(YEARLY).describe()
      await handleOf(YEARLY).signal(drainSignal)
      await until('it has begun a new run', async () => (await handleOf(YEARLY).describe()).runId !== runId)
      await untilStatus(YEARLY, 'ACTIVE')
      expect(await lastCommand()).toContain('resume by ana, refused:')

      await handleOf(YEARLY).signal(pauseSignal, { request_id: 'by hand' })
      await untilSaid('- last command: pause, refused: request_id is "by hand"')
      await handleOf(YEARLY).signal(pauseSignal)
      await handleOf(YEARLY).signal(pauseSignal)
      await untilSaid('pause, refused: The schedule was paused already.')
      await handleOf(YEARLY).signal(resumeSignal)
      await untilStatus(YEARLY, 'ACTIVE')
      expect(await lastCommand()).toBe('- last command: resume, done')
    },
    TIMEOUT_MS,
  )

  test(
    'is poked when the API paused its schedule, and when somebody changed it',
    async () => {
      await append(say.scheduleStatusChanged(YEARLY, 'PAUSED', { ...at(), request: 'api-1' }))
      await untilStatus(YEARLY, 'PAUSED')
      await append(say.scheduleStatusChanged(YEARLY, 'ACTIVE', { ...at(), request: 'api-2' }))
      await untilStatus(YEARLY, 'ACTIVE')
      const changed = { cron_expressions: ['0 11 1 1 *'], timezone: 'America/New_York', asset_selection: ['a'] }
      await append(say.scheduleDefined(YEARLY, changed, { schedule_name: 'yearly' }, { ...at(), request: 'r2' }))
      await until('its page says so', async () => (await detailsOf(YEARLY)).some((line) => line.startsWith('- cron `0 11 1 1 *`')))
    },
    TIMEOUT_MS,
  )

  test(
    'triggers by an update, once for a request id, and says what it cannot mean',
    async () => {
      const trigger = (request: object) => handleOf(YEARLY).executeUpdate(triggerUpdate, { args: [request as { request_id: string }] })
      const first = await trigger({ request_id: 'by-hand-1' })
      const manual = await tick(({ tick_id }) => tick_id === `${YEARLY}:manual:by-hand-1`)
      expect(manual).toMatchObject({ kind: 'MANUAL', status: 'TRIGGERED', run_count: 1 })
      expect(first).toEqual({ tick_id: `${YEARLY}:manual:by-hand-1`, run_ids: [manual?.['run_id']] })
      expect(await trigger({ request_id: 'by-hand-1' })).toEqual(first)
      expect(await trigger({ request_id: 'by-hand-1', instant: '2025-01-15T10:00:00.000Z' })).toEqual({
        problem: expect.stringContaining('The request_id "by-hand-1" was used before, for another partition or instant.'),
      })
      expect(await trigger({ request_id: 'by-hand-2', instant: 'soon' })).toMatchObject({
        problem: expect.stringContaining('instant is "soon"'),
      })
      expect(await trigger({ request_id: 'by hand' })).toMatchObject({ problem: expect.stringContaining('request_id is "by hand"') })
      for (const [index, instant] of ['15 January 2025', '2025-01-15', '2025-02-30T00:00:00Z'].entries()) {
        const { problem } = (await trigger({ request_id: `loose-${index}`, instant })) as { readonly problem?: string }
        expect(problem).toContain(`instant is "${instant}". Give it an instant of RFC 3339`)
      }
      for (const [request, sentence] of [
        [{ request_id: '' }, 'The trigger\'s request_id is "". Give it text'],
        [{ request_id: 'by-hand-3', partition: 20_250_115 }, "The trigger's partition is 20250115. Give it text"],
        [{ request_id: 'by-hand-3', partitions: '2025-01-15' }, 'A trigger has no member "partitions".'],
      ] as const) {
        const refused = await trigger(request).catch((error: unknown) => error)
        expect(refused).toBeInstanceOf(WorkflowUpdateFailedError)
        expect(String((refused as Error).cause)).toContain(sentence)
      }
    },
    TIMEOUT_MS,
  )

  test(
    'pauses and resumes by updates, which answer; the id of the update is the request id',
    async () => {
      const paused = await handleOf(YEARLY).executeUpdate(pauseUpdate, { args: [{ requested_by: 'user:9' }], updateId: 'u-1' })
      expect(paused).toEqual({ status: 'PAUSED' })
      const key = await fixture.row('idempotency_keys', ({ idempotency_key }) => idempotency_key === `schedule_status:${YEARLY}:u-1`)
      expect(key).toMatchObject({ event_type: 'ScheduleStatusChanged' })
      expect(await handleOf(YEARLY).executeUpdate(pauseUpdate, { args: [{}] })).toEqual({
        problem: 'The pause was not carried out. The schedule was paused already.',
      })
      const loose = handleOf(YEARLY).executeUpdate(resumeUpdate, { args: [{ why: 'x' } as object] })
      await expect(loose).rejects.toMatchObject({ cause: { message: expect.stringContaining('A resume has no member "why".') } })
      expect(await handleOf(YEARLY).executeUpdate(resumeUpdate, { args: [{}] })).toEqual({ status: 'ACTIVE' })
      const tick = await handleOf(YEARLY).executeUpdate(triggerUpdate, { args: [{}], updateId: 'u-2' })
      expect(tick).toMatchObject({ tick_id: `${YEARLY}:manual:u-2` })
    },
    TIMEOUT_MS,
  )

  test(
    'shows a signal and an update that it does not know, and what it knows',
    async () => {
      await handleOf(YEARLY).signal('Pause')
      const unknown = '- last command: unknown signal Pause; known: pause, resume, poke'
      await until('its page has it', async () => (await detailsOf(YEARLY)).includes(unknown))
      expect(await handleOf(YEARLY).executeUpdate('Trigger')).toEqual({
        problem: 'unknown update Trigger; known: pause, resume, trigger',
      })
      expect(await stateOf(YEARLY)).toMatchObject({ status: 'ACTIVE' })
    },
    TIMEOUT_MS,
  )

  test(
    'describes each signal, update and query to the UI',
    async () => {
      const { definition } = (await handleOf(YEARLY).query('__temporal_workflow_metadata')) as { readonly definition: Definition }
      const described = (list: readonly Described[] = []) =>
        list.filter(({ name }) => !name?.startsWith('__')).map(({ name, description }) => [name, (description ?? '').length > 10])
      expect(described(definition.signalDefinitions)).toEqual(
        expect.arrayContaining(['pause', 'resume', 'poke', 'drain'].map((name) => [name, true])),
      )
      expect(described(definition.updateDefinitions)).toEqual(
        expect.arrayContaining(['pause', 'resume', 'trigger'].map((name) => [name, true])),
      )
      expect(described(definition.queryDefinitions)).toEqual(expect.arrayContaining([['state', true]]))
      const named = [definition.signalDefinitions, definition.updateDefinitions, definition.queryDefinitions].flatMap(described)
      expect(named.filter(([, isDescribed]) => isDescribed !== true)).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'answers a trigger whose runs do not fit one batch with what to do',
    async () => {
      const partitions = { type: 'static', keys: Array.from({ length: 1_000 }, (_, index) => `key-${index}`) } as const
      const wide = Array.from({ length: 90 }, (_, index) => `${'wide'.repeat(10)}-${index}`)
      const location = say.locationDeployed('wide', 0, {}, at())
      await append(location, ...wide.map((asset_key) => say.assetDefined(asset_key, { group: 'wide', partitions }, 'wide', at())))
      const mapping = { type: 'LAST_COMPLETE', end_offset: 0 } as const
      await define(WIDE, { cron_expressions: ['0 0 1 1 *'], asset_selection: ['group:wide'], partition_mapping: mapping }, 'wide')
      await untilStatus(WIDE, 'ACTIVE')
      const answer = await handleOf(WIDE).executeUpdate(triggerUpdate, { args: [{ request_id: 'all-of-it' }] })
      expect(answer).toEqual({ problem: expect.stringMatching(/asks for 1000 runs .* Until then name one with partition\.$/) })
    },
    TIMEOUT_MS,
  )

  test(
    'ticks when it is due, and shows the tick; a new run of the workflow goes on where the old one was',
    async () => {
      await define(OFTEN, { cron_expressions: ['*/2 * * * * *'], timezone: 'UTC' }, 'often')
      await until('it has ticked twice', () => tick((row) => row['schedule_id'] === OFTEN && row['status'] === 'TRIGGERED'))
      // By itself its loop looks every ten minutes, because it fires more often than every five.
      await handleOf(OFTEN).signal(pokeSignal)
      await until('its page has the tick', async () => (await detailsOf(OFTEN)).some((line) => LAST_TICK.test(line)))
      const { runId } = await handleOf(OFTEN).describe()
      await handleOf(OFTEN).signal(drainSignal)
      await until('it has begun a new run', async () => (await handleOf(OFTEN).describe()).runId !== runId)
      await untilStatus(OFTEN, 'ACTIVE')
      expect(await detailsOf(OFTEN)).toContain('- cron `*/2 * * * * *`, zone UTC')
      await append(say.scheduleStatusChanged(OFTEN, 'PAUSED', at()))
      await untilStatus(OFTEN, 'PAUSED')
    },
    TIMEOUT_MS,
  )

  test(
    'waits for a schedule that is not known, and ends with the tombstone alone',
    async () => {
      const { client } = temporal()
      const id = workflowId(fixture.scope, 'schedule', OTHER)
      await client.workflow.start('scheduleLoop', {
        workflowId: id,
        taskQueue: taskQueues(fixture.scope).loops,
        args: [{ v: 1, ...fixture.scope, schedule_id: OTHER, commands: [], failures: 0, last_error: null }],
      })
      await untilStatus(OTHER, 'WAITING')
      await define(OTHER, { cron_expressions: ['0 0 1 1 *'], timezone: 'UTC' }, 'other')
      await handleOf(OTHER).signal(pokeSignal)
      await untilStatus(OTHER, 'ACTIVE')
      await append(say.scheduleRemoved(OTHER, at()))
      await until('it is over', async () => (await handleOf(OTHER).describe()).status.name === 'COMPLETED')
    },
    TIMEOUT_MS,
  )

  test(
    'is there again, with its schedule as it was, after its automation and its run are gone',
    async () => {
      await handleOf(YEARLY).signal(pauseSignal, { requested_by: 'user:8' })
      await untilStatus(YEARLY, 'PAUSED')
      await handleOf(YEARLY).terminate('by hand')
      const other = await startAutomationFixture(temporal(), { folder: fixture.folder })
      try {
        await until('it runs', async () => (await handleOf(YEARLY).describe()).status.name === 'RUNNING')
        await untilStatus(YEARLY, 'PAUSED')
        expect((await detailsOf(YEARLY)).join('\n')).toContain('by user:8')
        expect(await tick(({ tick_id }) => tick_id === `${OTHER}:0`)).toBeUndefined()
        expect((await handleOf(OTHER).describe()).status.name).toBe('COMPLETED')
      } finally {
        await other.stop()
      }
    },
    TIMEOUT_MS + SECOND_MS,
  )
})
