// The headers by which a worker knows that a request comes from its automation: a signature by the secret of its location and,
// for workers of the release before, one by the installation's own secret.

import { LOCATION_SIGNATURE_HEADER, SIGNATURE_HEADER } from '../api/contract/worker.js'
import { type LocationRef, locationSecret } from '../core/location-secret.js'
import type { Secrets } from '../core/token.js'

/** undefined: workers of this workspace listen on loopback alone, and ask for no signature. */
export type WorkerSecrets = Secrets | undefined

export function signatureHeaders(
  worker_secrets: WorkerSecrets,
  location: LocationRef,
  sign: (secrets: Secrets) => string,
): Readonly<Record<string, string>> {
  if (worker_secrets === undefined) return {}
  const [first] = worker_secrets
  return { [LOCATION_SIGNATURE_HEADER]: sign([locationSecret(first, location)]), [SIGNATURE_HEADER]: sign(worker_secrets) }
}
