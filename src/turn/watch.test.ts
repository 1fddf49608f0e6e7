import { expect, test } from '@jest/globals'
import { createRunStory } from '../../test/fixtures/run-story.js'
import { NOW } from '../../test/fixtures/say.js'
import { createScheduleStory, SCHEDULE_ID } from '../../test/fixtures/schedule-story.js'
import { changedEntities } from './watch.js'

test('what a publish changed is named by kind, each id once, and a kind without changes not at all', () => {
  const { story, define, status, onFolded } = createScheduleStory()
  const changed: unknown[] = []
  onFolded((rows) => changed.push([...changedEntities(rows)]))
  define(NOW)
  status(NOW + 1, 'PAUSED')
  const named = [['SCHEDULE', [SCHEDULE_ID]]]
  expect(changed.slice(-2)).toEqual([named, named])
  expect([...changedEntities(story.rows)]).toEqual([])
  expect([...changedEntities(createRunStory({ a: {} }).story.rows)]).toEqual([])
})
