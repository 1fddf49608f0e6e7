// Guards of execution: starts, deadlines, and what a process knows of its store.

import { type Mutant, turn } from './mutant.js'

export const EXECUTION: readonly Mutant[] = [
  {
    name: 'claims taken for written where another entry stands',
    edits: [
      {
        file: 'src/commands/starts.ts',
        find: "found === 'created' ? entry : parseEntry(name, found)",
        replace: 'found.length > 0 ? entry : entry',
      },
    ],
    killed_by: {
      file: 'test/properties/start-log.test.ts',
      title: 'seed 3000: gives each attempt to one execution, and never to another',
    },
  },
  {
    name: 'words of an execution that was not told to start',
    edits: [
      {
        file: 'src/commands/executions.ts',
        find: 'return owner === execution_id ? undefined',
        replace: 'return owner !== undefined ? undefined',
      },
    ],
    killed_by: { file: 'test/api/attempts.test.ts', title: 'is not heard: heartbeat {"seq":0}' },
  },
  {
    name: 'attempts of cancelled runs taken back without their claim',
    edits: [
      {
        file: 'src/commands/withdraw.ts',
        find: 'return (await claimStart(deps, startGroupOf(task), claim)).execution_id',
        replace: 'return (await claimStart(deps, startGroupOf(task), claim)) && claim.execution_id',
      },
    ],
    killed_by: {
      file: 'test/api/cancels.test.ts',
      title: 'is not taken from an execution that has the claim and is about to be answered',
    },
  },
  {
    name: 'code that begins after the cancel, because its first answer was lost',
    edits: [
      {
        file: 'src/commands/attempt.ts',
        find: '...(isCancelled ? { cancel: true',
        replace: '...(isCancelled && task === undefined ? { cancel: true',
      },
    ],
    killed_by: {
      file: 'test/invariants/i30-a-cancelled-run-dispatches-nothing.test.ts',
      title: 'I30 an execution whose answer was lost asks again after the cancel: it is told to cancel, and its code does not begin',
    },
  },
  {
    name: 'deadlines judged right after an outage',
    edits: [
      {
        file: 'src/controllers/hold.ts',
        find: 'outage_ms > TURN_GAP_MS_MAX ? TURN_GAP_HOLD_MS_MAX',
        replace: 'outage_ms < 0 ? TURN_GAP_HOLD_MS_MAX',
      },
    ],
    killed_by: turn('controllers', 'give nothing up right after the store was out of reach, for nobody could say that it lives'),
  },
  {
    name: 'a process that has just begun takes itself for one that was always there',
    edits: [
      {
        file: 'src/turn/outage.ts',
        find: 'return server_time - instantMs(revision.published_at) > TURN_GAP_MS_MAX',
        replace: 'return server_time < 0 * instantMs(revision.published_at) * TURN_GAP_MS_MAX',
      },
    ],
    killed_by: turn(
      'controllers',
      'give nothing up in a process that has just begun, where nobody had published for a while: it cannot know why',
    ),
  },
  {
    name: 'attempts given up while their workers find no API',
    edits: [
      {
        file: 'src/controllers/hold.ts',
        find: 'TURN_GAP_HOLD_MS_MAX : unheard_hold_ms',
        replace: 'TURN_GAP_HOLD_MS_MAX : 0 * unheard_hold_ms',
      },
    ],
    killed_by: turn('controllers', 'give nothing up while workers find no API, and give it up when they had the time to speak again'),
  },
  {
    name: 'nobody given up where this process alone does not reach the API',
    edits: [
      {
        file: 'src/turn/outage.ts',
        find: 'isHeardSteadily(rows, since, until) ? 0',
        replace: 'isHeardSteadily(rows, since, until) ? left_ms',
      },
    ],
    killed_by: turn('controllers', 'give up who is silent while others are heard all the while, whatever this process can reach'),
  },
  {
    name: 'a single beat taken as proof that workers reach the API',
    edits: [
      { file: 'src/turn/outage.ts', find: 'at - steady_since >= HEARD_SPAN_MS_MIN', replace: 'at - steady_since >= 0 * HEARD_SPAN_MS_MIN' },
    ],
    killed_by: {
      file: 'src/turn/outage.test.ts',
      title: 'holds back where others are heard for a moment: it may have been open to some of them, between two health checks',
    },
  },
  {
    name: 'beats of two moments taken for beats of all the time between them',
    edits: [
      { file: 'src/turn/outage.ts', find: 'if (at - before > HEARD_GAP_MS_MAX)', replace: 'if (at - before > 10 * HEARD_GAP_MS_MAX)' },
    ],
    killed_by: {
      file: 'src/turn/outage.test.ts',
      title: 'holds back where others are heard for a moment: it may have been open to some of them, between two health checks',
    },
  },
  {
    name: 'attempts given up by a turn that is far behind',
    edits: [{ file: 'src/controllers/lost.ts', find: 'lag_ms > LOSS_LAG_MS_MAX', replace: 'lag_ms < 0 * LOSS_LAG_MS_MAX' }],
    killed_by: turn('controllers', 'give nothing up in a turn that is far behind, and give it up in the next one'),
  },
  {
    name: 'a store that is not there taken for a new workspace',
    edits: [{ file: 'src/compactor/swap.ts', find: 'if (has_seen_pointer) {', replace: 'if (has_seen_pointer && store.label === "") {' }],
    killed_by: turn('hostile', 'is no new workspace, for the turn that wrote it after 1'),
  },
  {
    name: 'a rerun from failure that plans the union of what is left',
    edits: [{ file: 'src/controllers/plan-left.ts', find: 'count === whole.count && ', replace: 'count <= whole.count && ' }],
    killed_by: { file: 'src/controllers/plan-left.test.ts', title: 'of each asset what is left of it, and not the union' },
  },
  {
    name: 'a chosen run key that is not claimed before the append',
    edits: [
      { file: 'src/commands/run-request.ts', find: 'row !== undefined || !asked.is_key_claimed', replace: 'row !== undefined || true' },
    ],
    killed_by: {
      file: 'test/api/run-key-claims.test.ts',
      title: 'refuses another request at once and on each repeat, and the conflict is recorded',
    },
  },
  {
    name: 'a claimed request that nobody appends after its process died',
    edits: [{ file: 'src/commands/run-request.ts', find: 'drafts: [holder, draft]', replace: 'drafts: [draft]' }],
    killed_by: {
      file: 'test/api/run-key-claims.test.ts',
      title: 'a run key whose claim outlived the process that made it has its run before any conflict',
    },
  },
]
