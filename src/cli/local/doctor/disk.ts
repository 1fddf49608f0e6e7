// The disk that the data folder is on, or will be: a full one stops appends first.

import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { messageOf } from '../../../core/errors.js'
import { type Finding, fail, ok, warn } from './finding.js'

const MB = 1_024 ** 2
const GB = 1_024 ** 3
/** A turn writes a few files at most, of some megabytes. */
const FAIL_BELOW = 200 * MB
/** Some days of a busy workspace, before old files are collected. */
const WARN_BELOW = 2 * GB

export async function checkDisk(folder: string): Promise<Finding> {
  const path = resolve(folder)
  try {
    const { bavail, bsize } = await nearestDisk(path)
    return spaceFinding(path, Number(bavail) * Number(bsize))
  } catch (error) {
    return warn('disk', `the space for ${path} could not be read: ${messageOf(error)}`, 'Check the path and its rights.')
  }
}

export function spaceFinding(path: string, bytes: number): Finding {
  const found = `${spaceText(bytes)} free for ${path}`
  if (bytes < FAIL_BELOW) return fail('disk', found, 'Make room now: appends fail on a full disk.')
  return bytes < WARN_BELOW
    ? warn('disk', found, 'Make room, or put the data elsewhere: --store, and --data of `servo dev`.')
    : ok('disk', found)
}

const spaceText = (bytes: number): string => (bytes >= GB ? `${(bytes / GB).toFixed(1)} GB` : `${Math.floor(bytes / MB)} MB`)

async function nearestDisk(path: string): ReturnType<typeof statfs> {
  try {
    return await statfs(path)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && path !== dirname(path)
    if (isMissing) return nearestDisk(dirname(path))
    throw error
  }
}
