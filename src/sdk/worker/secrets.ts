// Keys by which a worker verifies dispatches, as the environment says them: `key_id:secret[,key_id:secret]`.

import type { Secret } from '../../core/run-id.js'

/** The variable that holds them, for messages. */
export const SECRETS_VARIABLE = 'SERVO_WORKER_SECRETS'

const KEY_ID = /^[^,=:\s]{1,100}$/

/** Throws nothing and shows no secret: a fault is a sentence that can be logged. */
export function readSecrets(text: string | undefined): readonly Secret[] | { readonly problem: string } {
  if (text === undefined || text.trim() === '') return []
  const secrets: Secret[] = []
  for (const [i, entry] of text.split(',').entries()) {
    const colon = entry.indexOf(':')
    const secret_key_id = entry.slice(0, Math.max(colon, 0)).trim()
    const secret = entry.slice(colon + 1).trim()
    if (colon < 0 || !KEY_ID.test(secret_key_id) || secret === '') {
      return { problem: `Entry ${i + 1} of ${SECRETS_VARIABLE} cannot be read. Write key_id:secret, and a comma between several.` }
    }
    if (secrets.some((other) => other.secret_key_id === secret_key_id)) {
      return { problem: `${SECRETS_VARIABLE} has the key ${secret_key_id} twice. Give each key a name of its own.` }
    }
    secrets.push({ secret_key_id, secret })
  }
  return secrets
}
