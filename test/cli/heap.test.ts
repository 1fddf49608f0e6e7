// The heap of `servo automation` and `servo api` is collected when it is twice what was live: in a process of its own, for it is a
// setting of the whole process.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

const HEAP = new URL('../../src/cli/local/heap.ts', import.meta.url).href
const TYPESCRIPT = new URL('../../scripts/typescript.js', import.meta.url).href

/** Some 55 MB that stay, and objects that live for long enough to be taken for such: how large the heap becomes, over what stays. */
const PROGRAM = `
  import { getHeapStatistics } from 'node:v8'
  import { collectSooner } from ${JSON.stringify(HEAP)}
  if (process.argv[1] === 'sooner') collectSooner()
  const kept = Array.from({ length: 600_000 }, (_, i) => ({ i, text: 'text ' + i }))
  const base = process.memoryUsage().heapUsed
  const ring = []
  let peak = 0
  for (let i = 0; i < 8_000_000; i++) {
    ring[i % 200_000] = { i, at: [i] }
    if (i % 50_000 === 0) peak = Math.max(peak, getHeapStatistics().used_heap_size)
  }
  console.log(peak / base, kept.length)
`

async function growthOf(...args: readonly string[]): Promise<number> {
  // As on a machine with memory, whatever this one has.
  const node_arguments = ['--max-old-space-size=4096', '--import', TYPESCRIPT, '--input-type=module', '--eval', PROGRAM]
  const { stdout } = await promisify(execFile)(process.execPath, [...node_arguments, ...args])
  return Number(stdout.split(' ')[0])
}

test('a heap of which 55 MB are live grows less than a process left alone lets it', async () => {
  const [alone, sooner] = [await growthOf('alone'), await growthOf('sooner')]
  expect(sooner).toBeLessThan(alone * 0.75)
})
