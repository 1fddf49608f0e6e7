// Keys with their secrets as the environment says them: `key_id:secret[,key_id:secret]`. One reader for both sides: what one
// of them reads in another way makes signatures that the other refuses.

import type { Secret } from './run-id.js'

/** Without the secret: it is for log lines. */
type SecretsFault = { readonly fault: 'unreadable'; readonly entry: number } | { readonly fault: 'twice'; readonly secret_key_id: string }

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
