// Which generation of an object is the latest. A number is linked once and never again, and generation 2 stays as long
// as there is any above it: so "no 2, but a 1" needs two look-ups and no folder, and this is how nearly all objects are.

import { existsSync, readdirSync } from 'node:fs'
import { unavailable } from '../core/errors.js'
import { isFsError, whenThere } from './local-file.js'
import { generationPath, type ObjectPlace, parseGenerationFile } from './local-path.js'

/** Each try fails only because somebody removed a generation in this very moment. */
const TRIES_MAX = 100

/** 0 where there is none; the latest may be a tombstone, from 2 on. */
export function latestGeneration(place: ObjectPlace): number {
  // In this order: a 1 that is seen after the 2 was not there has had no successor when the look began.
  if (existsSync(generationPath(place, 2))) return highestGeneration(place)
  if (existsSync(generationPath(place, 1))) return 1
  // The 1 goes only when a 2 is there.
  return existsSync(generationPath(place, 2)) ? highestGeneration(place) : 0
}

/** A large folder is read in several steps, and may show neither a generation that is swept meanwhile nor its successor.
 *  What it shows instead is gone too, for sweeping ascends, and whoever reads it looks again; but a 2 stays. */
function highestGeneration(place: ObjectPlace): number {
  for (;;) {
    const highest = generationsOf(place).at(-1) ?? 0
    if (highest !== 2 || generationsOf(place).at(-1) === 2) return highest
  }
}

/** Ascending. */
export function generationsOf(place: ObjectPlace): readonly number[] {
  const entries = whenThere(() => readdirSync(place.folder)) ?? []
  const generations: number[] = []
  for (const entry of entries) {
    if (!entry.startsWith(place.file)) continue
    const parsed = parseGenerationFile(entry)
    if (parsed?.file === place.file) generations.push(parsed.generation)
  }
  return generations.sort((left, right) => left - right)
}

/** Reads the latest generation; one that is swept away meanwhile has a successor, which is read instead. */
export async function readLatest<Result>(
  place: ObjectPlace,
  read: (path: string, generation: number) => Result | Promise<Result>,
): Promise<Result | undefined> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const generation = latestGeneration(place)
    if (generation === 0) return undefined
    try {
      return await read(generationPath(place, generation), generation)
    } catch (error) {
      if (!isFsError(error, 'ENOENT')) throw error
    }
  }
  throw unavailable(`${place.name} was replaced faster than it could be read. Try again.`)
}
