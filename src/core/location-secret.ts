// The secret of the workers of one code location. It is derived from a secret of the installation, so that the automation
// needs no list of locations, and a worker that has one can neither sign for another location nor find the installation's.

import { hmacSha256 } from './hash.js'
import type { Scope } from './ids.js'
import type { Secret } from './run-id.js'

export type LocationRef = Scope & { readonly location_name: string }

/** Tells such a secret from one of the installation: to workers, to those who set it, and to programs that look for secrets
 *  in what people publish. */
const PREFIX = 'swl_'
const DERIVED = new RegExp(`^${PREFIX}[A-Za-z0-9_-]{43}$`)
const VERSION = 'servo-location-secret-v1'

/** With the same key id: a worker says which key it does not know, and an operator knows which one is meant. */
export function locationSecret(
  { secret_key_id, secret }: Secret,
  { tenant_id, workspace_id, location_name }: LocationRef,
): Secret & { readonly secret: string } {
  // Line by line: none of them can hold a line end, so that no two locations are one text.
  const text = [VERSION, secret_key_id, tenant_id, workspace_id, location_name].join('\n')
  return { secret_key_id, secret: `${PREFIX}${Buffer.from(hmacSha256(secret, text)).toString('base64url')}` }
}

export const isLocationSecret = ({ secret }: Secret): boolean => typeof secret === 'string' && DERIVED.test(secret)
