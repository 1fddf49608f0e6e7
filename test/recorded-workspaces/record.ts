// Records a small workspace as this commit writes it: `node scripts/run.js test/recorded-workspaces/record.ts`. The README
// beside it says when, and how one of an older commit was made.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openDeps } from '../../src/bin/deps.js'
import { main } from '../../src/cli/main.js'
import { FOLD_VERSION } from '../../src/core/limits.js'
import { newUlid } from '../../src/core/ulid.js'
import { segmentObjectName } from '../../src/ledger/segment.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'

const RUN_EVENTS = 20
/** Planned and partly dispatched: rows that a turn holds in memory. */
const OPEN_RUN_EVENTS = 9

const folder = mkdtempSync(join(tmpdir(), 'servo-recorded-'))
const store = join(folder, 'store')
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')

async function servo(...args: readonly string[]): Promise<void> {
  const code = await main([...args, '--store', `local:${store}`, ...STORY_SCOPE])
  if (code !== 0) throw new Error(`servo ${args.join(' ')} ended with ${code}.`)
}

async function append(lines: readonly string[]): Promise<void> {
  const file = join(folder, 'lines.ndjson')
  writeFileSync(file, `${lines.join('\n')}\n`)
  await servo('ledger', 'append', '--file', file)
}

async function leaveNoise(): Promise<void> {
  const deps = await openDeps({ store: `local:${store}`, tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
  const name = segmentObjectName(newUlid(deps.clock.now(), deps.random))
  await deps.store.put(name, Buffer.from('no segment'), { if_generation: '0' })
  await deps.close()
}

const done = linesOf(storyLines({ events: 2 * RUN_EVENTS, name: 'done' }))
const open = linesOf(storyLines({ events: RUN_EVENTS, name: 'open' }))
await append(linesOf(deployLines()))
await append(done.slice(0, RUN_EVENTS))
await servo('ledger', 'compact', '--merge')
await append(done.slice(RUN_EVENTS))
await append(done.slice(0, 1))
await leaveNoise()
await servo('ledger', 'compact')
await append(open.slice(0, OPEN_RUN_EVENTS))
await servo('ledger', 'compact')
// Nobody has folded these: whoever opens the workspace does.
await append(open.slice(OPEN_RUN_EVENTS))

const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
const contents = files.map((entry) => {
  const path = join(entry.parentPath ?? (entry as { path?: string }).path ?? '', entry.name)
  return [path.slice(store.length + 1), readFileSync(path).toString('base64')] as const
})
const target = `test/recorded-workspaces/fold-${FOLD_VERSION}.json.gz`
writeFileSync(target, gzipSync(JSON.stringify(Object.fromEntries(contents.sort())), { level: 9 }))
rmSync(folder, { recursive: true })
process.stdout.write(`${target}: ${files.length} files\n`)
