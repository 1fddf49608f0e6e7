// Whether an OIDC token (a signed JWT) says what it must: who issued it, for whom, until when, and whose it is. Used for what
// a queue delivers to a worker and for what a worker says to the API; what is wrong is a sentence.

import { errors, type JWTPayload, jwtVerify } from 'jose'
import { messageOf } from '../core/errors.js'
import { SECOND_MS } from '../core/time.js'
import { type KeySet, KeySetError } from './key-set.js'

export type OidcExpectation = {
  readonly audience: string
  readonly issuer: string
  /** The account that it has to be; undefined: any that the issuer knows. */
  readonly email?: string | undefined
}

type OidcVerdict =
  | { readonly kind: 'valid'; readonly subject: string; readonly email: string | undefined }
  | { readonly kind: 'refused'; readonly problem: string }
  /** Nothing is known of it: the keys are not to be had just now. Ask again. */
  | { readonly kind: 'unknown'; readonly problem: string }

export type OidcVerifier = (token: string | undefined) => Promise<OidcVerdict>

/** Signatures with a private key alone. With a shared secret (HS256) the public key, which everybody has, would be one. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
/** What two clocks may differ by. */
const TOLERANCE_SECONDS = 30
const NEEDED = ['iss', 'aud', 'sub', 'iat', 'exp']

export function createOidcVerifier(expected: OidcExpectation, keys: KeySet, now: () => number): OidcVerifier {
  return async (token) => {
    if (token === undefined) return refused('It has no OIDC token.')
    try {
      const { payload } = await jwtVerify(token, keys, {
        audience: expected.audience,
        issuer: expected.issuer,
        algorithms: ALGORITHMS,
        requiredClaims: NEEDED,
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(now()),
      })
      const fault = faultOfClaims(payload, expected, now())
      const { sub = '', email } = payload
      return fault === undefined ? { kind: 'valid', subject: sub, email: typeof email === 'string' ? email : undefined } : refused(fault)
    } catch (error) {
      if (error instanceof KeySetError) return { kind: 'unknown', problem: error.message }
      return refused(faultOf(error))
    }
  }
}

const refused = (problem: string): OidcVerdict => ({ kind: 'refused', problem })

/** What the library leaves to others: a token that was issued in the future, and whose it is. */
function faultOfClaims({ iat = 0, email, email_verified }: JWTPayload, expected: OidcExpectation, now: number): string | undefined {
  if (iat * SECOND_MS > now + TOLERANCE_SECONDS * SECOND_MS)
    return 'Its OIDC token was issued in the future. Set the clocks of both machines.'
  if (expected.email === undefined) return undefined
  if (email !== expected.email) return `Its OIDC token is that of ${shown(email)}, and not that of ${expected.email}.`
  return email_verified === true ? undefined : `Its OIDC token does not say that ${expected.email} is verified.`
}

const shown = (claim: unknown): string => (typeof claim === 'string' ? claim : 'nobody with an e-mail address')

function faultOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'Its OIDC token has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) return faultOfClaim(error)
  if (error instanceof errors.JOSEAlgNotAllowed) return `Its OIDC token is not signed by one of ${ALGORITHMS.join(', ')}.`
  if (error instanceof errors.JWKSNoMatchingKey) return 'Its OIDC token is signed with a key that is not in the key set.'
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'Its OIDC token does not say which key of the set signed it.'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of its OIDC token is wrong.'
  if (error instanceof errors.JOSEError) return 'Its OIDC token is none: it cannot be read.'
  return `Its OIDC token could not be verified: ${messageOf(error)}`
}

function faultOfClaim({ claim, reason, payload }: errors.JWTClaimValidationFailed): string {
  if (reason === 'missing') return `Its OIDC token lacks the claim ${claim}.`
  switch (claim) {
    case 'aud':
      return `Its OIDC token is for another audience: ${JSON.stringify(payload.aud)}.`
    case 'iss':
      return `Its OIDC token comes from another issuer: ${JSON.stringify(payload.iss)}.`
    case 'nbf':
      return 'Its OIDC token is not valid yet. Set the clocks of both machines.'
    default:
      return `The claim ${claim} of its OIDC token is none that there can be.`
  }
}
