// Keys with their secrets as the environment says them: `key_id:secret[,key_id:secret]`. One reader for both sides: what one
// of them reads in another way makes signatures that the other refuses.

import type { Secret } from './run-id.js'

/** The settings that hold secrets. They are shown to nobody, and user code finds none of them in its environment. */
export const SECRET_VARIABLES: readonly string[] = ['SERVO_SECRETS', 'SERVO_WORKER_SECRETS', 'SERVO_API_TOKEN', 'TEMPORAL_API_KEY']

/** Without the secret: it is for log lines. */
type SecretsFault = { readonly fault: 'unreadable'; readonly entry: number } | { readonly fault: 'twice'; readonly secret_key_id: string }

export const secretsText = (secrets: readonly (Secret & { readonly secret: string })[]): string =>
  secrets.map(({ secret_key_id, secret }) => `${secret_key_id}:${secret}`).join(',')

/** What separates entries, keys and the parts of a signature is in none of them. */
const KEY_ID = /^[^,=:\s]{1,100}$/

export function parseSecrets(text: string): readonly (Secret & { readonly secret: string })[] | SecretsFault {
  const secrets: (Secret & { readonly secret: string })[] = []
  for (const [i, entry] of text.split(',').entries()) {
    const colon = entry.indexOf(':')
    const secret_key_id = entry.slice(0, Math.max(colon, 0)).trim()
    const secret = entry.slice(colon + 1).trim()
    if (colon < 0 || !KEY_ID.test(secret_key_id) || secret === '') return { fault: 'unreadable', entry: i + 1 }
    if (secrets.some((other) => other.secret_key_id === secret_key_id)) return { fault: 'twice', secret_key_id }
    secrets.push({ secret_key_id, secret })
  }
  return secrets
}
