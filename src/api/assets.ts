// Assets: what is defined, who needs whom, and what is materialized.

import { instantText } from '../core/time.js'
import { describePartitions, readAssetStatus } from '../readers/asset-status.js'
import { type AssetGraph, readAssetGraph } from '../readers/assets.js'
import { documentOf } from '../readers/document.js'
import { findAsset } from '../readers/found.js'
import type { View } from '../readers/reader.js'
import { asset, assetGraph, assetListQuery, assetPage, assetParams } from './contract/asset.js'
import { readOne } from './contract/run.js'
import { readCursor, writeCursor } from './http/cursor.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { orRefuse, problems } from './problems.js'

const TAGS = ['assets']
const EMPTY: AssetGraph = { definitions: new Map(), downstream: new Map() }

const graphOf = (view: View | undefined): Promise<AssetGraph> | AssetGraph => (view === undefined ? EMPTY : readAssetGraph(view))

type Definition = AssetGraph['definitions'] extends ReadonlyMap<string, infer Row> ? Row : never

function headOf(row: Definition) {
  const { asset_key, location_name, group_name, description, code_version, definition_hash, definition, partitions, deps } = row
  return {
    asset_key,
    location_name,
    group_name,
    description,
    code_version,
    definition_hash,
    tags: definition.tags ?? {},
    partitions: describePartitions(partitions).text,
    upstream: deps.map((dep) => dep.asset_key),
    current_since_at: documentOf('asset_definitions', row).current_since_at,
  }
}

export function addAssetRoutes(app: Api, deps: RouteDeps): void {
  app.get(
    '/assets',
    {
      schema: {
        operationId: 'listAssets',
        tags: TAGS,
        summary: 'Assets, by key',
        querystring: assetListQuery,
        response: { 200: assetPage, ...problems() },
      },
    },
    async (request, reply) => {
      const { limit, cursor, group, tag, location } = request.query
      const [after = ''] = readCursor('assets', cursor, 1) ?? []
      const { definitions } = await graphOf(await viewFor(deps, request.query, reply))
      const fitting = [...definitions.values()].filter(
        (row) =>
          row.asset_key > after &&
          (group === undefined || row.group_name === group) &&
          (location === undefined || row.location_name === location) &&
          (tag === undefined || hasTag(row.definition.tags, tag)),
      )
      const assets = fitting.slice(0, limit).map(headOf)
      const last = assets.at(-1)
      const next_cursor = fitting.length > limit && last !== undefined ? writeCursor('assets', [last.asset_key]) : null
      return reply.code(200).send({ assets, next_cursor })
    },
  )
  addOneAsset(app, deps)
  app.get(
    '/asset-graph',
    {
      schema: {
        operationId: 'getAssetGraph',
        tags: TAGS,
        summary: 'Who needs whom',
        querystring: readOne,
        response: { 200: assetGraph, ...problems() },
      },
    },
    async (request, reply) => {
      const { definitions } = await graphOf(await viewFor(deps, request.query, reply))
      const rows = [...definitions.values()]
      const nodes = rows.map(({ asset_key, group_name, location_name }) => ({ asset_key, group_name, location_name }))
      const edges = rows.flatMap((row) => row.deps.map((dep) => ({ from: dep.asset_key, to: row.asset_key })))
      return reply.code(200).send({ nodes, edges })
    },
  )
}

function hasTag(tags: Readonly<Record<string, string>> = {}, tag: string): boolean {
  const at = tag.indexOf('=')
  return at < 0 ? Object.hasOwn(tags, tag) : tags[tag.slice(0, at)] === tag.slice(at + 1)
}

function addOneAsset(app: Api, deps: RouteDeps): void {
  app.get(
    '/assets/:asset_key',
    {
      schema: {
        operationId: 'getAsset',
        tags: TAGS,
        summary: 'One asset, and what is materialized of it',
        params: assetParams,
        querystring: readOne,
        response: { 200: asset, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { asset_key } = request.params
      const { view, definition: row, graph } = orRefuse(await findAsset(await viewFor(deps, request.query, reply), asset_key))
      const { materialized, failed, last } = await readAssetStatus(view, row, deps.appender.now())
      const { total } = describePartitions(row.partitions)
      return reply.code(200).send({
        ...headOf(row),
        location_version: row.location_version,
        definition: row.definition,
        downstream: graph.downstream.get(asset_key) ?? [],
        partition_counts: { materialized, failed, total },
        last_materialization:
          last === undefined || last.last_materialization_id === null || last.last_materialization_at === null
            ? null
            : {
                partition_key: last.partition_key,
                materialization_id: last.last_materialization_id,
                run_id: last.last_materialization_run_id,
                at: instantText(last.last_materialization_at),
                code_version: last.last_materialization_code_version,
              },
      })
    },
  )
}
