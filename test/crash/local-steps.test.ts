// Every step of every write of the local store, with a second process at the same name: killed there, before the second
// one comes or beside it; and stopped there until the second one is done, then let go on.

import { type ChildProcess, spawn } from 'node:child_process'
import { lutimesSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { crc32cHex } from '../../src/core/hash.js'
import { WRITE_MS_MAX } from '../../src/core/limits.js'
import { compareStamps, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createLocalStore, LOCAL_DELETE_STEPS, LOCAL_MAKE_STEPS, LOCAL_PUT_STEPS } from '../../src/storage/local.js'
import { CREATE, type DeleteAnswer, type ObjectHead, type ObjectStore, type PutAnswer } from '../../src/storage/object-store.js'
import { compileTo } from '../fixtures/compiled.js'
import type { ChildTask } from './local-steps-child.js'

type Operation = ChildTask['operation']
type Answer = PutAnswer | DeleteAnswer

/** A tombstone of these objects is due at once for the child, whose clock jumps when it sweeps. */
const JUMP = { at: 'look-for-others', by_ms: 3 * HOUR_MS }
const STEPS = { create: LOCAL_PUT_STEPS, replace: LOCAL_PUT_STEPS, delete: LOCAL_DELETE_STEPS } as const
const CHILDREN_AT_ONCE = 2

let folder = ''
let root = ''
let child_file = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-steps-'))
  root = join(folder, 'store')
  const compiled = await compileTo(join(folder, 'compiled'), ['src/core', 'src/storage', 'test/crash/local-steps-child.ts'])
  child_file = compiled('test/crash/local-steps-child.ts')
  // The store is there already: how it is made has tests of its own.
  await open().put('first', bytesOf(''), { if_generation: CREATE })
}, 60_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const open = (): ReturnType<typeof createLocalStore> => createLocalStore({ folder: root })
const temporaryFolder = () => join(root, '.servo', 'tmp')

function headOf(answer: PutAnswer): ObjectHead {
  if (answer.kind !== 'stored') throw new Error(`The put was answered ${answer.kind}.`)
  return answer.head
}

/** What a dead process left looks as old as this: nobody waits for it in a test. */
function age(by_ms: number, matches: (entry: string) => boolean): void {
  const then = (Date.now() - by_ms) / 1_000
  for (const entry of readdirSync(temporaryFolder())) if (matches(entry)) lutimesSync(join(temporaryFolder(), entry), then, then)
}

type Child = {
  readonly process_id: number
  readonly steps: readonly string[]
  /** Resolves when it is at its stop, or over. */
  readonly stopped: Promise<void>
  readonly goOn: () => void
  /** Its answer; `undefined` when it was killed. */
  readonly answer: Promise<Answer | undefined>
}

async function startChild(task: ChildTask): Promise<Child> {
  const child: ChildProcess = spawn(process.execPath, [child_file, JSON.stringify(task)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const steps: string[] = []
  let answer: Answer | undefined
  const goOn = () => void child.stdin?.write('go\n')
  let has_begun = false
  const closed = new Promise<void>((resolve, reject) => {
    child.once('close', (code, signal) => {
      if (has_begun) resolve()
      else reject(new Error(`The child ended (code ${code}, signal ${signal}) before it took a step: something else ended it.`))
    })
  })
  let begun = () => {}
  let stopped = () => {}
  const ready = new Promise<void>((resolve) => (begun = resolve))
  const at_stop = new Promise<void>((resolve) => (stopped = resolve))
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    if (line === 'ready') {
      has_begun = true
      begun()
    } else if (line === 'paused') stopped()
    else if (line.startsWith('step ')) steps.push(line.slice('step '.length))
    else if (line.startsWith('answer ')) answer = JSON.parse(line.slice('answer '.length)) as Answer
  })
  child.stdin?.on('error', () => undefined)
  await Promise.race([ready, closed])
  return { process_id: child.pid as number, steps, stopped: Promise.race([at_stop, closed]), goOn, answer: closed.then(() => answer) }
}

/** The second process comes when the child is dead, runs beside it, or runs while it stands still. */
const WAYS = ['kill', 'race', 'pause'] as const
type Run = { readonly operation: Operation; readonly stop_at: number; readonly how: (typeof WAYS)[number] }

