// Keys by which a worker verifies dispatches, from its environment.

import type { Secret } from '../../core/run-id.js'
import { parseSecrets } from '../../core/secrets.js'

/** The variable that holds them, for messages. */
export const SECRETS_VARIABLE = 'SERVO_WORKER_SECRETS'

/** Throws nothing and shows no secret: a fault is a sentence that can be logged. */
export function readSecrets(text: string | undefined): readonly Secret[] | { readonly problem: string } {
  if (text === undefined || text.trim() === '') return []
  const secrets = parseSecrets(text)
  if (!('fault' in secrets)) return secrets
  return secrets.fault === 'twice'
    ? { problem: `${SECRETS_VARIABLE} has the key ${secrets.secret_key_id} twice. Give each key a name of its own.` }
    : { problem: `Entry ${secrets.entry} of ${SECRETS_VARIABLE} cannot be read. Write key_id:secret, and a comma between several.` }
}
