// What commands in another terminal have to be told to reach this `servo dev`, and no other one on the machine. Pure.

import { resolve } from 'node:path'
import { PORT_DEFAULT } from '../../../bin/config.js'
import type { Scope } from '../../../core/ids.js'
import { WORKER_URL_DEFAULT } from '../deploy-worker.js'

type Reached = {
  readonly api_url: string
  readonly worker_url: string | undefined
  readonly data_folder: string
  readonly scope: Scope
}

/** `export A=1 B=2`; undefined where all of it is what commands take by themselves. */
export function exportLine({ api_url, worker_url, data_folder, scope }: Reached): string | undefined {
  const settings: readonly (readonly [string, string | undefined, string])[] = [
    ['SERVO_API', api_url, `http://127.0.0.1:${PORT_DEFAULT}`],
    ['SERVO_WORKER_URL', worker_url, WORKER_URL_DEFAULT],
    ['SERVO_STORE', `local:${data_folder}/store`, `local:${resolve('.servo')}/store`],
    ['SERVO_TENANT', scope.tenant_id, 'default'],
    ['SERVO_WORKSPACE', scope.workspace_id, 'default'],
  ]
  const other = settings.filter(([, value, usual]) => value !== undefined && value !== usual)
  return other.length === 0 ? undefined : `export ${other.map(([name, value]) => `${name}=${quoted(value ?? '')}`).join(' ')}`
}

const quoted = (text: string): string => (/^[\w./:@%+-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
