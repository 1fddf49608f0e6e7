// Guards of settings that change: from when on they count, that nothing comes back, and that all go by what is recorded.

import { invariant, type Mutant } from './mutant.js'

const RETENTION = 'src/projections/retention.ts'
const SETTINGS = 'src/projections/retention-settings.ts'
const KEPT = 'src/tables/history/kept.ts'

const setting = (title: string) => ({ file: 'src/projections/retention-settings.test.ts', title })
const tier = (title: string) => ({ file: 'src/tables/history/kept.test.ts', title })
const SPLITS = {
  file: 'test/properties/retention-settings.test.ts',
  title: 'seed 1: any split into revisions and any merges give the same tables, and the replay of them',
}

export const RETENTION_MUTANTS: readonly Mutant[] = [
  {
    name: 'settings that the fold does not go by',
    edits: [{ file: 'src/projections/fold.ts', find: 'retentionIn(rows, given.retention)', replace: 'given.retention' }],
    killed_by: setting('count from the batch after the one that says them'),
  },
  {
    name: 'settings that count from the next revision on',
    edits: [
      {
        file: 'src/turn/turn.ts',
        find: '      retention: retentionIn(rows, deps.retention),',
        replace: '      retention: snapshot?.revision.retention ?? deps.retention,',
      },
    ],
    killed_by: SPLITS,
  },
  {
    name: 'replay of a revision by the settings that it ended with',
    edits: [{ file: 'src/turn/replay.ts', find: 'revision.retention_defaults ?? revision.retention', replace: 'revision.retention' }],
    killed_by: SPLITS,
  },
  {
    name: 'rows that a raised setting brings back',
    edits: [{ file: RETENTION, find: 'retention.gone_before?.[setting] ?? Number.NEGATIVE_INFINITY', replace: 'Number.NEGATIVE_INFINITY' }],
    killed_by: setting('that are raised bring nothing back: what had expired stays expired'),
  },
  {
    name: 'settings of one batch that do not see each other',
    edits: [{ file: SETTINGS, find: 'const before = retentionIn(rows, context.retention)', replace: 'const before = context.retention' }],
    killed_by: setting('that are raised and lowered in one batch let go of what the lower one would'),
  },
  {
    name: 'revisions that a longer tier brings back',
    edits: [{ file: KEPT, find: 'isRaised ? tierBegin(tier, published_at) : tier.gone_before', replace: 'tier.gone_before' }],
    killed_by: tier('that are raised say what the shorter tier had let go by then, and keep no more of it'),
  },
  {
    name: 'a lowered tier that forgets what was gone',
    edits: [
      {
        file: KEPT,
        find: 'isRaised ? tierBegin(tier, published_at) : tier.gone_before',
        replace: 'isRaised ? tierBegin(tier, published_at) : Number.NEGATIVE_INFINITY',
      },
    ],
    killed_by: tier('that are lowered, or stay, go on with what was gone'),
  },
  {
    name: 'collector going by settings that a reader does not know yet',
    edits: [
      {
        file: 'src/tables/history/kept-revisions.ts',
        find: 'history.retentionOf(stood ?? newest)',
        replace: 'history.retentionOf(newest)',
      },
    ],
    killed_by: invariant(
      'i16-collection-keeps-what-is-reachable',
      'I16 who reads an older revision goes on reading it when the settings keep less',
    ),
  },
  {
    name: 'collector that settings overtake',
    edits: [
      {
        file: 'src/compactor/collect.ts',
        find: 'if (!(await isSameKept(history, looked_at))) return undefined',
        replace: 'void isSameKept',
      },
    ],
    killed_by: invariant('i16-collection-keeps-what-is-reachable', 'I16 a collection that settings overtake removes nothing'),
  },
  {
    name: 'keys that settings forget before the last repeat',
    edits: [
      {
        file: 'src/core/retention-limits.ts',
        find: 'IDEMPOTENCY_HOURS_MIN = (CLAIM_APPENDS_MS_MAX + DAY_MS) / HOUR_MS',
        replace: 'IDEMPOTENCY_HOURS_MIN = CLAIM_APPENDS_MS_MAX / HOUR_MS',
      },
    ],
    killed_by: { file: 'test/api/retention.test.ts', title: '{"idempotency_hours":167} is refused, with what to do' },
  },
  {
    name: 'settings said to a fold that does not know them',
    edits: [{ file: 'src/commands/retention.ts', find: 'unfoldable(view, [draft]) ?? draft', replace: 'draft' }],
    killed_by: {
      file: 'test/api/retention.test.ts',
      title: 'are there before anything was published, and cannot be changed before a turn knows how',
    },
  },
  {
    name: 'dry run of settings that counts what goes anyhow',
    edits: [{ file: 'src/readers/retention/foresee.ts', find: 'from: now.at, before: then.at', replace: 'from: 0, before: then.at' }],
    killed_by: {
      file: 'test/properties/retention-dry-run.test.ts',
      title: 'seed 3: rows, files and revisions are those that then go',
    },
  },
]
