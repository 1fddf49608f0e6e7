// Lists and logs of an API that names the same next page without end: followed once, and no further.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { main } from '../../src/cli/main.js'
import { saidWhile } from '../fixtures/said-while.js'

const RUN_ID = `run_${'a'.repeat(26)}`
const REPEATS = 'repeats itself: the next page that it names is one that it has answered with before'

let server: Server
let url = ''
let asked: string[] = []
/** What comes after each place; the empty one is the beginning. */
let next: Readonly<Record<string, string>> = {}

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', url)
    const place = searchParams.get('cursor') ?? searchParams.get('after') ?? ''
    asked.push(place)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answerOf(pathname, next[place])))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  asked = []
})

function answerOf(path: string, cursor: string | undefined): object {
  if (path.endsWith('/logs')) return { attempt: 1, attempt_id: 'x', lines: [], next_after: cursor, is_last: false, end: null }
  if (path.endsWith('/tasks/a')) return { task_key: 'a', attempt: 1, state: 'RUNNING' }
  const rows = Object.fromEntries(
    ['runs', 'tasks', 'events', 'attempts', 'pools', 'schedules', 'ticks', 'assets', 'conflicts'].map((member) => [member, []]),
  )
  return { run_id: RUN_ID, state: 'RUNNING', ...rows, next_cursor: cursor }
}

test.each([
  ['run', 'list', '--all'],
  ['run', 'tasks', RUN_ID],
  ['run', 'events', RUN_ID],
  ['run', 'attempts', RUN_ID],
  ['run', 'watch', RUN_ID],
  ['run', 'logs', RUN_ID, 'a'],
  ['run', 'logs', RUN_ID, 'a', '--follow'],
  ['run', 'cancel', '--asset', 'a'],
  ['asset', 'list'],
  ['schedule', 'list'],
  ['schedule', 'ticks', 'nightly'],
  ['pool', 'list'],
  ['conflicts', 'list'],
])('servo %s %s says that it repeats itself, and ends', async (...args) => {
  next = { '': 'again', again: 'again' }
  const finished = await saidWhile(() => main([...args, '--api', url]))
  expect(finished).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`The API at ${url} ${REPEATS}`) })
  expect(asked.filter((place) => place === 'again')).toHaveLength(1)
})

test('a circle of pages is one too', async () => {
  next = { '': 'one', one: 'two', two: 'three', three: 'one' }
  expect(await saidWhile(() => main(['run', 'list', '--all', '--api', url]))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(REPEATS),
  })
  expect(asked).toEqual(['', 'one', 'two', 'three'])
})

test('an answer that names no next page, and not that it is the last, is not followed either', async () => {
  next = {}
  expect(await saidWhile(() => main(['run', 'list', '--all', '--api', url]))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(REPEATS),
  })
  expect(asked).toEqual([''])
})
