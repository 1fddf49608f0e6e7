// `servo sql --tables`, `--files` and `--views`: what there is to select from, and where it lies.

import { describeTables, listFiles, viewScript } from '../../readers/sql-listing.js'
import { UsageError } from '../exit-code.js'
import { type AsOfOptions, openView } from './as-of.js'
import { withDeps } from './options.js'
import { note, printJson, printLines, printTable } from './print.js'

const LISTINGS = ['tables', 'files', 'views'] as const
type Listing = (typeof LISTINGS)[number]

export type ListingOptions = AsOfOptions & { readonly [Name in Listing]?: boolean }

export function listingOf(options: ListingOptions): Listing | undefined {
  const asked = LISTINGS.filter((name) => options[name] === true)
  if (asked.length > 1) throw new UsageError(`Give one of ${asked.map((name) => `--${name}`).join(' and ')}.`)
  return asked[0]
}

export async function list(listing: Listing, options: ListingOptions): Promise<void> {
  if (listing === 'tables') return printTables(options)
  await withDeps(options, 'read', async ({ store, ...deps }) => {
    const view = await openView({ store, ...deps }, options)
    if (listing === 'views')
      return options.json === true ? printJson(await viewScript(store, view)) : printLines((await viewScript(store, view)).split('\n'))
    const found = await listFiles(store, view)
    if (options.json === true) return printJson(found)
    printTable(
      ['table', 'file', 'rows', 'bytes'],
      found.tables.flatMap(({ table, files }) => files.map(({ path, rows, bytes }) => [table, path, String(rows), String(bytes)])),
    )
    note(
      `Revision ${found.sequence}, published at ${found.published_at}. Of rows with the same key the one with the highest row_version counts.`,
    )
  })
}

function printTables({ json }: ListingOptions): void {
  const tables = describeTables()
  if (json === true) return printJson(tables)
  printTable(
    ['table', 'column', 'type', ''],
    tables.flatMap(({ table, key, columns }) =>
      columns.map(({ column, type, nullable, holds_json }, place) => {
        const said = [...(key.includes(column) ? ['key'] : []), ...(holds_json ? ['JSON'] : []), ...(nullable ? ['may be null'] : [])]
        return [place === 0 ? table : '', column, type, said.join(', ')]
      }),
    ),
  )
}
