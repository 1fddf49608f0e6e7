// Execution, told step by step: the processes of the simulation in fair weather, and a worker whose every word is a call of
// the story. For the tests of single invariants.

import { expect } from '@jest/globals'
import type { SendAnswer } from '../../../src/activities/dispatch.js'
import type { Dispatch } from '../../../src/api/contract/worker.js'
import { SECOND_MS } from '../../../src/core/time.js'
import type { LooseRow, TableName } from '../../../src/projections/tables.js'
import { createReader } from '../../../src/readers/reader.js'
import { createRandom } from '../../fixtures/random.js'
import { ulidOf } from '../../fixtures/say.js'
import { createWorld, type Process, type ProcessOptions, type WorldOptions } from '../../fixtures/world.js'
import { checkWorld } from '../../invariants/check.js'
import { gatherEvidence } from '../../invariants/evidence.js'
import { checkExecution } from '../../invariants/execution-checks.js'
import { openApi } from './api.js'
import { type Automation, openAutomation } from './automation.js'
import type { ApiDoor, CallbackPath, Reply } from './door.js'
import { createPerson } from './people.js'
import { createSite } from './site.js'
import { fairWeather } from './weather.js'

type Body = Readonly<Record<string, unknown>>

export function createExecutionStory(options: WorldOptions = {}) {
  const world = createWorld(options)
  const site = createSite(world, fairWeather(createRandom('fair weather')))
  const reader = createReader({ store: world.bucket, files: world.files })
  /** What was handed over, in its order, again and again as it was sent. */
  const out: Dispatch[] = []
  let answer: SendAnswer = { answer: 'ACCEPTED' }
  const port = {
    port: 'DIRECT',
    async send(_url: string, dispatches: readonly Dispatch[]): Promise<readonly SendAnswer[]> {
      out.push(...dispatches)
      // Of whose run an attempt is: the check of who is told to stop asks for it.
      site.overheard.push(...dispatches)
      return dispatches.map(() => answer)
    },
  } as const

  const rows = async (table: TableName): Promise<readonly LooseRow[]> =>
    (await (await reader.latest())?.page(table, { limit: 10_000 }))?.rows ?? []

  const person = createPerson(site, world.start('person'))
  /** With all that it handed over. */
  async function turn({ decider, hand_over }: Automation): Promise<void> {
    await decider.turn()
    await hand_over.settled()
  }

  return {
    world,
    site,
    out,
    rows,
    person,
    /** What workers answer to whatever is handed over from now on. */
    answerHandOver: (next: SendAnswer) => {
      answer = next
    },
    automation(name = 'automation'): Automation & { readonly process: Process } {
      const process = world.start(name)
      return { ...openAutomation(site, process, port), process }
    },
    turn,
    /** A turn each second, for this long: none comes late, so no deadline is held back. */
    async keepTurning(automation: Automation, duration_ms: number): Promise<void> {
      for (const until = world.time.now() + duration_ms; world.time.now() < until; await world.time.sleep(SECOND_MS)) await turn(automation)
    },
    /** The definitions of the simulation, and runs of what is selected, planned and handed over as far as they can be. */
    async begin(automation: Automation, ...selections: readonly (readonly string[])[]): Promise<readonly string[]> {
      if (site.apis.size === 0) await openApi(site, world.start('api of the person'))
      await turn(automation)
      await person.deploy('main', 0, 64)
      await turn(automation)
      const run_ids: string[] = []
      for (const selection of selections) run_ids.push((await person.askForRun(selection)) ?? 'none')
      await turn(automation)
      return run_ids
    },
    evidence: () => gatherEvidence({ ...world, store: world.bucket, now: world.time.now() }),
    api: (name = 'api', process_options: ProcessOptions = {}): Promise<ApiDoor> => openApi(site, world.start(name, process_options)),
    /** The newest dispatch of a task. */
    dispatchOf(task_key: string): Dispatch {
      const found = out.findLast((dispatch) => dispatch.task_key === task_key)
      if (found === undefined) throw new Error(`${task_key} was not handed over.`)
      return found
    },
    /** A word about an attempt, as its execution `of` says it. */
    say(door: ApiDoor, dispatch: Dispatch, path: CallbackPath, more: Body = {}, of = dispatch.attempt_id): Promise<Reply> {
      const { attempt_id, task_token, sequence } = dispatch
      const words = { started: { worker_id: `worker ${of}` }, heartbeat: { seq: 0 }, completed: {} }[path]
      return door.callback({ path, attempt_id, task_token, body: { execution_id: ulidOf(of), sequence, ...words, ...more } })
    },
    /** Asks to start, and runs code if it is told to: the witness hears of it. */
    async start(door: ApiDoor, dispatch: Dispatch, of = dispatch.attempt_id): Promise<number> {
      const asked_at = world.time.now()
      const { status, body } = await this.say(door, dispatch, 'started', {}, of)
      const { run_id, task_key, attempt, attempt_id, upstream } = dispatch
      const ids = { run_id, task_key, attempt, attempt_id }
      const ran = { ...ids, execution_id: ulidOf(of), worker: of, at: world.time.now(), asked_at, upstream }
      if (status === 200 && body['cancel'] !== true) site.witness.starts.push(ran)
      return status
    },
    /** The code has succeeded, whether anybody believes it or not. */
    async succeed(door: ApiDoor, dispatch: Dispatch, of = dispatch.attempt_id): Promise<number> {
      const { run_id, task_key, attempt, attempt_id } = dispatch
      const materialization_id = ulidOf(`materialization ${of}`)
      const end = { outcome: 'SUCCEEDED', materialization_id }
      site.witness.ends.push({ run_id, task_key, attempt, attempt_id, execution_id: ulidOf(of), ...end })
      return (await this.say(door, dispatch, 'completed', end, of)).status
    },
    tell: <T>(story: () => Promise<T>): Promise<T> => world.time.until(story()),
    async expectInvariants(): Promise<void> {
      expect(await checkWorld(world, (evidence) => checkExecution(evidence, site.witness))).toEqual([])
    },
  }
}

export type ExecutionStory = ReturnType<typeof createExecutionStory>
