// `servo pool` on a real API with real turns, and what a run's priority, tags and pools mean from the command line.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Commands, startCommands } from '../fixtures/api-commands.js'
import { dispatched } from '../fixtures/api-world.js'
import type { Finished } from '../fixtures/servo-process.js'

let at: Commands
beforeAll(async () => {
  at = await startCommands()
  const assets = [
    `asset({ key: 'load', deps: [], pools: ['warehouse'], priority: 3, run: () => undefined })`,
    `asset({ key: 'check', deps: [], run: () => undefined })`,
  ]
  const path = at.module(`export default defineCodeLocation({ name: 'main', assets: [${assets.join(', ')}] })`)
  expect(await at.servo('deploy', path, '--slots', '4')).toMatchObject({ code: 0, stderr: '' })
}, 60_000)
afterAll(() => at.close())

/** The rows of a table without its frame. */
const cells = ({ stdout }: Finished): readonly (readonly string[])[] =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('│'))
    .map((line) =>
      line
        .split('│')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

describe('servo pool', () => {
  test('list shows what runs, what waits, and which cap holds', async () => {
    expect(cells(await at.servo('pool', 'list')).map((row) => row.slice(0, 4))).toEqual([
      ['pool', 'running', 'waiting', 'cap'],
      ['global', '0', '0', '1000, where nobody sets another'],
      ['location:main', '0', '0', '4, the slots of the location'],
      ['pool:warehouse', '0', '0', 'none'],
    ])
  })

  test('set and remove say from when on, and with --wait that it is so', async () => {
    at.world.holdTurns()
    expect(await at.servo('pool', 'set', 'pool:warehouse', '3')).toMatchObject({
      code: 0,
      stdout: 'pool:warehouse takes at most 3 at once, from the next turn on.',
    })
    at.world.releaseTurns()
    const set = await at.servo('pool', 'set', 'pool:warehouse', '2', '--wait', '--reason', 'The warehouse is slow.', '--by', 'ada')
    expect(set).toMatchObject({ code: 0, stdout: 'pool:warehouse takes at most 2 at once, from now on.', stderr: '' })
    const shown = await at.servo('pool', 'show', 'pool:warehouse')
    expect(shown.stdout).toMatch(
      /^pool {5}pool:warehouse\nrunning {2}0\nwaiting {2}0\ncap {6}2\nset {6}\d{4}-\d\d-\d\d .* (ago|\(just now)\) by ada: The warehouse is slow\.$/,
    )
    expect(await at.servo('pool', 'remove', 'pool:warehouse', '--wait')).toMatchObject({
      code: 0,
      stdout: 'pool:warehouse has no cap of its own, from now on.',
    })
    expect(await at.servo('pool', 'remove', 'pool:warehouse')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pool:warehouse has no cap of its own'),
    })
  })

  test('--json prints one value', async () => {
    const set = await at.servo('pool', 'set', 'tag:team=data science', '1', '--wait', '--json')
    expect(JSON.parse(set.stdout)).toMatchObject({ pool_key: 'tag:team=data science', max_running: 1, outcome: { kind: 'applied' } })
    const pools = JSON.parse((await at.servo('pool', 'list', '--json')).stdout) as { pool_key: string }[]
    expect(pools.map(({ pool_key }) => pool_key)).toEqual(['global', 'location:main', 'pool:warehouse', 'tag:team=data science'])
    const removed = await at.servo('pool', 'remove', 'tag:team=data science', '--json', '--wait')
    expect(JSON.parse(removed.stdout)).toMatchObject({ max_running: null, outcome: { kind: 'applied' } })
  })

  test('a name that nobody uses gets its cap, and a hint that it may be misspelt', async () => {
    const set = await at.servo('pool', 'set', 'pool:warehuose', '1', '--wait')
    expect(set).toMatchObject({ code: 0, stderr: expect.stringContaining('no asset names it yet') })
    await at.servo('pool', 'remove', 'pool:warehuose', '--wait')
    expect(await at.servo('pool', 'show', 'pool:warehuose')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no pool pool:warehuose'),
    })
  })

  test.each([
    [['set', 'warehouse', '3'], 2, 'pool_key is "warehouse". Give it "global", "pool:" and a name'],
    [['set', 'pool:warehouse', '-1'], 2, 'Give a whole number from 0 on; 0 closes the pool.'],
    [['set', 'pool:warehouse', 'many'], 2, 'Give a whole number from 0 on; 0 closes the pool.'],
    [['remove', 'global'], 1, 'The workspace always has a cap: global cannot be removed. Set it to another number instead.'],
  ])('%j ends with %i: %s', async (args, code, sentence) => {
    expect(await at.servo('pool', ...args)).toMatchObject({ code, stderr: expect.stringContaining(sentence) })
  })
})

describe('from the command line to the task', () => {
  test('priority and tags of a run, priority and pools of its assets, and why it waits', async () => {
    await at.servo('pool', 'set', 'tag:team', '0', '--wait')
    const started = await at.servo('run', 'start', 'load', 'check', '--priority', '40', '--tag', 'team=core', '--json')
    const { run_id } = JSON.parse(started.stdout) as { run_id: string }
    await at.world.turn.run()
    expect((await at.ask.get(`/runs/${run_id}?fresh=true`)).body).toMatchObject({ priority: 40, tags: { team: 'core' } })
    const { tasks } = (await at.ask.get(`/runs/${run_id}/tasks`)).body as { tasks: object[] }
    expect(tasks).toEqual([
      expect.objectContaining({ task_key: 'check', priority: 40, pool_keys: ['global', 'location:main'] }),
      expect.objectContaining({ task_key: 'load', priority: 43, pool_keys: ['global', 'pool:warehouse', 'location:main'] }),
    ])
    const why = await at.servo('run', 'why', run_id, 'load')
    expect(why.stdout).toContain(
      'tag:team=core is closed: its cap is 0, as tag:team has it for each value. `servo pool set tag:team NUMBER` opens it again.',
    )
    expect(await dispatched(at.world)).toEqual([])
    await at.servo('pool', 'set', 'tag:team', '1', '--wait')
    await at.world.turn.run()
    expect((await dispatched(at.world)).map(({ claims }) => claims.task_key)).toEqual(['load'])
    expect((await at.servo('run', 'why', run_id, 'check')).stdout).toContain('tag:team=core is full: 1 of 1 run')
    expect(await at.work()).toBe(2)
    await at.servo('pool', 'remove', 'tag:team', '--wait')
  })
})
