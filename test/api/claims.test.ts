// Idempotency keys: the same answer on repeat, nothing twice, and a crash between claim and append that the repeat finishes.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'

let world: ApiWorld
let ask: Asker
const KEY = { 'idempotency-key': 'k-1' }

beforeEach(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  await ask.post('/code-locations/main/deploy', MAIN)
})
afterEach(() => world.close())

const runCount = async () => (await world.look('runs')).rows.length

describe('an idempotency key', () => {
  test('gives the same answer again, in another process as well, and one run', async () => {
    const first = await ask.post('/runs', { selection: 'a' }, KEY)
    const again = await ask.post('/runs', { selection: 'a' }, KEY)
    const elsewhere = await createAsker(await world.start()).post('/runs', { selection: 'a', client_request_id: 'k-1' })
    expect([again.body, elsewhere.body]).toEqual([first.body, first.body])
    await ask.get('/runs?fresh=true')
    expect(await runCount()).toBe(1)
    // Without a key each request is one of its own.
    await ask.post('/runs?wait=true', { selection: 'a' })
    expect(await runCount()).toBe(2)
  })

  test('with another body is 422, on another route another key', async () => {
    const { body } = await ask.post('/runs?wait=true', { selection: 'a' }, KEY)
    const other = await ask.post('/runs', { selection: 'b' }, KEY)
    expect(other).toMatchObject({ status: 422, body: { type: 'urn:servo:problem:key-reused' } })
    expect(other.body['detail']).toBe(
      'The idempotency key "k-1" was used for POST /runs before, with another body. Send what was sent then, or choose another key.',
    )
    expect((await ask.post(`/runs/${String(body['run_id'])}/cancel`, {}, KEY)).status).toBe(202)
    const both = await ask.post('/runs', { selection: 'a', client_request_id: 'k-2' }, KEY)
    expect(both.body['detail']).toBe('Idempotency-Key and client_request_id name two different keys. Send one of them.')
  })

  test('claims nothing for what is refused: mended, it goes', async () => {
    expect((await ask.post('/runs', { selection: 'zz' }, KEY)).status).toBe(400)
    expect((await ask.post('/runs', { selection: 'a' }, KEY)).status).toBe(202)
  })

  test('whose claim was written and whose append was not is finished by the repeat', async () => {
    let claims = 0
    world.watchPuts((name) => {
      if (name.startsWith('claims/')) claims += 1
      if (name.startsWith('ledger/') && claims > 0) throw new Error('The process was killed.')
    })
    const crashed = await ask.post('/runs', { selection: 'a' }, KEY)
    expect(crashed).toMatchObject({ status: 500, body: { type: 'urn:servo:problem:internal' } })
    expect(JSON.stringify(crashed.body)).not.toContain('killed')
    expect(claims).toBe(1)
    world.watchPuts(() => undefined)
    expect(await runCount()).toBe(0)
    const claim = await claimIn()
    const repeated = await createAsker(await world.start()).post('/runs?wait=true', { selection: 'a' }, KEY)
    expect(repeated).toMatchObject({ status: 202, body: { outcome: { kind: 'applied', event_id: claim.batch.events[0]?.event_id } } })
    expect(repeated.body).toMatchObject(claim.answer.body)
    expect(await runCount()).toBe(1)
  })

  test('appends nothing once the ledger may have forgotten, and answers all the same', async () => {
    const first = await ask.post('/runs?wait=true', { selection: 'a' }, KEY)
    world.passDays(7)
    const appended: string[] = []
    world.watchPuts((name) => void appended.push(name))
    const late = await createAsker(await world.start()).post('/runs', { selection: 'a' }, KEY)
    expect(late).toMatchObject({ status: 202, body: { accepted_event_id: first.body['accepted_event_id'] } })
    expect(appended.filter((name) => name.startsWith('ledger/'))).toEqual([])
  })
})

type StoredClaim = {
  readonly batch: { readonly events: readonly { readonly event_id: string }[] }
  readonly answer: { readonly body: object }
}

async function claimIn(): Promise<StoredClaim> {
  const { objects } = await world.store.list('claims/')
  const found = await world.store.get(objects[0]?.name ?? '')
  if (found.kind !== 'found') throw new Error('There is no claim.')
  return JSON.parse(Buffer.from(found.bytes).toString('utf8')) as StoredClaim
}
