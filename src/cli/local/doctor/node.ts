// Node: the version that package.json asks for.

import { readFileSync } from 'node:fs'
import { type Finding, fail, ok } from './finding.js'

const PACKAGE = new URL('../../../../package.json', import.meta.url)

export function checkNode(version = process.versions.node): Finding {
  const { engines } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly engines: { readonly node: string } }
  const needed = engines.node.replace(/^>=/, '')
  if (isAtLeast(version, needed)) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version}, and ${needed} or later is needed`, `Install Node ${needed} or later: https://nodejs.org`)
}

/** 20.9 is older than 20.15. */
export function isAtLeast(version: string, needed: string): boolean {
  const [have, want] = [version, needed].map((text) => text.split('.').map(Number)) as [number[], number[]]
  for (const [index, part] of want.entries()) {
    const difference = (have[index] ?? 0) - part
    if (difference !== 0) return difference > 0
  }
  return true
}
