// Guards of limits and order: that pools count what is active and nothing else, and that nothing waits for ever.

import type { Check, Mutant } from './mutant.js'

const pools = (title: string): Check => ({ file: 'src/projections/pool.test.ts', title })

export const LIMITS: readonly Mutant[] = [
  {
    name: 'tasks that were active before the first cap of their tag not counted',
    edits: [{ file: 'src/projections/pool.ts', find: 'if (isTagPool(pool_key)) countTagged', replace: "if (pool_key === '') countTagged" }],
    killed_by: pools('that gets a cap counts the tasks that are active then, once'),
  },
  {
    name: "an idle value's row taken up again while it happens to be in memory",
    edits: [{ file: 'src/projections/pool.ts', find: 'pool === undefined || pool.expires_at !== null ?', replace: 'pool === undefined ?' }],
    killed_by: pools('whose value was idle begins anew, whether or not it has left memory meanwhile'),
  },
  {
    name: 'a cap for each value of a tag that no value minds',
    edits: [
      {
        file: 'src/projections/pool.ts',
        find: "return isTagValue(pool_key) ? capFrom('TAG'",
        replace: "return pool_key === '' ? capFrom('TAG'",
      },
    ],
    killed_by: pools('with a cap by tag:team counts its value, and refuses what is too many'),
  },
  {
    name: 'tags of the attempt before counted for a task that is tried again',
    edits: [
      {
        file: 'src/projections/pool.ts',
        find: 'pool_keys.filter((pool_key) => !isTagPool(pool_key)).map(',
        replace: "pool_keys.filter((pool_key) => pool_key !== '').map(",
      },
      { file: 'src/projections/pool.ts', find: ' && !pool_keys.some(isTagPool)', replace: '' },
    ],
    killed_by: pools('of a task that is tried again is counted by the caps that there are then'),
  },
  {
    name: 'places of attempts that are lost or given back kept',
    edits: [
      {
        file: 'src/projections/attempt.ts',
        find: '  leavePools(rows, task, slotMs(task, ending, ended_at), moment)',
        replace: "  if (!by.startsWith('LOST')) leavePools(rows, task, slotMs(task, ending, ended_at), moment)",
      },
    ],
    killed_by: { file: 'test/properties/pools.test.ts', title: "slots are freed by the task's terminal row, and never leak (seed 44000)" },
  },
  {
    name: 'priority that never wears off',
    edits: [{ file: 'src/projections/dispatch-order.ts', find: 'placeInTime(left) - placeInTime(right) ||\n  right', replace: 'right' }],
    killed_by: {
      file: 'test/properties/order.test.ts',
      title: 'is passed by nothing that came later than it is more urgent, in minutes; with seed 45000',
    },
  },
]
