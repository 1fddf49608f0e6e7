// Makes dist/ from src/: modules that are loaded together lie in one file, packages among them. Of a command's start, looking
// up and linking hundreds of modules was a third (docs/performance.md).

import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from './build-state.js'

const SRC = `${ROOT}src/`

/** What somebody opens by its path: commands, scripts, threads, hooks, a user's module, and tests of what was built. */
const ENTRIES = [
  'cli/main',
  'cli/client',
  'cli/local/dev/start',
  'cli/local/dev/stop',
  'cli/local/dev/guard-main',
  'cli/local/dev/records',
  'bin/compare-beside',
  'bin/compare-thread',
  'sdk/index',
  'sdk/package-hooks',
  'sdk/typescript-hooks',
]

/** Packages that stay where they are: those with code of the machine's own or data beside them, and those that few
 *  commands load (test/integration/first-answer.test.ts knows them by their names). */
const APART = [
  '@duckdb/*',
  '@google-cloud/*',
  '@grpc/*',
  '@node-rs/*',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-node',
  '@swc/*',
  '@temporalio/*',
  'jose',
  'parquet-wasm',
  'protobufjs',
]

/** Packages of the older kind ask for Node's own modules by `require`, which a module has to make for itself: the one in
 *  which esbuild says what that is. */
const ASKS_FOR_REQUIRE = 'typeof require !== "undefined"'
const REQUIRE = "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

/** Bundled, a package has no folder of its own. These name theirs where it is never asked for: by a transport of a logger, of which
 *  there is none, and for what a document says of its program, which ours says itself. */
const NAME_THEIR_FOLDER = new Set(['pino', 'thread-stream', '@fastify/swagger'])

/** Throws with what is wrong where something cannot be bundled. */
export async function bundleSources(folder) {
  const { outputFiles } = await build({
    entryPoints: ENTRIES.map((entry) => ({ in: `${SRC}${entry}.ts`, out: entry })),
    outdir: folder,
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: APART,
    plugins: [ownUrls],
    logLevel: 'silent',
    write: false,
  })
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    const own = withOwnUrls(text, relative(folder, path))
    const faults = faultsIn(own)
    if (faults.length > 0) throw new Error(`src/ cannot be bundled as it is.\n${faults.join('\n')}`)
    writeFileSync(path, text.includes(ASKS_FOR_REQUIRE) ? `${REQUIRE}\n${own}` : own)
  }
}

// A module names what lies beside it by its own place in the tree, and is put into a file of another place.
const ownUrls = {
  name: 'own-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const own = relative(SRC, path).replace(/\.ts$/, '.js')
      return { contents: text.replaceAll('import.meta.url', `URL_OF(${JSON.stringify(own)})`), loader: 'ts' }
    })
  },
}

const withOwnUrls = (text, path) =>
  text.replaceAll(/URL_OF\("([^"]*)"\)/g, (_, own) => `new URL(${JSON.stringify(relative(dirname(path), own))}, import.meta.url).href`)

/** esbuild writes above each module where it comes from. */
const HEADER = /^\/\/ (?:node_modules\/((?:@[^/]+\/)?[^/]+)\/|src\/)/

function faultsIn(text) {
  const faults = []
  let name = 'src/'
  for (const line of text.split('\n')) {
    const header = HEADER.exec(line)
    if (header !== null) name = header[1] ?? 'src/'
    // As an argument: comments and texts speak of it too.
    if (/\(__(dirname|filename)[,)]/.test(line) && !NAME_THEIR_FOLDER.has(name) && !/^\s*(\/\/|\*)/.test(line))
      faults.push(`${name} names the folder that it lies in: put it into APART. ${line.trim()}`)
    if (line.includes('URL_OF(')) faults.push(`${name} names its own place in a way that is not known here: ${line.trim()}`)
  }
  return faults
}
