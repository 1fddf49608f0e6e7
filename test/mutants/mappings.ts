// Guards of partition mappings: that what exists is mapped, all of it and nothing else, and that what does not fit is refused.

import type { Check, Mutant } from './mutant.js'

const MAP = 'src/partitions/mapping/map.ts'
const BOXES = 'src/partitions/mapping/map-boxes.ts'
const mapped = (title: string): Check => ({ file: 'src/partitions/mapping/map.test.ts', title })
const selected = (title: string): Check => ({ file: 'src/partitions/mapping/map-selector.test.ts', title })
const byDimension = (title: string): Check => ({ file: 'src/partitions/mapping/map-boxes.test.ts', title })

export const MAPPINGS: readonly Mutant[] = [
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
