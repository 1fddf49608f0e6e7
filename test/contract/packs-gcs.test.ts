// Through the real client against a real fake-gcs-server. It deletes whatever the generation (object-store-gcs.test.ts); what
// hangs on that is shown on the other stores.

import { afterAll, beforeAll } from '@jest/globals'
import { createGcsStore } from '../../src/storage/gcs.js'
import { type FakeGcs, startFakeGcs } from '../fixtures/fake-gcs.js'
import { testPacks } from './packs.js'

let server: FakeGcs
beforeAll(async () => {
  server = await startFakeGcs()
}, 600_000)
afterAll(() => server.stop())

testPacks('gcs', (prefix) => createGcsStore({ bucket: server.bucket, api_endpoint: server.endpoint, page_size: 10, prefix }))