/** One child at one step, a second process at the same name, and everything that must hold afterwards. */
async function runStep({ operation, stop_at, how }: Run): Promise<readonly string[]> {
  const name = `${operation}-${how}/${stop_at}/a.json`
  const store = open()
  const base = operation === 'create' ? undefined : headOf(await store.put(name, bytesOf('base'), { if_generation: CREATE }))
  const before = headOf(await store.put(`${name}/before`, bytesOf(''), { if_generation: CREATE }))
  const generation = base?.generation ?? CREATE
  const child = await startChild({
    folder: root,
    name,
    operation,
    generation,
    text: 'child',
    stop_at,
    how: how === 'pause' ? 'pause' : 'kill',
    jump: JUMP,
  })
  child.goOn()
  if (how !== 'race') await child.stopped
  const racer = await raced(store, name, generation)
  child.goOn()
  const answer = await child.answer
  age(2_000, (entry) => entry.includes(`-${child.process_id}-`))

  const seen = await readWhole(open(), name)
  expectOneWinner({ operation, racer, answer, seen: seen?.text, is_killed: answer === undefined })
  const stamps = [before, ...(seen === undefined ? [] : [seen.head])]
  const next = await open().put(name, bytesOf('next'), { if_generation: seen?.head.generation ?? CREATE })
  stamps.push(headOf(next), headOf(await open().put(`${name}/after`, bytesOf(''), { if_generation: CREATE })))
  for (const [i, head] of stamps.slice(1).entries())
    expect(compareStamps((stamps[i] as ObjectHead).creation_time, head.creation_time)).toBeLessThan(0)
  expect(await open().list(name)).toMatchObject({
    objects: [stamps.at(-2), stamps.at(-1), before].sort((left, right) =>
      (left as ObjectHead).name < (right as ObjectHead).name ? -1 : 1,
    ),
  })
  expect(await readWhole(open(), name)).toMatchObject({ text: 'next' })
  // What the child left was collected by the puts of others.
  expect(readdirSync(temporaryFolder()).filter((entry) => entry.includes(`-${child.process_id}-`))).toEqual([])
  return child.steps
}

async function raced(store: ObjectStore, name: string, generation: string): Promise<PutAnswer> {
  return store.put(name, bytesOf('racer'), { if_generation: generation })
}

async function readWhole(store: ObjectStore, name: string): Promise<{ readonly head: ObjectHead; readonly text: string } | undefined> {
  const got = await store.get(name)
  if (got.kind === 'absent') return undefined
  expect(crc32cHex(got.bytes)).toBe(got.head.crc32c)
  expect(await store.head(name)).toMatchObject({ head: got.head })
  return { head: got.head, text: new TextDecoder().decode(got.bytes) }
}

type Outcome = {
  readonly operation: Operation
  readonly racer: PutAnswer
  readonly answer: Answer | undefined
  readonly seen: string | undefined
  readonly is_killed: boolean
}

function expectOneWinner({ operation, racer, answer, seen, is_killed }: Outcome): void {
  const child_text = operation === 'delete' ? undefined : 'child'
  const has_child_won = answer?.kind === 'stored' || answer?.kind === 'deleted'
  // Acknowledged is there, whatever happened to the other one; and the two of one generation are never both told so.
  expect([racer.kind === 'stored', has_child_won].filter(Boolean).length).toBeLessThanOrEqual(1)
  if (racer.kind === 'stored') expect(seen).toBe('racer')
  // A refusal means that the child's write is there, acknowledged or not.
  else expect({ racer: racer.kind, seen }).toEqual({ racer: 'precondition_failed', seen: child_text })
  if (is_killed) return
  expect(has_child_won).toBe(racer.kind !== 'stored')
  // A tombstone that was swept at once leaves a name that is free again: the racer may then come after the delete.
}

