// The bytes of a file on local disk whose footer is known: read where it is asked for them, and open only between the first read and
// the end of a call.

import { type FileHandle, stat } from 'node:fs/promises'
import { corrupt, missing } from '../../core/errors.js'
import { type FileBytes, openHandle, RUN_VERIFY, readRange } from '../columns/parquet-reader.js'

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    throw missing(`The table file ${path} is not there.`, error)
  }
}

/** The file is open from the first read until `close`. One of another size is not the one whose footer is known. */
export async function openBytes(path: string): Promise<FileBytes & { readonly close: () => Promise<void> }> {
  const size = await sizeOf(path)
  let opened: Promise<FileHandle> | undefined
  const open = async (): Promise<FileHandle> => {
    const handle = await openHandle(path)
    const found = await handle.stat()
    if (found.size === size) return handle
    await handle.close()
    throw corrupt(`${path} has ${found.size} bytes where it had ${size}. ${RUN_VERIFY}`)
  }
  return {
    size,
    async read(start, end) {
      opened ??= open()
      return readRange(await opened, path, start, end)
    },
    async close() {
      const closing = opened
      // Whoever reads after this opens it anew.
      opened = undefined
      const handle = await closing?.catch(() => undefined)
      await handle?.close()
    },
  }
}
