// An API that is started while neither Temporal nor its store can be reached, and stopped while Temporal still cannot.

import { expect, jest, test } from '@jest/globals'
import { API_PREFIX } from '../../src/api/contract/path.js'
import { SECRETS } from '../fixtures/automation-process.js'
import { startFakeGcs } from '../fixtures/fake-gcs.js'
import { freePort } from '../fixtures/free-port.js'
import { startServo } from '../fixtures/servo-process.js'
import { until } from '../fixtures/until.js'

jest.setTimeout(120_000) // no wait: the bound of a test that starts processes

test('the API is there without Temporal and without its store, says so, and takes commands when the store is back', async () => {
  const [port, gcs_port] = [await freePort(), await freePort()]
  const api = startServo(['api'], {
    ...SECRETS,
    SERVO_PORT: String(port),
    SERVO_LOG_LEVEL: 'silent',
    SERVO_STORE: 'gs://servo-absent/api',
    STORAGE_EMULATOR_HOST: `http://127.0.0.1:${gcs_port}`,
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
  })
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init)
    return { status: answer.status, body: (await answer.json()) as { readonly status?: string; readonly detail?: string } }
  }
  const location = JSON.stringify({ worker_url: 'http://127.0.0.1:1', slots: 1, assets: [] })
  const deploy = () =>
    ask(`${API_PREFIX}/code-locations/main/deploy`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: location })
  try {
    await until('it listens', () => ask('/healthz').then(({ status: code }) => code === 200))
    expect(await ask('/readyz')).toMatchObject({ status: 503 })
    expect(await deploy()).toMatchObject({ status: 503, body: { detail: expect.stringContaining('The store did not answer') } })
    const gcs = await startFakeGcs('servo-absent', gcs_port)
    try {
      await until('a command is accepted', () => deploy().then(({ status: code }) => code < 300))
    } finally {
      api.stop('SIGTERM')
      await api.finished
      await gcs.stop()
    }
    expect(await api.finished).toMatchObject({ code: 0 })
  } finally {
    api.stop('SIGKILL')
  }
})
