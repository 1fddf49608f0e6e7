// An asset without partitions, as an order with the one key that its row is kept under: mappings treat it as any other.

import type { KeyOrder } from './key-order.js'
import { openList } from './static.js'

export const UNPARTITIONED: KeyOrder = { ...openList('static', ['']), description: 'no partitions', at: () => UNPARTITIONED }
