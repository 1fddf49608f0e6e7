// Keeps the address of the Temporal server of a `servo dev` in its data folder, for `servo doctor` in another terminal. `servo dev`
// prints no variable for it, because the next `servo dev` in that terminal would use this server instead of starting its own.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isHeld, LOCK_FILE } from './lock.js'

const fileIn = (data_folder: string): string => join(data_folder, 'temporal.address')

export function noteTemporal(data_folder: string, address: string): void {
  writeFileSync(fileIn(data_folder), address)
}

export function forgetTemporal(data_folder: string): void {
  rmSync(fileIn(data_folder), { force: true })
}

const LOCAL = 'local:'

/** undefined: no `servo dev` runs on this data folder, nor on the one that the store is in. */
export function runningTemporal(data_folder: string, store: string): string | undefined {
  const path = store.startsWith(LOCAL) ? resolve(store.slice(LOCAL.length)) : undefined
  const folders = [resolve(data_folder), ...(path !== undefined && basename(path) === 'store' ? [dirname(path)] : [])]
  return folders.filter((folder) => isHeld(join(folder, LOCK_FILE))).flatMap(addressIn)[0]
}

function addressIn(folder: string): readonly string[] {
  try {
    return [readFileSync(fileIn(folder), 'utf8')]
  } catch (error) {
    // It has no server yet.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
