// What `servo deploy` is given: a module, which is loaded, or a document that says the same of a worker in any language.
// What a document says of its assets is judged by the API, which names each member that is wrong: its schema is written
// once.

import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { messageOf } from '../../core/errors.js'
import { isName } from '../../core/ids.js'
import { parseJson } from '../../core/json.js'
import type { CodeLocation } from '../../sdk/code-location.js'
import { describeLocation } from '../../sdk/definition.js'
import type { DeployAsked } from '../answers.js'
import { UsageError } from '../exit-code.js'
import { loadModule } from './load-module.js'

export type DeploySource = {
  readonly location_name: string
  /** The body of the deploy, as far as it says it: options of the command go before. */
  readonly members: Partial<DeployAsked> & Pick<DeployAsked, 'assets'>
}

export const readDeploySource = (path: string): DeploySource | Promise<DeploySource> =>
  extname(path) === '.json' ? readDocument(path) : readModule(path)

const readModule = async (path: string): Promise<DeploySource> => sourceOf(await loadModule(path))

/** JSON, so that another process can be told. */
export function sourceOf(location: CodeLocation): DeploySource {
  const { location_name, content_sha256: _hash, assets, ...lists } = describeLocation(location)
  // Frozen, and of the same shape: the API's own schema judges it.
  const definitions = assets.map(({ definition }) => definition) as unknown as DeployAsked['assets']
  const others = Object.fromEntries(Object.entries(lists).filter(([, members]) => members.length > 0)) as Partial<DeployAsked>
  return { location_name, members: { sdk: 'typescript', assets: definitions, ...others } }
}

const EXAMPLE = '{"location_name": "shop", "worker_url": "http://worker:7801", "assets": [{"asset_key": "shop.orders", "deps": []}]}'

function readDocument(path: string): DeploySource {
  const document = parseJson(textOf(path))
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new UsageError(`${path} is no JSON object. Write one such as ${EXAMPLE}`)
  }
  const { location_name, ...members } = document as Readonly<Record<string, unknown>>
  if (typeof location_name !== 'string' || !isName(location_name)) {
    const what = location_name === undefined ? 'is missing' : `is ${JSON.stringify(location_name)}`
    throw new UsageError(`${path}: location_name ${what}. Give it a name such as "shop".`)
  }
  // Not judged here: what is wrong with it comes back from the API, all of it.
  return { location_name, members: members as DeploySource['members'] }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path} cannot be read. Give the path of a document, such as ./location.json. (${messageOf(error)})`)
  }
}
