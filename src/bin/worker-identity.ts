// The name that the workers of an automation have in Temporal: process, host and store. Automations of two stores that poll the
// queues of one workspace take each other's turns, and the names show it.

import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { sha256Hex } from '../core/hash.js'

/** Enough to tell a few stores apart, and short enough to be read in Temporal's UI. */
const TAG_DIGITS = 8
const LOCAL = 'local:'

/** `4711@host/3f2a9c1b`. */
export const workerIdentity = (store: string): string => `${process.pid}@${hostname()}/${storeTag(store)}`

export const isIdentityOfStore = (identity: string, store: string): boolean => identity.endsWith(`/${storeTag(store)}`)

const storeTag = (store: string): string => sha256Hex(addressOf(store)).slice(0, TAG_DIGITS)

/** The same folder on another host is another store. */
const addressOf = (store: string): string =>
  store.startsWith(LOCAL) ? `${hostname()} ${resolve(store.slice(LOCAL.length))}` : store.replace(/\/$/, '')
