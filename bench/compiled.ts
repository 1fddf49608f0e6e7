// The product and what the benchmarks use as plain JavaScript: a process whose memory is measured holds no compiler.

import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripTypes } from '../src/sdk/typescript.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src', 'bench', 'test/fixtures'] as const

/** Runs with the folder that it was all compiled into, laid out as in the repository. */
export async function withCompiled<T>(run: (folder: string) => Promise<T>): Promise<T> {
  // Below the repository, so that packages are found.
  const folder = join(ROOT, `node_modules/.cache/servo-bench-${process.pid}`)
  try {
    for (const part of FOLDERS) await compile(join(ROOT, part), join(folder, part))
    await cp(join(ROOT, 'package.json'), join(folder, 'package.json'))
    return await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function compile(from: string, to: string): Promise<void> {
  const paths = await readdir(from, { recursive: true, withFileTypes: true })
  for (const entry of paths) {
    if (!entry.isFile()) continue
    const source = join(entry.parentPath, entry.name)
    const target = join(to, source.slice(from.length))
    await mkdir(dirname(target), { recursive: true })
    if (!source.endsWith('.ts')) {
      await cp(source, target)
      continue
    }
    const stripped = stripTypes(await readFile(source, 'utf8'), source)
    if (!('code' in stripped)) throw new Error(`${source} cannot be compiled: ${stripped.what}`)
    await writeFile(target.replace(/\.ts$/, '.js'), stripped.code)
  }
}
