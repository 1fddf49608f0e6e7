import { describe, expect, it } from '@jest/globals'
import {
  DEFINITION_MACHINE,
  isOver,
  type Machine,
  nextStates,
  OUTBOX_MACHINE,
  RUN_MACHINE,
  SCHEDULE_MACHINE,
  TASK_MACHINE,
} from './state-machine.js'

const MACHINES: readonly (readonly [string, Machine<string, string>, string, readonly string[]])[] = [
  ['task', TASK_MACHINE, 'PLANNED', ['SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED']],
  ['run', RUN_MACHINE, 'PENDING', ['SUCCEEDED', 'FAILED', 'CANCELLED']],
  ['outbox', OUTBOX_MACHINE, 'PENDING', ['CLOSED', 'FAILED']],
  ['definition', DEFINITION_MACHINE, 'CURRENT', []],
  ['schedule', SCHEDULE_MACHINE, 'ACTIVE', ['REMOVED']],
]

describe.each(MACHINES)('the machine of a %s', (_, machine, first, over) => {
  const moves = [...machine].flatMap(([by, states]) => [...states].flatMap(([from, to]) => to.map((next) => ({ from, by, next }))))

  it('reaches every state from the first', () => {
    const reached = new Set([first])
    for (let size = 0; size < reached.size; ) {
      size = reached.size
      for (const { from, next } of moves) if (reached.has(from)) reached.add(next)
    }
    expect([...new Set(moves.flatMap(({ from, next }) => [from, next]))].sort()).toEqual([...reached].sort())
  })

  it('ends in the states that are over, and nowhere else', () => {
    const left = new Set(moves.map(({ from }) => from))
    const ends = [...new Set(moves.map(({ next }) => next))].filter((state) => !left.has(state))
    expect(ends.sort()).toEqual([...over].sort())
    if (first === 'PLANNED') expect(over.every(isOver)).toBe(true)
  })
})

describe('nextStates', () => {
  it('is empty for what is not listed', () => {
    expect(nextStates(TASK_MACHINE, 'READY', 'STARTED')).toEqual([])
    expect(nextStates(TASK_MACHINE, 'DISPATCHED', 'STARTED')).toEqual(['RUNNING'])
  })
})
