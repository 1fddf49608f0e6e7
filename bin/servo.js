#!/usr/bin/env node
import { buildState, DIST } from '../scripts/build-state.js'

const state = buildState()
if (state === 'missing') {
  process.stderr.write('servo: this checkout is not built yet. Run `npm run build` in it, or `npm test`, which sets up all of it.\n')
  process.exit(1)
}
// Building here would make every command wait, and several at once would build over each other.
if (state === 'stale') {
  process.stderr.write(
    'servo: src/ or its packages are newer than the build, and the older build is what runs. Run `npm run build` to bring it up to date.\n',
  )
}
const { main } = await import(`${DIST}/cli/main.js`)
process.exitCode = await main(process.argv.slice(2))
