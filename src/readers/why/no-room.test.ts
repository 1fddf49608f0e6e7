import { describe, expect, test } from '@jest/globals'
import { FREE, FULL, room, T, type WhyCase, why } from '../../../test/fixtures/why-story.js'

const SLOTS = room('location:main', 8, 8, 'SLOTS')

const cases: readonly WhyCase[] = [
  [
    'a pool and slots, behind another',
    { pools: [FREE, FULL, SLOTS], waiting_before: 1 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: pool:db is full: 2 of 2 run, and location:main is full: 8 of its 8 slots are taken. 1 task is before it.`,
  ],
  [
    'slots, while others were dispatched ahead',
    { pools: [room('location:main', 40, 4, 'SLOTS')], waiting_before: 7 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: location:main is full: 40 attempts are out for its 4 slots. 7 tasks are before it.`,
  ],
  [
    'the only slot, behind others',
    { pools: [room('location:main', 1, 1, 'SLOTS')], waiting_before: 12 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: location:main is full: 1 of its 1 slot is taken. 12 tasks are before it.`,
  ],
  [
    'a cap on a location, before its slots',
    { pools: [room('location:main', 4, 4)] },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: location:main is full: 4 of 4 run. It is the first of those that wait.`,
  ],
  [
    'the workspace',
    { pools: [room('global', 1_000, 1_000, 'DEFAULT')], waiting_before: 3 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: the workspace (global) is full: 1000 of 1000 run. 3 tasks are before it.`,
  ],
  [
    'the value of a tag',
    { pools: [room('tag:team=core', 2, 2)], waiting_before: 3 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: tag:team=core is full: 2 of 2 run. 3 tasks are before it.`,
  ],
  [
    'the value of a tag, capped as each is',
    { pools: [room('tag:team=core', 2, 2, 'TAG')] },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: tag:team=core is full: 2 of 2 run, as tag:team has it for each value. It is the first of those that wait.`,
  ],
  [
    'a cap that was lowered',
    { pools: [room('pool:db', 5, 2)], waiting_before: 1 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: pool:db is full: 5 run, and 2 is its cap now. 1 task is before it.`,
  ],
  [
    'a pool that is closed',
    { pools: [room('pool:db', 0, 0)], waiting_before: 7 },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: pool:db is closed: its cap is 0. \`servo pool set pool:db NUMBER\` opens it again.`,
  ],
  [
    'a pool that is closed while some of it run',
    { pools: [FULL, room('tag:team=data science', 1, 0)] },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: pool:db is full: 2 of 2 run, and tag:team=data science is closed: its cap is 0, and 1 that it has runs on. \`servo pool set 'tag:team=data science' NUMBER\` opens it again.`,
  ],
  [
    'values of a tag that are all closed',
    { pools: [room('tag:team=core', 2, 0, 'TAG')] },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: tag:team=core is closed: its cap is 0, as tag:team has it for each value, and 2 that it has run on. \`servo pool set tag:team NUMBER\` opens it again.`,
  ],
  [
    'a location without slots',
    { pools: [room('location:main', 0, 0, 'SLOTS')] },
    'NO_ROOM',
    `b is ready since ${T(5)}, and there is no room for it: location:main is closed: its cap is 0. A deploy with \`--slots\` opens it again.`,
  ],
]

describe('a task waits for room, because of', () => {
  test.each(cases)('%s', (_, given, code, sentence) => {
    expect(why(given)).toMatchObject({ code, sentence })
  })
})
