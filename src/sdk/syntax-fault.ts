// Finds the line of a syntax error in a module or in its imports. For JavaScript, the error that Node throws has neither the file
// nor the line. Imports by path are followed, packages are not.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { stripTypes } from './typescript.js'

/** A project of one's own rarely has as many; each costs milliseconds, once, after a failure. */
const FILES_MAX = 500

/** `file:line` of the first file, breadth first, that cannot be read as a module; undefined: all of them can. */
export function syntaxFaultIn(module: string): string | undefined {
  const seen = new Set([module])
  for (const file of seen) {
    if (seen.size > FILES_MAX) return undefined
    const text = readFileSync(file, 'utf8')
    const stripped = stripTypes(text, file)
    if (!('code' in stripped)) return stripped.line === null ? file : `${file}:${stripped.line}`
    for (const imported of importsOf(text, file)) seen.add(imported)
  }
  return undefined
}

const IMPORTS = /\b(?:from|import)\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]+)\1/g
/** What is loaded as a module: the other kind may have statements that no module may. */
const CODE = /\.m?[jt]s$/

const importsOf = (text: string, file: string): readonly string[] =>
  [...text.matchAll(IMPORTS)].flatMap(([, , path]) => {
    const named = resolve(dirname(file), path as string)
    // A source may name another one by the ending that it has when it is built.
    return [named, named.replace(/js$/, 'ts')].filter((each) => CODE.test(each) && isFile(each)).slice(0, 1)
  })

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()
