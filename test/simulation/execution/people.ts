// What people ask of an API: deploys, runs of mixed graphs, cancels, reruns and caps. They try again under the same key when
// they have no answer, and give up at some point.

import { cancelDraft, cancelProblem } from '../../../src/commands/cancel.js'
import { type ClaimAnswer, submitClaimed } from '../../../src/commands/claims.js'
import { planDeploy } from '../../../src/commands/deploy.js'
import { poolDefinedDraft, poolRemovedDraft, removeProblem } from '../../../src/commands/pool.js'
import { isProblem, type Problem } from '../../../src/commands/problem.js'
import { planRerun } from '../../../src/commands/rerun/rerun.js'
import { planRunRequest, type RunAsked, type RunPlanned } from '../../../src/commands/run-request.js'
import { SECOND_MS } from '../../../src/core/time.js'
import type { AssetDefinition } from '../../../src/events/asset.js'
import type { Draft } from '../../../src/events/draft.js'
import type { LedgerEvent } from '../../../src/events/event.js'
import { findRun } from '../../../src/readers/found.js'
import type { View } from '../../../src/readers/reader.js'
import type { Random } from '../../fixtures/random.js'
import type { Process } from '../../fixtures/world.js'
import { type Actor, exponential } from '../actor.js'
import type { CommandDeps, Reply } from './door.js'
import { askApi, type Site, UNANSWERED } from './site.js'

export const GRACE_SECONDS = 8

const POLICY = {
  retry: { max_attempts: 3, max_infra_losses: 4, backoff_seconds: 3, factor: 2, jitter: 0.2 },
  start_timeout_seconds: 25,
  heartbeat_timeout_seconds: 12,
  cancel_grace_seconds: GRACE_SECONDS,
} as const

const asset = (asset_key: string, more: Partial<AssetDefinition> = {}): AssetDefinition => ({ asset_key, deps: [], ...POLICY, ...more })
const after = (...keys: readonly string[]) => ({ deps: keys.map((asset_key) => ({ asset_key })) })

const LOCATIONS = ['main', 'side'] as const
type Location = (typeof LOCATIONS)[number]

/** A diamond, a chain whose middle is limited, and something with partitions; beside it what depends on the diamond. With
 *  the version definitions change, and one is left out. */
const assetsOf = (location: Location, version: number): readonly AssetDefinition[] => (location === 'main' ? mainAssets(version) : SIDE)

const SIDE = [asset('s', after('a'))]

const mainAssets = (version: number): readonly AssetDefinition[] => [
  asset('a', { code_version: `v${version}` }),
  asset('b', after('a')),
  asset('c', { ...after('a'), pools: ['small'] }),
  asset('d', { ...after('b', 'c'), timeout_seconds: 15 }),
  asset('e', { pools: ['small', 'other'], priority: 5 }),
  ...(version === 3 ? [] : [asset('f', { ...after('e'), code_version: `v${version % 2}`, timeout_seconds: 30 })]),
  asset('p', { partitions: { type: 'static', keys: ['x', 'y', 'z'] }, partitions_per_task: 1 }),
]

const SELECTIONS = [['a'], ['a', 'b', 'c', 'd'], ['a', 's'], ['a', 'b'], ['e', 'f'], ['c', 'e'], ['b', 'd', 'f']] as const
const POOLS = ['global', 'pool:small', 'pool:other', 'location:main', 'tag:team=core', 'tag:team'] as const

type Command = (deps: CommandDeps) => Promise<object>
type Planning = (deps: CommandDeps, view: View | undefined, request_id: string) => Promise<Drafted | Problem>
type Drafted = { readonly drafts: readonly Draft[]; readonly answerOf: (events: readonly LedgerEvent[]) => ClaimAnswer }

/** As a route does it: claimed under the client's key, planned on the newest revision. */
function claimed(route: string, client_key: string, plan: Planning): Command {
  return async (deps) => {
    const answer = await submitClaimed(deps, { principal: 'api', route, client_key }, { route, client_key }, async (request_id) => {
      const planned = await plan(deps, await deps.current.latest(), request_id)
      return isProblem(planned) ? planned : { ...planned, source: 'servo/api' }
    })
    return isProblem(answer) ? answer : (answer.body as object)
  }
}

const accepted = (body: object) => () => ({ status: 202, body })

const runDrafted = (planned: RunPlanned | Problem): Drafted | Problem =>
  isProblem(planned)
    ? planned
    : { drafts: planned.drafts, answerOf: accepted(planned.conflict === undefined ? { run_id: planned.run_id } : planned.conflict) }

export type Person = {
  readonly deploy: (location: Location, version: number, slots?: number, prefetch?: number) => Promise<Reply | undefined>
  /** Of something that they draw, or of what they are told. */
  readonly askForRun: (selection?: readonly string[]) => Promise<string | undefined>
  readonly cancel: (run_id: string) => Promise<Reply | undefined>
  readonly rerun: (run_id: string) => Promise<string | undefined>
  readonly setCap: () => Promise<Reply | undefined>
  readonly removeCap: () => Promise<Reply | undefined>
  /** Pools that may be closed, by a cap of zero, have room again. */
  readonly openPools: () => Promise<void>
}

