// Guards of partition mappings: that what exists is mapped, all of it and nothing else, and that what does not fit is refused.

import type { Check, Mutant } from './mutant.js'

const MAP = 'src/partitions/mapping/map.ts'
const BOXES = 'src/partitions/mapping/map-boxes.ts'
const mapped = (title: string): Check => ({ file: 'src/partitions/mapping/map.test.ts', title })
const selected = (title: string): Check => ({ file: 'src/partitions/mapping/map-selector.test.ts', title })
const byDimension = (title: string): Check => ({ file: 'src/partitions/mapping/map-boxes.test.ts', title })

const planned = (title: string): Check => ({ file: 'src/controllers/plan-lanes.test.ts', title })
const over = (title: string): Check => ({ file: 'test/api/mapped-partitions.test.ts', title })
const LANES = 'src/controllers/plan-lanes.ts'
const EDGES = 'src/controllers/plan-edges.ts'
const ANCHORED = 'src/partitions/mapping/anchored.ts'

const existing = (title: string): Check => ({ file: 'test/api/existing-partitions.test.ts', title })
const gone = (title: string): Check => ({ file: 'test/api/gone-partitions.test.ts', title })
const NAMED = 'by keys, as a range, all of it, or by dimensions'
const LANE = 'src/controllers/plan-partitions.ts'

