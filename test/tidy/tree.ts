// The repository's own files, and small trees of its kind in which a violation is planted.

import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Tracked or about to be: what git ignores is not part of the repository. */
export const repositoryFiles = (): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() === true)

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** A folder that looks like the repository to the tools, with these files in it. Whoever makes it removes it. */
export function plantTree(files: Readonly<Record<string, string>>, copied: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'servo-tidy-'))
  for (const path of copied) cpSync(join(ROOT, path), join(root, path), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

export const linkPackages = (root: string): void => symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))

export const removeTree = (root: string): void => rmSync(root, { recursive: true, force: true })

type ToolAnswer = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs a tool of node_modules, or a script of the repository. */
export const runTool = (file: string, args: readonly string[], cwd: string): Promise<ToolAnswer> =>
  runProcess([join(ROOT, file), ...args], cwd)

export const runProcess = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): Promise<ToolAnswer> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env, encoding: 'utf8', maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr }),
    )
  })
