// Tables of nouns that nothing else compares: a line that is missing in one of them would show in a live system alone.

import { expect, test } from '@jest/globals'
import { everyKind } from '../../src/activities/entities/kinds.js'
import { EVERY_NOUN } from '../../src/controllers/nouns/every.js'
import { FOLD_VERSION } from '../../src/core/limits.js'
import { EVENT_TYPES, foldedSince } from '../../src/events/event.js'
import { WORKFLOW_TYPES } from '../../src/workflows/contract.js'

const WORKSPACE_LOOPS = ['workspace', 'maintenance']

test('every kind of entity that has a loop is started and poked', () => {
  const kinds = everyKind(({ kind, noun }) => ({ kind, noun }))
  const withLoops = Object.keys(WORKFLOW_TYPES).filter((kind) => !WORKSPACE_LOOPS.includes(kind))
  expect(kinds.map(({ kind }) => kind).sort()).toEqual(withLoops.sort())
  const nouns = new Map(EVERY_NOUN)
  for (const { kind, noun } of kinds) expect({ kind, changed: typeof nouns.get(noun)?.changed }).toEqual({ kind, changed: 'function' })
})

test('this fold knows every event of its own version', () => {
  for (const event_type of EVENT_TYPES) {
    expect({ event_type, isKnown: foldedSince(event_type) <= FOLD_VERSION }).toEqual({ event_type, isKnown: true })
  }
})
