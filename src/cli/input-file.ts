// What an option names to be read: a file, or - for stdin.

import { readFile } from 'node:fs/promises'
import { messageOf } from '../core/errors.js'
import { UsageError } from './exit-code.js'

export async function readInput(option: string, file: string): Promise<Buffer> {
  if (file === '-') {
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  }
  return readFile(file).catch((error: unknown) => {
    throw new UsageError(`${option} ${file} cannot be read: ${messageOf(error)}.`)
  })
}
