// A process that makes one call on a local store and stops at the step that it is told: dead, or until it is told to go
// on. Started by local-steps.test.ts; it says what it does on stdout, a line each, and reads lines on stdin.

import { createInterface } from 'node:readline'
import { createLocalStore } from '../../src/storage/local.js'

export type ChildTask = {
  readonly folder: string
  readonly name: string
  readonly operation: 'create' | 'replace' | 'delete'
  readonly generation: string
  readonly text: string
  /** Counted from 1; none: it goes through. */
  readonly stop_at?: number
  readonly how?: 'kill' | 'pause'
  /** How much its clock jumps when it comes to this step. */
  readonly jump?: { readonly at: string; readonly by_ms: number }
}

const task = JSON.parse(process.argv[2] as string) as ChildTask
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const say = (line: string) => process.stdout.write(`${line}\n`)

let count = 0
let clock_offset_ms = 0

async function onStep(step: string): Promise<void> {
  count += 1
  say(`step ${step}`)
  if (task.jump?.at === step) clock_offset_ms += task.jump.by_ms
  if (count !== task.stop_at) return
  if (task.how === 'kill') {
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  }
  say('paused')
  await lines.next()
}

const clock = { now: () => Date.now() + clock_offset_ms, elapsed: () => performance.now() }
const store = createLocalStore({ folder: task.folder, clock, onStep })
say('ready')
await lines.next()
const answer =
  task.operation === 'delete'
    ? await store.delete(task.name, { if_generation: task.generation })
    : await store.put(task.name, new TextEncoder().encode(task.text), { if_generation: task.generation })
say(`answer ${JSON.stringify(answer)}`)
process.exit(0)
