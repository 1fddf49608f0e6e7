// Records the histories that replay.test.ts replays: `node scripts/run.js test/replay/record.ts [NAME ...]`. The loops are
// real, on a Temporal dev server; their activities answer what stories.ts says.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Context } from '@temporalio/activity'
import { Client, Connection } from '@temporalio/client'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { NativeConnection, Worker } from '@temporalio/worker'
import type { Activities } from '../../src/activities/index.js'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { NAMESPACE_DEFAULT, TASK_QUEUES, workflowId } from '../../src/core/names.js'
import { WORKFLOW_TYPES } from '../../src/workflows/contract.js'
import type { MaintenanceReport, TurnReport } from '../../src/workflows/contract.js'
import { startOnFreePort, temporalProgram } from '../fixtures/temporal-program.js'
import { until } from '../fixtures/until.js'
import { workflowsForTests } from '../fixtures/workflows.js'
import { type Answer, STORIES, type Story } from './stories.js'

const FOLDER = fileURLToPath(new URL('histories', import.meta.url))
const TIMINGS = { backstop_ms: 3_600_000, backstop_ms_max: 7_200_000, maintenance_ms: 3_600_000 }
/** In every history instead of this process and machine. */
const IDENTITY = 'recorder'

const TURN: TurnReport = {
  sequence: 1,
  published_count: 0,
  more: false,
  merge_due: false,
  wake_in_ms: null,
  wake_at: null,
  open_runs: 0,
  running_tasks: 0,
  waiting_tasks: 0,
  unstarted: 0,
}
const MAINTENANCE: MaintenanceReport = { merged_files: 0, collected_files: 0, missed: [] }

/** The answers of one loop's activity. What is not in the list is as if nothing had happened. */
function scripted<Report>(usual: Report, answers: readonly Answer<Report>[] = []) {
  let calls = 0
  let letGo: () => void = () => undefined
  return {
    calls: () => calls,
    letGo: () => letGo(),
    async answer(): Promise<Report> {
      const answer = answers[calls]
      const held = answer === 'held' ? new Promise<void>((resolve) => (letGo = resolve)) : undefined
      calls += 1
      if (answer instanceof Error) throw answer
      if (held !== undefined) {
        // A cancellation arrives with the answer to a beat.
        const timer = setInterval(() => Context.current().heartbeat(), 100)
        await Promise.race([held, Context.current().cancelled]).finally(() => clearInterval(timer))
      }
      return { ...usual, ...(typeof answer === 'object' ? answer : {}) }
    },
  }
}

async function record(name: string, story: Story, client: Client, connection: NativeConnection): Promise<void> {
  const scope = { tenant_id: 'acme', workspace_id: name }
  const turn = scripted(TURN, story.turns)
  const maintain = scripted(MAINTENANCE, story.maintains)
  const activities: Activities = { turn: turn.answer, maintain: maintain.answer, handOver: async () => undefined }
  const common = { connection, namespace: NAMESPACE_DEFAULT, identity: IDENTITY }
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue: TASK_QUEUES.loops, ...(await workflowsForTests()) }),
    ...[TASK_QUEUES.turn, TASK_QUEUES.work].map((taskQueue) => Worker.create({ ...common, taskQueue, activities })),
  ])
  const running = Promise.all(workers.map((worker) => worker.run()))
  const start = (kind: Story['kind']) =>
    client.workflow.start(WORKFLOW_TYPES[kind], {
      workflowId: workflowId(scope, kind),
      taskQueue: TASK_QUEUES.loops,
      args: [
        {
          v: 1,
          ...scope,
          missed: [],
          failures: 0,
          last_error: null,
          turns_max: story.turns_max,
          timings: { ...TIMINGS, ...story.timings },
        },
      ],
    })
  const otherKind = story.kind === 'workspace' ? 'maintenance' : 'workspace'
  const other = story.with_other === true ? await start(otherKind) : undefined
  const handle = await start(story.kind)
  const first = client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId)
  const { calls } = story.kind === 'workspace' ? turn : maintain
  const begun = (count: number) => until(`call ${count} of ${name} has begun`, () => calls() >= count).then(() => undefined)
  try {
    await story.live({
      handle,
      begun,
      letGo: () => (story.kind === 'workspace' ? turn : maintain).letGo(),
      async waiting(count) {
        await begun(count)
        await until(`${name} waits`, async () => lastTypes(await first.fetchHistory()).includes('timerStarted'))
      },
    })
    await until(`${name} is over`, async () => (await first.describe()).status.name !== 'RUNNING')
    const history = await first.fetchHistory()
    writeFileSync(join(FOLDER, `${name}.json`), linesOf(historyToJSON(history)))
    process.stdout.write(`${name}: ${history.events?.length ?? 0} events, ${(await first.describe()).status.name}\n`)
  } finally {
    for (const each of [handle, other]) await each?.terminate().catch(() => undefined)
    for (const worker of workers) worker.shutdown()
    await running
  }
}

/** Since the last workflow task: what the loop has said, and has not been answered. */
function lastTypes({ events }: Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>): readonly string[] {
  const types = (events ?? []).map((event) =>
    Object.keys(event).find((key) => /^timer(Started|Canceled|Fired)/.test(key) && event[key as 'eventId'] != null),
  )
  return types.flatMap((type) => type?.replace('EventAttributes', '') ?? []).slice(-1)
}

/** An event a line: a change shows where it is. Stacks name folders of this machine, and mean nothing to a replay. */
function linesOf(json: string): string {
  const { events } = JSON.parse(json, (key, value: unknown) => (key === 'stackTrace' ? '' : value)) as {
    readonly events: readonly unknown[]
  }
  return `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`
}

const wanted = process.argv.slice(2)
// Activities fail and are cancelled here on purpose.
installRuntime(() => undefined)
const folder = mkdtempSync(join(tmpdir(), 'servo-record-'))
const server = await startOnFreePort({ program: await temporalProgram(), log_file: join(folder, 'temporal.log') })
const connection = await Connection.connect({ address: server.address })
const native = await NativeConnection.connect({ address: server.address })
try {
  const client = new Client({ connection, namespace: NAMESPACE_DEFAULT, identity: IDENTITY })
  for (const [name, story] of Object.entries(STORIES)) {
    if (wanted.length === 0 || wanted.includes(name)) await record(name, story, client, native)
  }
} finally {
  await connection.close()
  await native.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
