// Which program a callback comes from, where this API asks for it: an OIDC token beside the token of the attempt, which
// stays what opens the attempt.

import type { FastifyRequest } from 'fastify'
import { problem } from '../../commands/problem.js'
import type { OidcVerifier } from '../../oidc/verifier.js'
import { IDENTITY_HEADER } from '../contract/worker.js'
import { RefusedError } from '../problems.js'

export async function requireIdentity(request: FastifyRequest, proof: OidcVerifier | undefined): Promise<void> {
  if (proof === undefined) return
  const given = request.headers[IDENTITY_HEADER]
  const verdict = await proof(Array.isArray(given) ? given[0] : given)
  if (verdict.kind === 'valid') return
  // Which part is wrong helps whoever operates Servo, and nobody else.
  request.log.warn(`A callback was refused. ${verdict.problem}`)
  if (verdict.kind === 'unknown')
    throw new RefusedError(problem('not-ready', 'The caller cannot be verified just now. Send the same again in a moment.'))
  throw new RefusedError(
    problem(
      'unauthorized',
      `This API takes callbacks with an OIDC token alone, and that of this one is missing or not valid. Send one in the header ${IDENTITY_HEADER}.`,
    ),
  )
}
