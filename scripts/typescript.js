// `node --import ./scripts/typescript.js FILE.ts`: Node runs the TypeScript of this repository as it stands.
// swc only strips the types. tsx would do it too, but names every closure when it is made (esbuild's keepNames), which
// costs a microsecond each: a loop that makes closures ran 100 times slower, and a benchmark measured that.

import { register } from 'node:module'

register('./typescript-hooks.js', import.meta.url)
process.setSourceMapsEnabled(true)
