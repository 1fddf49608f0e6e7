// A system whose tasks go on until the test lets them end, and what the test sees of it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeLocation } from '../../src/sdk/definition.js'
import { FOLDER_VARIABLE, location, NOTES_FILE, RELEASE_FILE } from '../fixtures/patient-location.js'
import { type System, startSystem } from '../fixtures/system.js'
import { until } from '../fixtures/until.js'
import { type Effect, readEffects } from './side-effects.js'

const MODULE = new URL('../fixtures/patient-location.ts', import.meta.url).pathname
const SLOTS = 2

export type Note = Omit<Effect, 'what' | 'pid'> & { readonly what: 'start' | 'stop' | 'end'; readonly reason: string | null }

export type TaskAnswer = {
  readonly state: string
  readonly attempt: number
  readonly failures: number
  readonly infra_losses: number
  readonly outcome_reason: string | null
  readonly heartbeat_deadline_at: string | null
}

export type Patient = {
  readonly system: System
  readonly notes: () => readonly Note[]
  readonly request: (asset_key: string, tags?: Readonly<Record<string, string>>) => Promise<string>
  readonly state: (run_id: string) => Promise<string>
  readonly task: (run_id: string, task_key: string) => Promise<TaskAnswer>
  readonly untilStarted: (run_id: string, attempt?: number) => Promise<Note>
  readonly untilState: (run_id: string, state: string, wait_ms_max?: number) => Promise<void>
  /** All code that waits ends, now and from now on. */
  readonly release: () => void
  readonly hold: () => void
  readonly stop: () => Promise<void>
}

export async function startPatient(): Promise<Patient> {
  const folder = mkdtempSync(join(tmpdir(), 'servo-patient-'))
  const system = await startSystem({
    module: MODULE,
    location_name: location.name,
    slots: SLOTS,
    with_temporal_file: true,
    environment: { [FOLDER_VARIABLE]: folder },
  })
  const { client, worker_url } = system
  const { assets } = describeLocation({ name: location.name, assets: location.assets })
  await client.post(`/code-locations/${location.name}/deploy`, {
    worker_url,
    slots: SLOTS,
    assets: assets.map(({ definition }) => definition),
  })
  await until('the assets are defined', async () => (await client.get<{ assets: readonly unknown[] }>('/assets')).assets.length > 0)
  const notes = () => readEffects(join(folder, NOTES_FILE)) as unknown as readonly Note[]
  const release_file = join(folder, RELEASE_FILE)
  const state = async (run_id: string) => (await client.get<{ readonly state: string }>(`/runs/${run_id}`)).state
  return {
    system,
    notes,
    state,
    request: async (asset_key, tags = {}) =>
      (await client.post<{ readonly run_id: string }>('/runs', { selection: asset_key, tags }, { query: { wait: true } })).run_id,
    task: (run_id, task_key) => client.get<TaskAnswer>(`/runs/${run_id}/tasks/${task_key}`),
    untilStarted: (run_id, attempt = 1) =>
      until(`attempt ${attempt} of ${run_id} runs`, () =>
        notes().find((each) => each.what === 'start' && each.run_id === run_id && each.attempt === attempt),
      ),
    untilState: async (run_id, wanted, wait_ms_max) => {
      await until(`run ${run_id} is ${wanted}`, async () => (await state(run_id)) === wanted, wait_ms_max)
    },
    release: () => writeFileSync(release_file, ''),
    hold: () => rmSync(release_file, { force: true }),
    async stop() {
      await system.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
