// Where the crash story is told: which stores and files, and which of its crash points are worth a run there.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createLocalStore } from '../../src/storage/local.js'
import { CRASHES, type CrashCall, type CrashPoint } from '../faults/crash-store.js'
import { createParquetShelf } from '../fixtures/parquet-world.js'
import type { Random } from '../fixtures/random.js'
import { makeScratch } from '../fixtures/scratch.js'
import type { VirtualTime } from '../fixtures/virtual-time.js'
import { runCopyStory } from './copy-story.js'
import { type CrashRun, runCrashStory } from './crash-story.js'
import { distinctPointsOf, type PointSet, pairsOf, pointsOf, sampleOf } from './points.js'

export type Stage = {
  /** What is run on it. */
  readonly what: string
  /** There is no list of all. */
  readonly is_random: boolean
  /** `one_in`: a sample of them will do; 1: all. */
  readonly setsOf: (calls: readonly CrashCall[], one_in: number, random: Random) => readonly PointSet[]
  readonly open: () => OpenStage
}

export type OpenStage = {
  /** The same points give the same run. */
  readonly run: (points: PointSet) => Promise<CrashRun>
  readonly close: () => Promise<void>
}

const PAIRS = 200

const openMemory = (): OpenStage => ({ run: (points) => runCrashStory(points), close: async () => undefined })

function openFolder(): OpenStage {
  const folder = makeScratch('servo-crash-folder-')
  let runs = 0
  return {
    async run(points) {
      const own = join(folder, String(runs++))
      // No process dies here, so nothing has to be on the disk.
      const openStore = (time: VirtualTime) => createLocalStore({ folder: own, clock: time.clock(), sync: false })
      try {
        return await runCrashStory(points, { openStore })
      } finally {
        rmSync(own, { recursive: true, force: true })
      }
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

function openParquet(): OpenStage {
  const { filesIn, close } = createParquetShelf()
  return { run: (points) => runCrashStory(points, { filesIn, seed: seedOf(points) }), close }
}

/** Different for each single point: names follow from it, and no two worlds on one shelf may have one in common. */
export const seedOf = (points: PointSet): number =>
  points.reduce((seed, { at, how }) => seed * 10_000 + at * CRASHES.length + CRASHES.indexOf(how), 0)

const single = (points: readonly PointSet[number][]): PointSet[] => points.map((point) => [point])

const sampled = (points: readonly CrashPoint[], ...[calls, one_in, random]: Parameters<Stage['setsOf']>): readonly CrashPoint[] =>
  one_in === 1 ? points : sampleOf(points, calls, one_in, random)

const distinctSets: Stage['setsOf'] = (calls, one_in, random) => single(sampled(distinctPointsOf(calls), calls, one_in, random))

export const STAGES = {
  memory: {
    what: 'single crash points on memory with plain files',
    is_random: false,
    setsOf: (calls, one_in, random) => single(sampled(pointsOf(calls), calls, one_in, random)),
    open: openMemory,
  },
  pairs: {
    what: 'pairs of crash points on memory with plain files',
    is_random: true,
    setsOf: (calls, one_in, random) => pairsOf(calls, Math.ceil(PAIRS / one_in), random),
    open: openMemory,
  },
  folder: {
    what: 'distinct single crash points on the folder store with plain files',
    is_random: false,
    setsOf: distinctSets,
    open: openFolder,
  },
  parquet: {
    what: 'distinct single crash points on memory with Parquet files',
    is_random: false,
    setsOf: distinctSets,
    open: openParquet,
  },
  copies: {
    what: 'distinct single crash points of a backup, a restore and a rebuild on memory with plain files',
    is_random: false,
    setsOf: distinctSets,
    open: () => ({ run: runCopyStory, close: async () => undefined }),
  },
} as const satisfies Record<string, Stage>

export type StageName = keyof typeof STAGES

export const STAGE_NAMES = Object.keys(STAGES) as StageName[]