const TRIES_MAX = 4

function drawWish(random: Random): RunAsked {
  const isPartitioned = random.isTrue(0.15)
  return {
    selection: isPartitioned ? ['p'] : random.pick(SELECTIONS),
    ...(isPartitioned ? { partitions: { keys: random.isTrue(0.5) ? ['x'] : ['x', 'y', 'z'] } } : {}),
    priority: random.pick([0, 0, 10, -5]),
    tags: { team: random.pick(['core', 'web']) },
    ...(random.isTrue(0.2) ? { run_key: `k${random.below(5)}` } : {}),
  }
}

export function createPerson(site: Site, process: Process): Person {
  const { random, clock } = process
  // A source of its own: what is drawn besides changes nothing of a seed that is known.
  const prefetches = random.fork('prefetch')
  let asked = 0

  async function ask(route: string, plan: Planning): Promise<Reply | undefined> {
    asked += 1
    const command = claimed(route, `${process.name}-${random.below(1_000_000)}-${asked}`, plan)
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const reply = await askApi(site, process, (api) => api.command(command))
      if (reply !== UNANSWERED && reply.status !== 503) return reply
      await clock.sleep(random.below(4 * SECOND_MS))
    }
    return undefined
  }

  async function askForRunId(route: string, plan: Planning): Promise<string | undefined> {
    const run_id = (await ask(route, plan))?.body['run_id']
    if (typeof run_id !== 'string') return undefined
    site.witness.accepted.add(run_id)
    return run_id
  }

  const setCapOf = (pool_key: string, max_running: number): Promise<Reply | undefined> =>
    ask('pool', async (_deps, _view, request_id) => ({
      drafts: [poolDefinedDraft(pool_key, max_running, {}, request_id)],
      answerOf: accepted({ pool_key, max_running }),
    }))

  return {
    deploy: (location_name, version, slots = random.pick([2, 2, 4, 64]), prefetch = prefetches.pick([0, 40, 40])) =>
      ask('deploy', async (_deps, view, request_id) => {
        const assets = assetsOf(location_name, version)
        const asked_for = { location_name, worker_url: 'http://127.0.0.1:8080', slots, prefetch, assets }
        const planned = await planDeploy(view, asked_for, { request_id, now: clock.now() })
        return isProblem(planned) ? planned : { drafts: planned.drafts, answerOf: accepted({ version }) }
      }),
    askForRun(selection) {
      const wish = selection === undefined ? drawWish(random) : { selection }
      return askForRunId('run', async (deps, view, request_id) =>
        runDrafted(await planRunRequest(deps, view, wish, { request_id, now: clock.now() })),
      )
    },
    cancel: (run_id) =>
      ask('cancel', async (_deps, view, request_id) => {
        const found = await findRun(view, run_id)
        const refused = isProblem(found) ? found : cancelProblem(found.run)
        return refused ?? { drafts: [cancelDraft(run_id, {}, request_id)], answerOf: accepted({ run_id }) }
      }),
    rerun(run_id) {
      const mode = random.pick(['from_failure', 'whole'] as const)
      return askForRunId('rerun', async (deps, view) => {
        const found = await findRun(view, run_id)
        return runDrafted(isProblem(found) ? found : await planRerun(deps, found, { mode }, clock.now()))
      })
    },
    // One in six closes the pool.
    setCap: () => setCapOf(random.pick(POOLS), random.below(6)),
    removeCap() {
      const pool_key = random.pick(POOLS)
      return ask('pool', async (_deps, view, request_id) => {
        const refused = await removeProblem(view, pool_key)
        return refused ?? { drafts: [poolRemovedDraft(pool_key, {}, request_id)], answerOf: accepted({ pool_key }) }
      })
    },
    async openPools() {
      for (const pool_key of POOLS) await setCapOf(pool_key, 1 + random.below(5))
    },
  }
}

/** More than there are slots for, of what takes one task each. */
const askForMany = (person: Person, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => person.askForRun(['a'])))

export const createPeople = (site: Site, name: string, options: Actor['options']): Actor => ({
  name,
  options,
  think_ms: (random) => (site.witness.accepted.size === 0 ? 500 : exponential(4 * SECOND_MS)(random)),
  begin(process) {
    const person = createPerson(site, process)
    const { random } = process
    const { witness, weather } = site
    const missing = witness.accepted.size > 0 ? [] : [...LOCATIONS]
    return async () => {
      if (weather.isCalm()) return
      const location = missing[0]
      if (location !== undefined) {
        if ((await person.deploy(location, 0))?.status === 200) missing.shift()
        return
      }
      const regretted = site.regretted.shift()
      if (regretted !== undefined) {
        await person.cancel(regretted)
        return
      }
      const known = [...witness.accepted]
      const draw = random.below(100)
      if (known.length > 0 && weather.burst_size > 1 && draw < 20) await askForMany(person, weather.burst_size)
      else if (known.length === 0 || draw < 60) await person.askForRun()
      else if (draw < 75) await person.cancel(random.pick(known))
      else if (draw < 83) await person.rerun(random.pick(known))
      else if (draw < 92) await person.setCap()
      else if (draw < 95) await person.removeCap()
      else await person.deploy('main', random.below(4))
    }
  },
})
