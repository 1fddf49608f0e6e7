// Node's hooks for modules, registered by load.ts where Node cannot read TypeScript itself. They run in a thread of
// Node's own.

import { existsSync, readFileSync } from 'node:fs'
import type { LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import { stripTypes } from './typescript.js'

/** A source may name another one by the ending that it will have when it is built. */
export const resolve: ResolveHook = (specifier, context, nextResolve) => {
  if (/^\.{1,2}\/.*\.m?js$/.test(specifier) && context.parentURL?.startsWith('file:')) {
    const built = new URL(specifier, context.parentURL)
    const source = new URL(built.href.replace(/js$/, 'ts'))
    if (!existsSync(built) && existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true }
  }
  return nextResolve(specifier, context)
}

export const load: LoadHook = (url, context, nextLoad) => {
  if (!url.startsWith('file:') || !/\.m?ts$/.test(new URL(url).pathname)) return nextLoad(url, context)
  const filename = fileURLToPath(url)
  const stripped = stripTypes(readFileSync(filename, 'utf8'), filename)
  if ('code' in stripped) return { format: 'module', source: stripped.code, shortCircuit: true }
  throw new SyntaxError(`${filename}${stripped.line === null ? '' : `:${stripped.line}`}: ${stripped.what}`)
}