/** Two at a time: each has its own name, all share the folder, its clock and its temporary files. */
async function runAll(runs: readonly Run[]): Promise<Map<Run, readonly string[]>> {
  const waiting = [...runs]
  const steps = new Map<Run, readonly string[]>()
  const work = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      try {
        steps.set(run, await runStep(run))
      } catch (error) {
        throw new Error(
          `${run.operation}, ${run.how} at step ${run.stop_at} (${STEPS[run.operation][run.stop_at - 1]}): ${String(error)}`,
          { cause: error },
        )
      }
    }
  }
  // A failure waits for the other one's child: what it does later would disturb the tests that follow.
  const workers = await Promise.allSettled(Array.from({ length: CHILDREN_AT_ONCE }, work))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return steps
}

describe.each(['create', 'replace', 'delete'] as const)('%s', (operation) => {
  const all = STEPS[operation]

  test(`goes through its ${all.length} steps in order`, async () => {
    const name = `${operation}/steps.json`
    const base = operation === 'create' ? undefined : headOf(await open().put(name, bytesOf('base'), { if_generation: CREATE }))
    const child = await startChild({ folder: root, name, operation, generation: base?.generation ?? CREATE, text: 'child', jump: JUMP })
    child.goOn()
    expect(await child.answer).toMatchObject({ kind: operation === 'delete' ? 'deleted' : 'stored' })
    expect(child.steps).toEqual(all)
  }, 30_000)

  test.each(WAYS)(
    `${all.length} steps, a %s at each: whole or absent, one winner, nothing acknowledged is lost`,
    async (how) => {
      const runs = all.map((_, i) => ({ operation, stop_at: i + 1, how }))
      const steps = await runAll(runs)
      if (how === 'kill') for (const run of runs) expect(steps.get(run)).toEqual(all.slice(0, run.stop_at))
    },
    120_000,
  )
})

describe('the first write into a store', () => {
  /** Its first three steps; the process ends at one of them. */
  async function firstPut(within: string, end_at?: string): Promise<{ readonly steps: readonly string[]; readonly answer: unknown }> {
    const steps: string[] = []
    const onStep = (step: string) => {
      steps.push(step)
      if (step === end_at) throw new Error('ended')
    }
    const put = createLocalStore({ folder: within, onStep }).put('a', bytesOf('first'), { if_generation: CREATE })
    return { answer: await put.catch((error: unknown) => error), steps }
  }

  test.each(LOCAL_MAKE_STEPS)('that ends before "%s" leaves the next one to make the way to it durable', async (end_at) => {
    const within = join(folder, `made-${end_at}`, 'below')
    expect(await firstPut(within, end_at)).toMatchObject({ steps: LOCAL_MAKE_STEPS.slice(0, LOCAL_MAKE_STEPS.indexOf(end_at) + 1) })
    expect(await open().get('nothing')).toMatchObject({ kind: 'absent' })
    const next = await firstPut(within)
    expect(next).toMatchObject({ answer: { kind: 'stored' }, steps: [...LOCAL_MAKE_STEPS, ...LOCAL_PUT_STEPS] })
    expect((await firstPut(within)).steps).not.toContain('make-store')
  })
})

describe('a put that is paused', () => {
  function paused(at: string, act: () => void | Promise<void>, within = root) {
    let offset_ms = 0
    const clock = { now: () => Date.now() + offset_ms, elapsed: () => performance.now() }
    const jump = (by_ms: number) => (offset_ms += by_ms)
    return { jump, store: createLocalStore({ folder: within, clock, onStep: (step) => (step === at ? act() : undefined) }) }
  }

  test.each(LOCAL_PUT_STEPS)('before "%s" for longer than a write may take says whether it is late', async (step) => {
    const isLate = async (pause_ms: number) => {
      // Each in a store of its own: stamps never go back, not even to the time that is.
      const { store, jump } = paused(step, () => void jump(pause_ms), join(folder, `late-${step}-${pause_ms}`))
      const answer = await store.put(`late/${step}`, bytesOf(''), { if_generation: CREATE })
      return answer.kind === 'stored' && answer.late
    }
    expect(await isLate(WRITE_MS_MAX + 1)).toBe(LOCAL_PUT_STEPS.indexOf(step) > LOCAL_PUT_STEPS.indexOf('draw-stamp'))
    expect(await isLate(WRITE_MS_MAX - 10 * SECOND_MS)).toBe(false)
  })

  test('before the link for so long that its file was collected is unknown, and leaves nothing', async () => {
    const { store } = paused('link', async () => {
      age(11 * MINUTE_MS, () => true)
      await open().put('fence/other', bytesOf(''), { if_generation: CREATE })
    })
    await expect(store.put('fence/a', bytesOf('late'), { if_generation: CREATE })).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await open().get('fence/a')).toMatchObject({ kind: 'absent' })
  })

  test('at the number that another one has taken and left again does not take it a second time', async () => {
    // Paused between its look and its link, while the object lives, dies and would be swept: the sweep waits for it.
    const { store } = paused('draw-stamp', async () => {
      const head = headOf(await open().put('again/a', bytesOf('other'), { if_generation: CREATE }))
      await open().delete('again/a', { if_generation: head.generation })
    })
    expect(await store.put('again/a', bytesOf('stale'), { if_generation: CREATE })).toMatchObject({ kind: 'precondition_failed' })
    expect(await open().get('again/a')).toMatchObject({ kind: 'absent' })
  })
})

