// From the path of a module to the code location that it exports, for commands that a person waits for: whatever is
// wrong is one message that names the file, without a stack unless it is asked for.

import { existsSync, readdirSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { basename, dirname, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf } from '../core/errors.js'
import { suggestion } from '../core/spelling.js'
import { type CodeLocation, isCodeLocation } from './code-location.js'
import { isAsset } from './dependency.js'
import { resolveSync } from './package-hooks.js'
import { syntaxFaultIn } from './syntax-fault.js'

export class LoadError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'LoadError'
  }
}

export type LoadOptions = {
  /** `stack`: for people who look for the line that threw. */
  readonly errors?: 'message' | 'stack'
}

const ENDINGS = ['.ts', '.mts', '.js', '.mjs']

export async function loadCodeLocation(path: string, { errors = 'message' }: LoadOptions = {}): Promise<CodeLocation> {
  const file = findModule(path)
  prepareFor(file)
  const exported = await importModule(path, file, errors)
  return theLocation(path, exported)
}

function findModule(path: string): string {
  const file = resolve(path)
  if (!existsSync(file)) {
    const others = existsSync(dirname(file)) ? readdirSync(dirname(file)).filter((name) => ENDINGS.includes(extname(name))) : []
    throw new LoadError(`${path} was not found. Give the path of a module, such as ./module.ts.${suggestion(basename(file), others)}`)
  }
  if (statSync(file).isDirectory()) throw new LoadError(`${path} is a folder. Give the path of a module in it, such as ${path}/module.ts.`)
  if (!ENDINGS.includes(extname(file))) throw new LoadError(`${path} is no module. Give a file that ends in ${ENDINGS.join(', ')}.`)
  return file
}

type RegisterHooks = (hooks: { readonly resolve: typeof resolveSync }) => unknown

function prepareFor(file: string): void {
  const isNodeAble = 'typescript' in process.features && Boolean(process.features.typescript)
  if (isNodeAble) {
    // Such a Node has them, though the types of the oldest one do not say so, and warns of `register`.
    once('package', () => (nodeModule as unknown as { registerHooks: RegisterHooks }).registerHooks({ resolve: resolveSync }))
    return
  }
  once('package', () => nodeModule.register('./package-hooks.js', import.meta.url))
  if (!/ts$/.test(file)) return
  once('typescript', () => {
    nodeModule.register('./typescript-hooks.js', import.meta.url)
    // Stacks then show the lines that were written.
    process.setSourceMapsEnabled(true)
  })
}

/** Once a process: hooks cannot be taken back, and a second pair would strip what is stripped. */
function once(hooks: 'package' | 'typescript', register: () => void): void {
  const registered = Symbol.for(`servo.${hooks}_hooks`)
  if (registered in process) return
  Object.defineProperty(process, registered, { value: true })
  register()
}

async function importModule(path: string, file: string, errors: 'message' | 'stack'): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    const stack = errors === 'stack' && error instanceof Error && error.stack !== undefined ? `\n${error.stack}` : ''
    throw new LoadError(`${path} could not be loaded: ${whyNot(error, file)}${stack}`, error)
  }
}

function whyNot(error: unknown, file: string): string {
  const message = messageOf(error)
  if (!(error instanceof SyntaxError)) return message || 'it threw something without a message.'
  if (/import statement outside a module|Unexpected token 'export'/.test(message)) {
    return `Node takes it for CommonJS. Put "type": "module" into its package.json, or name it ${basename(file, extname(file))}.mjs.`
  }
  // Of JavaScript Node says no line to those who catch it, but at most the one that it puts before the stack.
  if (message.includes(dirname(file))) return `${message}. Mend this line.`
  const stacked = /^(file:\S+:\d+)\n/.exec(error.stack ?? '')?.[1]
  if (stacked !== undefined) return `${stacked}: ${message}`
  const place = syntaxFaultIn(file)
  return place === undefined ? message : `${place}: ${message}. Mend this line.`
}

function theLocation(path: string, exported: Readonly<Record<string, unknown>>): CodeLocation {
  const names = Object.keys(exported).sort()
  // The default export is often a named one too.
  const locations = new Map(names.map((name) => [exported[name], name] as const).filter(([value]) => isCodeLocation(value)))
  const [first, ...others] = locations.keys()
  if (first === undefined) {
    const assets = names.filter((name) => isAsset(exported[name]))
    const what = assets.length > 0 ? ` It exports the assets ${assets.join(', ')}: list them in one.` : ''
    throw new LoadError(`${path} exports no code location.${what} Write \`export default defineCodeLocation({ name: …, assets: […] })\`.`)
  }
  if (others.length > 0) {
    const found = [...locations.values()].sort().join(', ')
    throw new LoadError(`${path} exports ${locations.size} code locations: ${found}. Export one; a second one is a module of its own.`)
  }
  return first as CodeLocation
}
