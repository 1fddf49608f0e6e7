// Records the histories that replay.test.ts replays: `node scripts/run.js test/replay/record.ts [NAME ...]`. The loops are
// real, on a Temporal dev server; their activities answer what stories.ts says.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { NativeConnection } from '@temporalio/worker'
import { installRuntime } from '../../src/bin/temporal-worker.js'
import { NAMESPACE_DEFAULT, queuesBeside, taskQueues, workflowId } from '../../src/core/names.js'
import { WORKFLOW_TYPES } from '../../src/workflows/contract.js'
import { startScriptedLoops } from '../fixtures/scripted-loops.js'
import { startOnFreePort, temporalProgram } from '../fixtures/temporal-program.js'
import { until } from '../fixtures/until.js'
import { SCHEDULE_ID, STORIES, type Story } from './stories.js'

const FOLDER = fileURLToPath(new URL('histories', import.meta.url))
const TIMINGS = { backstop_ms: 3_600_000, backstop_ms_max: 7_200_000, maintenance_ms: 3_600_000 }
/** In every history instead of this process and machine. */
const IDENTITY = 'recorder'

async function record(name: string, story: Story, client: Client, connection: NativeConnection): Promise<void> {
  const scope = { tenant_id: 'acme', workspace_id: name }
  const queues = story.is_shared === true ? queuesBeside('servo-loops') : taskQueues(scope)
  const loops = await startScriptedLoops(connection, IDENTITY, queues, story)
  const { turn, maintain, collect, sweep, look } = loops
  const called = { workspace: turn, maintenance: maintain, schedule: look }[story.kind]
  const start = (kind: Story['kind']) =>
    client.workflow.start(WORKFLOW_TYPES[kind], {
      workflowId: kind === 'schedule' ? workflowId(scope, kind, SCHEDULE_ID) : workflowId(scope, kind),
      taskQueue: queues.loops,
      args: [
        {
          v: story.v ?? 1,
          ...scope,
          missed: [],
          schedule_id: SCHEDULE_ID,
          commands: [],
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
  const { calls } = called
  const begun = (count: number) => until(`call ${count} of ${name} has begun`, () => calls() >= count).then(() => undefined)
  try {
    await story.live({
      handle,
      begun,
      swept: (count) => until(`sweep ${count} of ${name} has begun`, () => sweep.calls() >= count).then(() => undefined),
      collecting: (count) => until(`collection ${count} of ${name} has begun`, () => collect.calls() >= count).then(() => undefined),
      letGo: () => called.letGo(),
      letGoCollection: (answer) => collect.letGo(answer),
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
    await loops.stop()
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
    if (story.is_past !== true && (wanted.length === 0 || wanted.includes(name))) await record(name, story, client, native)
  }
} finally {
  await connection.close()
  await native.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