describe('a sweep that is paused', () => {
  /** Deletes with a clock at which the tombstone is due, and acts while the sweep stands before this step. */
  async function deletePaused(name: string, at: string, act: () => Promise<void>): Promise<void> {
    const head = headOf(await open().put(name, bytesOf('old'), { if_generation: CREATE }))
    let offset_ms = 0
    const clock = { now: () => Date.now() + offset_ms, elapsed: () => performance.now() }
    async function onStep(step: string) {
      if (step === 'raise-flag') offset_ms = 3 * HOUR_MS
      if (step === at) await act()
    }
    expect(await createLocalStore({ folder: root, clock, onStep }).delete(name, { if_generation: head.generation })).toEqual({
      kind: 'deleted',
    })
  }

  test.each(['look-for-others', 'remove-old', 'remove-tombstone'])('before "%s" keeps writers from the name', async (step) => {
    const name = `swept/${step}`
    let answer: PutAnswer | undefined
    await deletePaused(name, step, async () => {
      answer = await open().put(name, bytesOf('new'), { if_generation: CREATE })
    })
    expect(answer).toMatchObject({ kind: 'throttled' })
    expect(await open().put(name, bytesOf('new'), { if_generation: CREATE })).toMatchObject({ kind: 'stored' })
    expect(await readWhole(open(), name)).toMatchObject({ text: 'new' })
  })

  test.each(['look-for-others', 'remove-old', 'remove-tombstone'])(
    'before "%s" until it was given up removes nothing any more',
    async (step) => {
      const name = `fenced/${step}`
      await deletePaused(name, step, async () => {
        age(11 * MINUTE_MS, () => true)
        expect(await open().put(name, bytesOf('new'), { if_generation: CREATE })).toMatchObject({ kind: 'stored' })
      })
      expect(await readWhole(open(), name)).toMatchObject({ text: 'new' })
      expect((await open().list(name)).objects).toHaveLength(1)
    },
  )

  test('and done between the two looks of a writer leaves it a name that is free', async () => {
    const name = 'between/a'
    let letSweepGoOn = () => {}
    const swept_on = new Promise<void>((resolve) => (letSweepGoOn = resolve))
    let atTombstone = () => {}
    const stands = new Promise<void>((resolve) => (atTombstone = resolve))
    const deleted = deletePaused(name, 'remove-tombstone', () => (atTombstone(), swept_on))
    await stands
    const store = createLocalStore({
      folder: root,
      async onStep(step) {
        if (step !== 'look-again') return
        letSweepGoOn()
        await deleted
      },
    })
    expect(await store.put(name, bytesOf('new'), { if_generation: CREATE })).toMatchObject({ kind: 'stored', head: { generation: '1' } })
    expect(await readWhole(open(), name)).toMatchObject({ text: 'new' })
  })

  test('leaves no folder and no file behind when it is done', async () => {
    await deletePaused('gone/below/a', 'raise-flag', async () => undefined)
    expect(readdirSync(root)).not.toContain('gone')
    expect(dirname(open().filePath('gone/below/a', '1'))).toBe(join(root, 'gone', 'below'))
  })
})
