import { createDirectPort } from '../../src/activities/direct.js'
import { systemClock } from '../../src/bin/clock.js'
import { dispatchSuite, WORKER_SECRETS } from './dispatch.js'

dispatchSuite('direct requests', async () => ({
  port: createDirectPort({ clock: systemClock, worker_secrets: WORKER_SECRETS }),
  kind: 'straight',
  deliver: async () => undefined,
  workerOptions: {},
  close: async () => undefined,
}))
