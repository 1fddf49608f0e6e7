// The public keys by which tokens are verified: a file in the form of a JSON Web Key Set, or an address that has one. Keys
// change: a token by a key that is not known yet has the set looked at again, and not more often than now and then.

import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { readFile } from 'node:fs/promises'
import { messageOf } from '../core/errors.js'
import { parseJson } from '../core/json.js'
import { HOUR_MS, SECOND_MS } from '../core/time.js'

export type KeySet = JWTVerifyGetKey

/** The keys are not to be had: it says nothing about any token. */
export class KeySetError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'KeySetError'
  }
}

export const isAddress = (place: string): boolean => /^https?:\/\//.test(place)

/** Between two looks for a key that was not there. */
const LOOK_AGAIN_MS = 30 * SECOND_MS
const FETCH_TIMEOUT_MS = 5 * SECOND_MS

/** Rejects with a sentence where a file cannot be read now; an address is asked when the first token comes. */
export async function openKeySet(place: string, elapsed: () => number): Promise<KeySet> {
  return isAddress(place) ? remoteKeySet(place) : fileKeySet(place, elapsed)
}

function remoteKeySet(address: string): KeySet {
  const keys = createRemoteJWKSet(new URL(address), {
    cooldownDuration: LOOK_AGAIN_MS,
    cacheMaxAge: HOUR_MS,
    timeoutDuration: FETCH_TIMEOUT_MS,
  })
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      const isOfToken = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
      if (isOfToken || error instanceof errors.JOSENotSupported) throw error
      throw new KeySetError(`The keys at ${address} are not to be had: ${messageOf(error)}`)
    }
  }
}

async function fileKeySet(path: string, elapsed: () => number): Promise<KeySet> {
  let keys = await readKeys(path)
  let looked_at = elapsed()
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || elapsed() - looked_at < LOOK_AGAIN_MS) throw error
      looked_at = elapsed()
      // A file that is being written is read again next time; the keys that were known stay.
      keys = await readKeys(path).catch(() => keys)
      return keys(header, token)
    }
  }
}

async function readKeys(path: string): Promise<KeySet> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new KeySetError(`The key set ${path} cannot be read: ${messageOf(error)}`)
  })
  try {
    return createLocalJWKSet(parseJson(text) as JSONWebKeySet)
  } catch {
    throw new KeySetError(`${path} is no JSON Web Key Set. It has one member, "keys", a list of public keys.`)
  }
}
