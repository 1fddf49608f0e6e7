// Assets: what is defined, who needs whom, and what is materialized.

import { z } from 'zod'
import { assetDefinition } from '../../events/asset.js'
import { count, id, instant, longCount, tags } from '../../events/value.js'
import { maybeInstant, nextCursor, pageQuery } from './page.js'

export const assetListQuery = z.strictObject({
  ...pageQuery,
  group: z.string().optional(),
  tag: z.string().optional().meta({ description: 'NAME or NAME=VALUE.' }),
  location: id('name').optional(),
})
export const assetParams = z.object({ asset_key: id('asset_key') })

const assetHead = {
  asset_key: z.string(),
  location_name: z.string(),
  group_name: z.string().nullable(),
  description: z.string().nullable(),
  code_version: z.string().nullable(),
  definition_hash: z.string(),
  tags,
  partitions: z.string().nullable().meta({ description: 'In words; null without partitions.' }),
  upstream: z.array(z.string()),
  current_since_at: maybeInstant,
}
export const assetSummary = z.object(assetHead).meta({ id: 'AssetSummary' })
export const assetPage = z.object({ assets: z.array(assetSummary), next_cursor: nextCursor }).meta({ id: 'AssetPage' })

export const asset = z
  .object({
    ...assetHead,
    location_version: longCount,
    definition: assetDefinition,
    downstream: z.array(z.string()),
    partition_counts: z.object({
      materialized: count,
      failed: count.meta({ description: 'Whose last attempt failed.' }),
      total: count.nullable().meta({ description: 'null: they go on with time.' }),
    }),
    last_materialization: z
      .object({
        partition_key: z.string(),
        materialization_id: z.string(),
        run_id: z.string().nullable(),
        at: instant,
        code_version: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'Asset' })

export const assetGraph = z
  .object({
    nodes: z.array(z.object({ asset_key: z.string(), group_name: z.string().nullable(), location_name: z.string() })),
    edges: z.array(z.object({ from: z.string(), to: z.string() })).meta({ description: '`to` needs `from`.' }),
  })
  .meta({ id: 'AssetGraph' })
