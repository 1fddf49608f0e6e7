// What `servo dev` keeps of a project: the ledger, Temporal's state, logs, and the secrets of this machine. One process at
// a time uses it.

import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseJson } from '../../../core/json.js'
import { UsageError } from '../../exit-code.js'
import { LOCK_FILE, takeLock } from './lock.js'

/** As environment variables have them. */
type DevSecrets = { readonly SERVO_SECRETS: string; readonly SERVO_WORKER_SECRETS: string }

export type DataFolder = {
  readonly path: string
  readonly store: string
  readonly temporal_db: string
  readonly logFile: (name: string) => string
  readonly secrets: DevSecrets
  readonly release: () => void
}

export async function openDataFolder(path: string): Promise<DataFolder> {
  const folder = resolve(path)
  mkdirSync(join(folder, 'logs'), { recursive: true })
  const unlock = await takeLock(join(folder, LOCK_FILE), folder)
  // However this process ends, as long as it is it that ends itself.
  process.once('exit', unlock)
  return {
    path: folder,
    store: `local:${join(folder, 'store')}`,
    temporal_db: join(folder, 'temporal.db'),
    logFile: (name) => join(folder, 'logs', `${name}.log`),
    secrets: readOrMakeSecrets(join(folder, SECRETS_FILE)),
    release() {
      process.removeListener('exit', unlock)
      unlock()
    },
  }
}

const SECRETS_FILE = 'secrets.json'

const newSecret = () => randomBytes(32).toString('base64url')

/** Ids and tokens are made with these: without them running attempts could not report, so they are kept, for this user. */
function readOrMakeSecrets(file: string): DevSecrets {
  if (!existsSync(file)) {
    const made = { SERVO_SECRETS: `dev1:${newSecret()}`, SERVO_WORKER_SECRETS: `worker1:${newSecret()}` }
    const temporary = `${file}.${process.pid}`
    writeFileSync(temporary, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 })
    renameSync(temporary, file)
  }
  chmodSync(file, 0o600)
  return readSecretsFile(file)
}

/** Those of a folder that a `servo dev` keeps, or kept. */
export function readDevSecrets(path: string): DevSecrets {
  const file = join(resolve(path), SECRETS_FILE)
  if (existsSync(file)) return readSecretsFile(file)
  throw new UsageError(`${file} is not there. Name the data folder of a \`servo dev\`; its first start makes the file.`)
}

function readSecretsFile(file: string): DevSecrets {
  const kept = (parseJson(readFileSync(file, 'utf8')) ?? {}) as Partial<DevSecrets>
  const { SERVO_SECRETS, SERVO_WORKER_SECRETS } = kept
  if (typeof SERVO_SECRETS === 'string' && typeof SERVO_WORKER_SECRETS === 'string') return { SERVO_SECRETS, SERVO_WORKER_SECRETS }
  throw new UsageError(
    `${file} does not hold the secrets that it should. Restore it, or delete it: tasks that run now are then tried again.`,
  )
}
