// Whether dist/ is what src/ says. Asked at every start of the command line, so it looks at times alone.

import { readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const DIST = `${ROOT}dist`
/** Written at the end of a build, with the time of its beginning: what was edited meanwhile counts as newer. */
export const STAMP = 'build-began'

/** Besides src/: how it is built, and which packages, which are in it too. */
const MAKES_IT = ['package-lock.json', 'scripts/build.js', 'scripts/bundle.js', 'tsconfig.json', 'tsconfig.types.json']

export function buildState() {
  const built = statSync(`${DIST}/${STAMP}`, { throwIfNoEntry: false })
  if (built === undefined) return 'missing'
  const src = statSync(`${ROOT}src`, { throwIfNoEntry: false })
  if (src === undefined) return 'current'
  const builtAt = built.mtimeMs
  if (src.mtimeMs > builtAt || isNewer(`${ROOT}src`, builtAt)) return 'stale'
  return MAKES_IT.some((file) => (statSync(`${ROOT}${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0) > builtAt) ? 'stale' : 'current'
}

// A folder's own time tells of files that were removed from it.
function isNewer(folder, builtAt) {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    if (entry.name.endsWith('.test.ts')) return false
    const path = `${folder}/${entry.name}`
    if (statSync(path).mtimeMs > builtAt) return true
    return entry.isDirectory() && isNewer(path, builtAt)
  })
}
