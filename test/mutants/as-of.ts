// Guards of the tiers of `as_of`: the rule, who goes by it, and the walk that skips what is not kept.

import { invariant, type Mutant, turn } from './mutant.js'

const KEPT = 'src/tables/history/kept.ts'
const COLLECT = 'src/compactor/collect.ts'
const I16 = 'i16-collection-keeps-what-is-reachable'

const rule = (title: string) => ({ file: 'src/tables/history/kept.test.ts', title })
const property = (title: string) => ({ file: 'test/properties/kept.test.ts', title })

export const AS_OF: readonly Mutant[] = [
  {
    name: 'collector forgetting revisions that as_of opens',
    edits: [{ file: COLLECT, find: 'keptRevisions(history, await keptThen(history, now - READER_PIN_MS))', replace: '[history.newest]' }],
    killed_by: invariant(I16, 'I16 a revision that was the newest for a long time stays readable after it was replaced'),
  },
  {
    name: 'collector taking files from under a reader',
    edits: [{ file: COLLECT, find: 'keptThen(history, now - READER_PIN_MS)', replace: 'keptThen(history, now)' }],
    killed_by: invariant(I16, 'I16 who opens a revision in its last kept moment may go on reading it for as long as readers do'),
  },
  {
    name: 'collector going by a chain that is not there any more',
    edits: [{ file: COLLECT, find: 'if (!isSameChain) return undefined', replace: 'if (!isSameChain) return NOTHING' }],
    killed_by: invariant(I16, 'I16 a collection that finds another chain than it has looked at removes nothing'),
  },
  {
    name: 'deltas of older revisions forgotten',
    edits: [
      {
        file: 'src/compactor/reach.ts',
        find: 'opened.checkpoint?.sequence ?? sequence - 1',
        replace: 'sequence - 1',
      },
    ],
    killed_by: {
      file: 'test/contract/as-of-tiers.test.ts',
      title: 'seed 1: the kept revisions are open, and their files are what is left',
    },
  },
  {
    name: 'verify asking for the files of the newest revision alone',
    edits: [{ file: 'src/compactor/verified/kept.ts', find: '    kept.push(before)\n', replace: '' }],
    killed_by: invariant(I16, 'I16 verify names a file that only an older revision needs, for as long as that is kept'),
  },
  {
    name: 'hours let go after a day',
    edits: [{ file: KEPT, find: 'HOUR_MS, as_of_hours_days * DAY_MS', replace: 'HOUR_MS, as_of_minutes_hours * HOUR_MS' }],
    killed_by: rule('for 30 days as the last of an hour'),
  },
  {
    name: 'first of a minute kept instead of the last',
    edits: [{ file: KEPT, find: 'if (published_at < ended_at && ended_at', replace: 'if (published_at >= ended_at && ended_at' }],
    killed_by: rule('for a day as the last of a minute'),
  },
  {
    name: 'last of a minute let go before the minute that it answers for',
    edits: [{ file: KEPT, find: 'ended_at + unit_ms + kept_ms', replace: 'ended_at + kept_ms' }],
    killed_by: rule('as the last of a minute where the next one came with the next minute'),
  },
  {
    name: 'revision opened that is not kept',
    edits: [
      {
        file: 'src/readers/as-of.ts',
        find: '(await isKept(history, stood, at)) ? stood : await olderKept(history, stood, at)',
        replace: 'stood',
      },
    ],
    killed_by: property('as_of opens the newest kept one, and names the nearest of one that is not kept'),
  },
  {
    name: 'search of the chain that trusts its first guess',
    edits: [
      {
        file: 'src/tables/history/pages.ts',
        find: 'else if (endOf(page) >= instant) return page',
        replace: 'else if (endOf(page) > 0) return page',
      },
    ],
    killed_by: property('the walk that reads little finds all of them, in a chain of pages'),
  },
  {
    name: 'instants of publication by a clock that goes back',
    edits: [
      {
        file: 'src/compactor/publish.ts',
        find: 'Math.max(published_at, instantMs(base.published_at))',
        replace: 'published_at',
      },
    ],
    killed_by: turn('publish', 'instants of publication never go back, whatever the store says the time is'),
  },
]
