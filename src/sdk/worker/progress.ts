// How far an attempt is, from whatever the code gave: a beat must not be refused for what it carries.

import type { HeartbeatRequest } from '../../api/contract/worker.js'
import { COUNT_MAX } from '../../core/limits.js'
import { cutProgress } from '../context.js'
import { isObject } from '../member.js'

/** undefined: nothing in it can be said. */
export function progressOf(given: unknown): HeartbeatRequest['progress'] {
  if (!isObject(given)) return undefined
  const { done, total, message } = given
  const read = {
    ...countOf('done', done),
    ...countOf('total', total),
    ...(typeof message === 'string' ? { message } : {}),
  }
  return Object.keys(read).length === 0 ? undefined : cutProgress(read)
}

const countOf = (name: 'done' | 'total', value: unknown): { readonly done?: number; readonly total?: number } =>
  typeof value === 'number' && value >= 0 && value <= COUNT_MAX ? { [name]: Math.floor(value) } : {}
