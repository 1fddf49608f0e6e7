// `servo asset`: what is defined, who needs whom, what is materialized.

import type { Command } from 'commander'
import type { Asset, AssetGraph, AssetSummary } from './answers.js'
import { type ApiOptions, type Around, listed, type Session, sessionOf, withApi, withExample } from './api-command.js'
import { assetTree } from './asset/tree.js'
import { note, printJson, printLine, printTable } from './local/print.js'
import { momentText } from './moments.js'

type ListOptions = ApiOptions & { readonly group?: string; readonly tag?: string; readonly location?: string }

export function addAssetCommands(group: Command, around: Around): void {
  group.helpCommand(false)
  const list = withApi(group.command('list'))
    .description('the assets that are deployed')
    .option('--group <name>', 'of this group')
    .option('--tag <name[=value]>', 'with this tag')
    .option('--location <name>', 'of this code location')
    .action((options: ListOptions) => listAssets(options, sessionOf(options, around)))
  withExample(list, 'servo asset list --group ingest')
  const show = withApi(group.command('show'))
    .description('one asset: its definition, its neighbours, what is materialized of it')
    .argument('<key>', 'an asset key')
    .action((key: string, options: ApiOptions) => showAsset(key, sessionOf(options, around)))
  withExample(show, 'servo asset show daily_summary')
  const graph = withApi(group.command('graph'))
    .description('who needs whom, upstream first')
    .action((options: ApiOptions) => showGraph(sessionOf(options, around)))
  withExample(graph, 'servo asset graph')
}

const NONE_YET = 'No asset is deployed yet. Deploy a module with `servo deploy`.'

async function listAssets({ group, tag, location }: ListOptions, session: Session): Promise<void> {
  const query = { group, tag, location, fresh: true }
  const { rows } = await listed<'assets', AssetSummary>(session, { path: '/assets', member: 'assets', query })
  if (session.json) return printJson(rows)
  if (rows.length === 0) return note([group, tag, location].every((each) => each === undefined) ? NONE_YET : 'No asset fits.')
  printTable(
    ['asset', 'group', 'location', 'code version', 'partitions', 'needs'],
    rows.map(({ asset_key, group_name, location_name, code_version, partitions, upstream }) => [
      asset_key,
      group_name ?? '',
      location_name,
      code_version ?? '',
      partitions ?? '',
      upstream.join(', '),
    ]),
  )
}

async function showAsset(key: string, session: Session): Promise<void> {
  const asset = await session.client.get<Asset>(`/assets/${encodeURIComponent(key)}`, { fresh: true })
  if (session.json) return printJson(asset)
  const now = Date.now()
  const { definition, last_materialization: last } = asset
  const members: readonly (readonly [string, string])[] = [
    ['about', asset.description ?? ''],
    ['group', asset.group_name ?? ''],
    ['location', `${asset.location_name}, version ${asset.location_version}`],
    ['code version', asset.code_version ?? ''],
    ['tags', pairs(asset.tags)],
    ['owners', (definition.owners ?? []).join(', ')],
    ['needs', asset.upstream.join(', ')],
    ['needed by', asset.downstream.join(', ')],
    ['partitions', asset.partitions ?? ''],
    ['materialized', countsText(asset)],
    ['last', last === null ? '' : `${momentText(last.at, now)}${last.partition_key === '' ? '' : `, ${last.partition_key}`}`],
    ['by', last?.run_id ?? ''],
    ['retry', definition.retry === undefined ? '' : pairs(definition.retry)],
    ['pools', (definition.pools ?? []).join(', ')],
    ['since', momentText(asset.current_since_at, now)],
  ]
  printLine(`Asset ${asset.asset_key}`)
  for (const [name, value] of members) if (value !== '') printLine(`  ${name.padEnd(12)} ${value}`)
}

const pairs = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ')

function countsText({ partitions, partition_counts: { materialized, failed, total } }: Asset): string {
  if (partitions === null) return failed > 0 ? 'the last attempt failed' : materialized > 0 ? 'yes' : 'not yet'
  const of = total === null ? '' : ` of ${total}`
  return `${materialized}${of} partitions${failed === 0 ? '' : `, ${failed} whose last attempt failed`}`
}

async function showGraph(session: Session): Promise<void> {
  const graph = await session.client.get<AssetGraph>('/asset-graph', { fresh: true })
  if (session.json) return printJson(graph)
  if (graph.nodes.length === 0) return note(NONE_YET)
  for (const line of assetTree(graph)) printLine(line)
}
