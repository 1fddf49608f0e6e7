// The order of a definition's keys, whatever its type. Opened once for as long as the definition's row is held.

import { openCalendar } from './calendar.js'
import { type PartitionDefinition, parseDefinition } from './definition.js'
import { isRefusal, type KeyOrder, type Refusal } from './key-order.js'
import { type DimensionOrder, openMulti } from './multi.js'
import { openList } from './static.js'

/** The keys of dynamic partitions by the name of their definition, in the order in which they were added. */
type DynamicKeys = (name: string) => readonly string[] | undefined

const NO_KEYS: DynamicKeys = () => undefined

export function openOrder(definition: PartitionDefinition, dynamic_keys: DynamicKeys = NO_KEYS): KeyOrder | Refusal {
  if (definition.type === 'static') return openList('static', definition.keys)
  if (definition.type === 'dynamic') {
    const keys = dynamic_keys(definition.name)
    if (keys !== undefined) return openList('dynamic', keys)
    return { problem: `The keys of the dynamic partitions "${definition.name}" are added while Servo runs, and are not known here.` }
  }
  if (definition.type !== 'multi') return openCalendar(definition)
  const dimensions: DimensionOrder[] = []
  for (const { name, definition: each } of definition.dimensions) {
    const order = openOrder(each, dynamic_keys)
    if (isRefusal(order)) return order
    dimensions.push({ name, order })
  }
  return openMulti(dimensions)
}

// Memory of a pure function, as long as the definition's row is held: what every event of an asset would repeat.
const orders = new WeakMap<object, KeyOrder | Refusal>()

/** The order of the keys of a definition in JSON, or why this version has none for it. */
export function keyOrderOf(definition: unknown): KeyOrder | Refusal {
  if (definition === null || definition === undefined) return { problem: 'The asset has no partitions.' }
  const known = typeof definition === 'object' ? orders.get(definition) : undefined
  if (known !== undefined) return known
  const parsed = parseDefinition(definition)
  const order = isRefusal(parsed) ? parsed : openOrder(parsed)
  if (typeof definition === 'object') orders.set(definition, order)
  return order
}
