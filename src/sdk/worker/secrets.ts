// Keys by which a worker verifies dispatches, from its environment.

import { isLocationSecret } from '../../core/location-secret.js'
import type { Secret } from '../../core/run-id.js'
import { parseSecrets } from '../../core/secrets.js'

/** The variable that holds them, for messages. */
export const SECRETS_VARIABLE = 'SERVO_WORKER_SECRETS'

/** Beside the location's own secret the installation's would only be there to be found. */
const TWO_KINDS = `${SECRETS_VARIABLE} has secrets of the location beside others. Give the worker those that \`servo worker secret\` prints, and no other.`

/** Throws nothing and shows no secret: a fault is a sentence that can be logged. */
export function readSecrets(text: string | undefined): readonly Secret[] | { readonly problem: string } {
  if (text === undefined || text.trim() === '') return []
  const secrets = parseSecrets(text)
  if (!('fault' in secrets)) {
    const own = secrets.filter(isLocationSecret).length
    return own === 0 || own === secrets.length ? secrets : { problem: TWO_KINDS }
  }
  return secrets.fault === 'twice'
    ? { problem: `${SECRETS_VARIABLE} has the key ${secrets.secret_key_id} twice. Give each key a name of its own.` }
    : { problem: `Entry ${secrets.entry} of ${SECRETS_VARIABLE} cannot be read. Write key_id:secret, and a comma between several.` }
}
