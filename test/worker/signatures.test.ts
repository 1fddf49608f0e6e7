// The golden example of a location's secret and its signatures: for whoever writes a worker in another language.

import { expect, test } from '@jest/globals'
import { locationSecret } from '../../src/core/location-secret.js'
import { parseSecrets, secretsText } from '../../src/core/secrets.js'
import { type Secrets, signatureFault, signBody, signQueuedBody } from '../../src/core/token.js'
import { readText } from '../tidy/tree.js'

type Golden = {
  readonly installation: string
  readonly tenant_id: string
  readonly workspace_id: string
  readonly location_name: string
  readonly SERVO_WORKER_SECRETS: string
  readonly body: string
  readonly 'servo-location-signature': string
  readonly 'from a queue': string
}

const PATH = 'test/golden/signature.json'
const golden = JSON.parse(readText(PATH)) as Golden
const NOW = Date.parse('2025-01-15T10:00:00.000Z')
const HOUR_MS = 3_600_000
const secretsIn = (text: string) => parseSecrets(text) as unknown as Secrets

test('a location has the secret of the golden example', () => {
  expect(secretsText([locationSecret(secretsIn(golden.installation)[0], golden)])).toBe(golden.SERVO_WORKER_SECRETS)
})

test('a body is signed as in the golden example, straight and for a queue', () => {
  const secrets = secretsIn(golden.SERVO_WORKER_SECRETS)
  expect(signBody(secrets, golden.body, NOW)).toBe(golden['servo-location-signature'])
  expect(signQueuedBody(secrets, golden.body, NOW, NOW + HOUR_MS)).toBe(golden['from a queue'])
  for (const signature of [golden['servo-location-signature'], golden['from a queue']])
    expect(signatureFault(secrets, signature, golden.body, NOW)).toBeUndefined()
})

test('the page about the protocol shows the golden example', () => {
  expect(readText('docs/worker-protocol.md')).toContain(`<!-- golden: signature -->\n\`\`\`text\n${readText(PATH)}\`\`\`\n`)
})
