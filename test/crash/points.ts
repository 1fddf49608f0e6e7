// Which crash points there are in a story: every one, those that leave something of their own, a sample of them, pairs.

import { CRASHES, type Crash, type CrashCall, type CrashPoint } from '../faults/crash-store.js'
import type { Random } from '../fixtures/random.js'

/** Points of one run: a single one, or several. */
export type PointSet = readonly CrashPoint[]

/** Of a read only two make a difference. */
const OF_READS: readonly Crash[] = ['before', 'late']
/** Crashes that are further apart than this are two single ones. */
const CALLS_BETWEEN_MAX = 8

const isWrite = ({ operation }: CrashCall): boolean => operation === 'put' || operation === 'delete'

const crashesOf = (call: CrashCall): CrashPoint[] => (isWrite(call) ? CRASHES : OF_READS).map((how) => ({ at: call.number, how }))

/** Every crash of every call. */
export const pointsOf = (calls: readonly CrashCall[]): CrashPoint[] => calls.flatMap(crashesOf)

/** The same without those that leave what another one leaves: of the reads that an actor makes in a row, a death at the
 *  first stands for all, and of the reads without an answer one in each row is taken. */
export function distinctPointsOf(calls: readonly CrashCall[]): CrashPoint[] {
  const lastOf = new Map<string, CrashCall>()
  return calls.flatMap((call) => {
    const before = lastOf.get(call.actor)
    lastOf.set(call.actor, call)
    const isFirst = before === undefined || isWrite(before)
    return isWrite(call) || isFirst ? crashesOf(call) : []
  })
}

/** What a sample must not leave out: each crash of each actor, and of each operation on each sort of object. */
export function sortsOf({ at, how }: CrashPoint, calls: readonly CrashCall[]): string[] {
  const call = calls[at - 1]
  if (call === undefined) throw new Error(`The story has no call ${at}.`)
  const { actor, operation, name } = call
  // Not the tables apart: their files are written side by side and in the same way.
  const [folder, sort] = name.split('/').filter((part) => part !== 'orchestration')
  return [`${how} ${actor}`, `${how} ${operation} ${folder}${folder === 'ledger' ? '' : `/${sort}`}`]
}

/** One point in so many, in their order, with every sort of them; more where that needs more. */
export function sampleOf(points: readonly CrashPoint[], calls: readonly CrashCall[], one_in: number, random: Random): CrashPoint[] {
  const drawn = shuffled(points, random)
  const missing = new Set(points.flatMap((point) => sortsOf(point, calls)))
  const needed = drawn.filter((point) => sortsOf(point, calls).filter((sort) => missing.delete(sort)).length > 0)
  const others = drawn.filter((point) => !needed.includes(point))
  const more = Math.max(0, Math.ceil(points.length / one_in) - needed.length)
  const chosen = new Set([...needed, ...others.slice(0, more)])
  return points.filter((point) => chosen.has(point))
}

function shuffled<T>(values: readonly T[], random: Random): T[] {
  const drawn = [...values]
  for (let last = drawn.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    ;[drawn[last], drawn[other]] = [drawn[other] as T, drawn[last] as T]
  }
  return drawn
}

/** So many different pairs of crashes that are close to each other. */
export function pairsOf(calls: readonly CrashCall[], count: number, random: Random): PointSet[] {
  const pairs = new Map<string, PointSet>()
  while (pairs.size < count) {
    const at = 1 + random.below(calls.length - CALLS_BETWEEN_MAX)
    const pair = [
      { at, how: random.pick(CRASHES) },
      { at: at + 1 + random.below(CALLS_BETWEEN_MAX), how: random.pick(CRASHES) },
    ]
    pairs.set(textOf(pair), pair)
  }
  return [...pairs.values()]
}

/** Every so many-th, beginning with the first: shards are alike, and together they are all. */
export const shardOf = <T>(values: readonly T[], { number, count }: Shard): T[] => values.filter((_, index) => index % count === number - 1)

export type Shard = { readonly number: number; readonly count: number }

/** As `npm run crash` takes it: `17:late`, or `17:late,20:before`. */
export const textOf = (points: PointSet): string => points.map(({ at, how }) => `${at}:${how}`).join()

/** undefined: it is no such text. */
export function pointsIn(text: string): PointSet | undefined {
  const points = text.split(',').map((one) => {
    const [, at, how] = /^([1-9]\d*):(\w+)$/.exec(one) ?? []
    return { at: Number(at), how: CRASHES.find((crash) => crash === how) }
  })
  return points.every((point): point is CrashPoint => point.how !== undefined) ? points : undefined
}
