// Who has to prove who it is, and by which keys: settings that the API and the worker have alike, under a prefix each.

import { isAddress, isLoopback } from '../core/host.js'
import type { Clock } from '../core/time.js'
import type { Identity, IdentitySource } from '../oidc/identity.js'
import type { OidcExpectation, OidcVerifier } from '../oidc/verifier.js'

export type OidcConfig = OidcExpectation & {
  /** A file, or an address. */
  readonly keys: string
}

type Fault = { readonly fault: string }

/** Reads one setting; a fault of it is kept by whoever made this. */
export type Read = <T>(name: string, fallback: string | undefined, parse: (text: string) => T | Fault) => T | undefined

const GOOGLE_ISSUER = 'https://accounts.google.com'
const GOOGLE_KEYS = 'https://www.googleapis.com/oauth2/v3/certs'

/** Spelled out, so that one search finds a setting. */
type Names = { readonly audience: string; readonly issuer: string; readonly keys: string; readonly email: string }
const DELIVERY: Names = {
  audience: 'SERVO_DELIVERY_OIDC_AUDIENCE',
  issuer: 'SERVO_DELIVERY_OIDC_ISSUER',
  keys: 'SERVO_DELIVERY_OIDC_KEYS',
  email: 'SERVO_DELIVERY_OIDC_EMAIL',
}
const CALLBACK: Names = {
  audience: 'SERVO_CALLBACK_OIDC_AUDIENCE',
  issuer: 'SERVO_CALLBACK_OIDC_ISSUER',
  keys: 'SERVO_CALLBACK_OIDC_KEYS',
  email: 'SERVO_CALLBACK_OIDC_EMAIL',
}

export const readDeliveryOidc = (read: Read, faults: string[]): OidcConfig | undefined => readOidc(read, faults, DELIVERY)
export const readCallbackOidc = (read: Read, faults: string[]): OidcConfig | undefined => readOidc(read, faults, CALLBACK)

/** undefined: nobody is asked. */
function readOidc(read: Read, faults: string[], names: Names): OidcConfig | undefined {
  const audience = read(names.audience, undefined, someText)
  const issuer = read(names.issuer, undefined, someText)
  const keys = read(names.keys, undefined, keyPlace)
  const email = read(names.email, undefined, emailAddress)
  if (audience !== undefined) return { audience, issuer: issuer ?? GOOGLE_ISSUER, keys: keys ?? GOOGLE_KEYS, email }
  const stray = [
    issuer === undefined ? [] : [names.issuer],
    keys === undefined ? [] : [names.keys],
    email === undefined ? [] : [names.email],
  ].flat()
  if (stray.length > 0) {
    faults.push(
      `${names.audience} is not set, so no token would be asked for. Set it to whom the tokens are for, or leave ${stray.join(', ')} out.`,
    )
  }
  return undefined
}

export async function openVerifier(config: OidcConfig, clock: Pick<Clock, 'now' | 'elapsed'>): Promise<OidcVerifier> {
  const [{ openKeySet }, { createOidcVerifier }] = await Promise.all([import('../oidc/key-set.js'), import('../oidc/verifier.js')])
  return createOidcVerifier(config, await openKeySet(config.keys, clock.elapsed), clock.now)
}

export async function openIdentity(source: IdentitySource, { now }: Pick<Clock, 'now'>): Promise<Identity> {
  const { createIdentity } = await import('../oidc/identity.js')
  return createIdentity(source, { now })
}

export const readIdentity = (read: Read): IdentitySource | undefined => read('SERVO_CALLBACK_IDENTITY', undefined, identitySource)

function identitySource(text: string): IdentitySource | Fault {
  const [, kind, rest = ''] = /^(file|google):(.+)$/.exec(text) ?? []
  if (kind === undefined) return { fault: 'Write file:PATH, or google:AUDIENCE for the metadata server of Google Cloud.' }
  return kind === 'file' ? { kind, path: rest } : { kind: 'google', audience: rest }
}

const someText = (text: string): string => text

function keyPlace(text: string): string | Fault {
  if (!isAddress(text)) return text
  const isFit = URL.canParse(text) && (text.startsWith('https:') || isLoopback(new URL(text).hostname))
  return isFit ? text : { fault: 'Give it a file with a JSON Web Key Set, or an https address that has one.' }
}

export const emailAddress = (text: string): string | Fault =>
  /^[^\s@]+@[^\s@]+$/.test(text)
    ? text
    : { fault: 'Give it the e-mail address of a service account, such as servo@my-project.iam.gserviceaccount.com.' }