export const MAPPINGS: readonly Mutant[] = [
  {
    name: 'a run of partitions that do not exist yet',
    edits: [
      {
        file: 'src/partitions/requestable.ts',
        find: 'order.at(requested_at, partition_end_offset ?? 0)',
        replace: '(requested_at < 0 ? order.at(0) : order)',
      },
    ],
    killed_by: { file: 'test/oracle/partition-oracle.test.ts', title: NAMED },
  },
  {
    name: 'a run that names what exists when it is planned, for the API alone',
    edits: [{ file: LANES, find: 'namedOrder(partitions, run), selector', replace: 'wholeOrder(partitions), selector' }],
    killed_by: { file: 'src/controllers/plan.test.ts', title: 'and a key that does not is BAD_PARTITION' },
  },
  {
    name: 'a range of dimensions written with numbers of what exists',
    edits: [{ file: LANE, find: 'if (!isNumberedAs(order, whole))', replace: 'if (!isNumberedAs(order, order))' }],
    killed_by: { file: 'src/controllers/plan.test.ts', title: 'as a range across the days that go on' },
  },
  {
    name: 'all of a dimension, read as all that there will ever be',
    edits: [{ file: LANE, find: "'all' in taken && total !==", replace: "'all' in taken && total ===" }],
    killed_by: { file: 'src/controllers/plan.test.ts', title: 'as all of a dimension' },
  },
  {
    name: 'a rerun that forgets the offset of its schedule',
    edits: [
      {
        file: 'src/commands/rerun/rerun.ts',
        find: '...(partition_end_offset === null ? {} : { partition_end_offset }),',
        replace: '',
      },
    ],
    killed_by: existing('with a positive offset is the exception: its runs record it, and reruns inherit it'),
  },
  {
    name: 'a count of keys that are gone',
    edits: [{ file: 'src/readers/current-partitions.ts', find: "standing === 'exists' ||", replace: "standing !== 'ahead' ||" }],
    killed_by: gone('is counted until it is gone, told by a dry run, and neither counted nor handed on then'),
  },
  {
    name: 'upstream with keys that are gone',
    edits: [{ file: 'src/readers/upstream.ts', find: 'kept.push(...(await current.keep(rows)))', replace: 'kept.push(...rows)' }],
    killed_by: gone('is counted until it is gone, told by a dry run, and neither counted nor handed on then'),
  },
  {
    name: 'a key with another window taken for the same partition',
    edits: [{ file: 'src/partitions/current-keys.ts', find: 'entry?.sort_key === sort_key && entry', replace: 'entry?' }],
    killed_by: { file: 'src/partitions/current-keys.test.ts', title: 'of a day of another zone' },
  },
  {
    name: 'a partition that a schedule asked for ahead, and nobody counts',
    edits: [{ file: 'src/readers/current-partitions.ts', find: 'partition_end_offset !== null', replace: 'partition_end_offset === -1' }],
    killed_by: gone('that a schedule may ask for counts and is handed on, and one that an older offset allowed does not until it exists'),
  },
  {
    name: 'a trigger for an instant to come',
    edits: [
      {
        file: 'src/commands/schedule/trigger.ts',
        find: 'at_ms <= instant.requested_at ? [] :',
        replace: 'at_ms > 0 ? [] :',
      },
    ],
    killed_by: existing('asks for what exists, whatever instant or partition it is triggered for'),
  },
  {
    name: 'keys that an end_offset holds back for good',
    edits: [
      {
        file: 'src/partitions/calendar.ts',
        find: 'is_endless ? 0 : Math.min(0, end_offset)',
        replace: '0',
      },
    ],
    killed_by: {
      file: 'src/partitions/calendar.test.ts',
      title: 'an end_offset below zero holds back the last ones before an end for good',
    },
  },
  {
    name: 'a plan of partitions that do not exist yet',
    edits: [{ file: LANES, find: 'existingIn(upstream, mergeBoxes(wanted), requested_at)', replace: 'mergeBoxes(wanted)' }],
    killed_by: planned('what is there by then and no more: an offset of days adds no hours'),
  },
  {
    name: 'a plan of what one of two users needs',
    edits: [{ file: LANES, find: 'wanted.push(...found.boxes)', replace: 'wanted.splice(0, wanted.length, ...found.boxes)' }],
    killed_by: planned('both of two that need it in other ways'),
  },
  {
    name: 'a task that waits by positions in other partitions',
    edits: [{ file: EDGES, find: 'below.alignment !== above.alignment', replace: 'below.count === 0' }],
    killed_by: planned('with its own key, where that asset makes others, too'),
  },
  {
    name: 'a task that waits for one upstream task of several',
    edits: [
      {
        file: EDGES,
        find: 'Math.floor((first + count - 1) / size) - place + 1',
        replace: 'Math.min(1, Math.floor((first + count - 1) / size) - place + 1)',
      },
    ],
    killed_by: planned('of its own hours'),
  },
  {
    name: 'a run that names partitions of what it does not end with',
    edits: [{ file: ANCHORED, find: '=> !mapped.has(asset_key))', replace: '=> mapped.size >= 0 || asset_key)' }],
    killed_by: planned('the hours of a day'),
  },
  {
    name: 'a run that names partitions of what a mapped asset is made from',
    edits: [{ file: ANCHORED, find: 'reached.push(...(assets.get(asset_key)?.deps ?? []))', replace: 'assets.get(asset_key)' }],
    killed_by: planned('the hours of the days of a week, and what has the same keys as the days'),
  },
  {
    name: 'upstream by the same key where there is a mapping',
    edits: [{ file: 'src/readers/upstream.ts', find: 'return isSameKey(mapping) ?', replace: 'return isSameKey(undefined) ?' }],
    killed_by: over('is of the partitions that its own are mapped to: next'),
  },
  {
    name: 'a rerun from failure that names what it maps to',
    edits: [
      {
        file: 'src/commands/rerun/select.ts',
        find: 'keys.has(task.asset_key) || definitionOf(task) === undefined',
        replace: 'keys.has(task.asset_key) || keys.size > 0',
      },
    ],
    killed_by: over('that failed in part makes again what is left of each'),
  },
  {
    name: 'a mapping by time without its last offset',
    edits: [
      {
        file: MAP,
        find: 'within(upstream, first + start_offset, end + end_offset)',
        replace: 'within(upstream, first + start_offset, end)',
      },
    ],
    killed_by: selected('where an offset reaches before the start and past the last year'),
  },
  {
    name: 'a mapping to the last partition that any other reaches',
    edits: [{ file: MAP, find: 'first < exists && first + count >= exists', replace: 'first < exists && count > 0' }],
    killed_by: mapped('of one name, of a list, the last, and all'),
  },
  {
    name: 'a mapping to all that leaves the last one out',
    edits: [{ file: MAP, find: 'mergeSpans([{ first: 0, count: total }])', replace: 'mergeSpans([{ first: 0, count: total - 1 }])' }],
    killed_by: mapped('of one name, of a list, the last, and all'),
  },
  {
    name: 'a mapping from a partition that does not exist yet',
    edits: [
      {
        file: BOXES,
        find: '.filter((box) => holdsAny(existing, box))',
        replace: '.filter((box) => holdsAny(existing, box) || box.length > 0)',
      },
    ],
    killed_by: selected('and of what does not exist yet, nothing is made'),
  },
  {
    name: 'a mapping by the same key between dimensions of other names',
    edits: [
      { file: BOXES, find: "mapping.type !== 'identity' || names !== others", replace: "mapping.type !== 'identity' || names === ''" },
    ],
    killed_by: byDimension('to the same keys, of other dimensions, both ways, as brute force says'),
  },
  {
    name: 'a mapping that writes all for days which may get a later end',
    edits: [
      {
        file: 'src/partitions/mapping/map-selector.ts',
        find: '!isCalendar(order) && span.count === order.total',
        replace: 'span.count === order.total',
      },
    ],
    killed_by: selected('and a range where time has an end, because the definition may get a later one'),
  },
  {
    name: 'a mapping by two dimensions to one',
    edits: [
      {
        file: 'src/partitions/mapping/definition.ts',
        find: 'pairs.some((other) => other.upstream === pair.upstream)',
        replace: 'pairs.length < 0',
      },
    ],
    killed_by: selected('a mapping that is not right: {"type":"dimension","dimensions":{"date":{},"n":{"dimension":"date"}}}'),
  },
  {
    name: 'a mapping deployed that does not fit',
    edits: [
      {
        file: 'src/commands/deploy-faults.ts',
        find: 'return readable ? link.problem : undefined',
        replace: 'return readable ? undefined : link.problem.slice(0, 0) || undefined',
      },
    ],
    killed_by: { file: 'src/commands/deploy-faults.test.ts', title: 'that does not fit is refused with what is wrong: 0' },
  },
]
