// An issuer of OIDC tokens for tests: keys of its own, the set of their public halves, and tokens that say what they are
// told to. Nobody outside knows it.

import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose'

export const ISSUER = 'https://accounts.google.com'
export const ACCOUNT = 'queue@my-project.iam.gserviceaccount.com'

export type Signer = {
  readonly key_set: JSONWebKeySet
  /** A token as Google's are, valid for an hour; members of `claims` go before its own, undefined leaves one out. */
  readonly sign: (claims: JWTPayload & { readonly aud: string }, now: number) => Promise<string>
}

export async function createSigner(kid = 'key-1', alg: 'RS256' | 'ES256' = 'ES256'): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return {
    key_set: { keys: [{ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }] },
    sign(claims, now) {
      const iat = Math.floor(now / 1_000)
      const usual = { iss: ISSUER, sub: '1234567890', email: ACCOUNT, email_verified: true, iat, exp: iat + 3_600 }
      const whole = Object.fromEntries(Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined))
      return new SignJWT(whole).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(privateKey)
    },
  }
}
