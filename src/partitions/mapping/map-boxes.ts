// Any mapping, by dimension too, in both directions. What is mapped dimension by dimension stays one box, so a year of one
// region costs as much as a day.

import type { KeyOrder } from '../key-order.js'
import { isMulti, sidesOf } from '../multi.js'
import { type Box, boxAt, boxesOfKeys, boxOfAll, boxOfLast, holdsAny, mergeBoxes, placesOfKey } from './boxes.js'
import type { Mapping, SingleMapping } from './definition.js'
import { downstreamSpans, type Sides, upstreamSpans } from './map.js'

/** By places: the dimensions of both sides that have to do with each other. */
type Joint = { readonly downstream: number; readonly upstream: number; readonly mapping: SingleMapping }

/** The upstream partitions that these downstream ones are made from. */
export function upstreamBoxes(mapping: Mapping, sides: Sides, boxes: readonly Box[]): readonly Box[] {
  const { downstream, upstream, now_ms } = sides
  const asked = mergeBoxes(boxes)
  if (asked.length === 0) return []
  if (mapping.type === 'all') return mergeBoxes([boxOfAll(upstream, now_ms)])
  if (mapping.type === 'last') return mergeBoxes([boxOfLast(upstream, now_ms)])
  const joints = jointsOf(mapping, sides)
  if (joints === undefined) {
    const entries = mapping.type === 'static' ? [...mapping.upstream_keys] : []
    const keys = entries.flatMap(([key, each]) => (holdsKey(downstream, asked, key) ? each : []))
    return boxesOfKeys(upstream, keys)
  }
  const whole = boxOfAll(upstream, now_ms)
  return mergeBoxes(
    asked.map((box) =>
      joints.reduce((made, joint) => {
        const spans = upstreamSpans(joint.mapping, sidesAt(sides, joint), box[joint.downstream] ?? [])
        return made.with(joint.upstream, spans)
      }, whole),
    ),
  )
}

/** The downstream partitions that any of these upstream ones is in. */
export function downstreamBoxes(mapping: Mapping, sides: Sides, boxes: readonly Box[]): readonly Box[] {
  const { downstream, upstream, now_ms } = sides
  const asked = mergeBoxes(boxes)
  const whole = boxOfAll(downstream, now_ms)
  if (mapping.type === 'all' || mapping.type === 'last') {
    const meant = mapping.type === 'all' ? boxOfAll(upstream, now_ms) : boxOfLast(upstream, now_ms)
    return asked.some((box) => holdsAny(meant, box)) ? mergeBoxes([whole]) : []
  }
  const joints = jointsOf(mapping, sides)
  if (joints === undefined) {
    const entries = mapping.type === 'static' ? [...mapping.upstream_keys] : []
    const keys = entries.flatMap(([key, each]) => (each.some((one) => holdsKey(upstream, asked, one)) ? [key] : []))
    return boxesOfKeys(downstream, keys)
  }
  // What is taken whole is what exists: of an upstream key that does not yet, nothing is made.
  const existing = boxOfAll(upstream, now_ms).map((spans, place) =>
    joints.some((joint) => joint.upstream === place) ? [{ first: 0, count: Number.MAX_SAFE_INTEGER }] : spans,
  )
  return mergeBoxes(
    asked
      .filter((box) => holdsAny(existing, box))
      .map((box) =>
        joints.reduce((made, joint) => {
          const spans = downstreamSpans(joint.mapping, sidesAt(sides, joint), box[joint.upstream] ?? [])
          return made.with(joint.downstream, spans)
        }, whole),
      ),
  )
}

/** undefined: not told dimension by dimension, but by whole keys, or by none. */
function jointsOf(mapping: Mapping, { downstream, upstream }: Sides): readonly Joint[] | undefined {
  if (mapping.type === 'dimension') {
    return mapping.pairs.map((pair) => ({
      downstream: placeOf(downstream, pair.downstream),
      upstream: placeOf(upstream, pair.upstream),
      mapping: pair.mapping,
    }))
  }
  if (!isMulti(downstream) && !isMulti(upstream)) return [{ downstream: 0, upstream: 0, mapping }]
  const [names, others] = [sidesOf(downstream), sidesOf(upstream)].map((each) => each.map(({ name }) => name).join('|'))
  // Keys of dimensions say their names, so those of other names have none in common.
  if (mapping.type !== 'identity' || names !== others) return undefined
  return sidesOf(downstream).map((_, place) => ({ downstream: place, upstream: place, mapping }))
}

const placeOf = (order: KeyOrder, name: string | null): number => sidesOf(order).findIndex((side) => side.name === name)

const sidesAt = ({ downstream, upstream, now_ms }: Sides, joint: Joint): Sides => ({
  downstream: sidesOf(downstream)[joint.downstream]?.order ?? downstream,
  upstream: sidesOf(upstream)[joint.upstream]?.order ?? upstream,
  now_ms,
})

function holdsKey(order: KeyOrder, boxes: readonly Box[], key: string): boolean {
  const places = placesOfKey(order, key)
  return places !== undefined && boxes.some((box) => holdsAny(boxAt(places), box))
}
