// The public keys by which tokens are verified: a file in the form of a JSON Web Key Set, or an address that has one. Keys
// change: a token by a key that is not known yet has the set looked at again, and not more often than now and then. Between two
// looks nobody knows whether there is such a key by now, so whoever has it is to ask again.

import { readFile } from 'node:fs/promises'
import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { messageOf } from '../core/errors.js'
import { isAddress } from '../core/host.js'
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

/** Between two looks for a key that was not there. */
const LOOK_AGAIN_MS = 30 * SECOND_MS
const FETCH_TIMEOUT_MS = 5 * SECOND_MS

/** Rejects with a sentence where a file cannot be read now; an address is asked when the first token comes. */
export async function openKeySet(place: string, elapsed: () => number): Promise<KeySet> {
  return lookedAgain(place, isAddress(place) ? remoteKeys(place) : await fileKeys(place), elapsed)
}

type Keys = {
  readonly find: KeySet
  /** Whether finding a key takes a look at the set first. */
  readonly isLookDue: () => boolean
  readonly look: () => Promise<void>
}

function lookedAgain(place: string, { find, isLookDue, look }: Keys, elapsed: () => number): KeySet {
  let looked_at = elapsed()
  return async (header, token) => {
    const isLooking = isLookDue()
    if (isLooking) looked_at = elapsed()
    try {
      return await find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || isLooking) throw error
      if (elapsed() - looked_at < LOOK_AGAIN_MS) throw notKnownYet(place)
      looked_at = elapsed()
      // Where it cannot be had now, the keys that were known stay.
      await look()
      return find(header, token)
    }
  }
}

const notKnownYet = (place: string) =>
  new KeySetError(
    `The key set ${place} has no such key, and was looked at a moment ago. It is looked at again in at most ${LOOK_AGAIN_MS / SECOND_MS} s.`,
  )

function remoteKeys(address: string): Keys {
  // It looks again by itself when what it has is old, and never because of a key.
  const remote = createRemoteJWKSet(new URL(address), {
    cooldownDuration: HOUR_MS,
    cacheMaxAge: HOUR_MS,
    timeoutDuration: FETCH_TIMEOUT_MS,
  })
  const had = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      const isOfToken = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
      if (isOfToken || error instanceof errors.JOSENotSupported) throw error
      throw new KeySetError(`The keys at ${address} are not to be had: ${messageOf(error)}`)
    }
  }
  return {
    find: (header, token) => had(() => remote(header, token)),
    isLookDue: () => !remote.fresh,
    look: () => had(remote.reload),
  }
}

async function fileKeys(path: string): Promise<Keys> {
  let keys = await readKeys(path)
  return {
    find: (header, token) => keys(header, token),
    isLookDue: () => false,
    look: async () => {
      keys = await readKeys(path)
    },
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
