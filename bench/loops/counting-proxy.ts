// Stands between processes and an emulator of Google Cloud Storage, and counts every request by what it asks for.

import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CountingProxy = {
  readonly endpoint: string
  /** Requests so far, by what they ask for. */
  readonly counts: () => ReadonlyMap<string, number>
  readonly close: () => Promise<void>
}

export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const counts = new Map<string, number>()
  const { hostname, port } = new URL(target)
  const server = createServer((request, response) => {
    const kind = kindOf(request.method ?? 'GET', request.url ?? '/')
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    const { method, url: path, headers } = request
    const onward = forward({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.once('error', () => response.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    counts: () => new Map(counts),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Parts of object names, the longest first. */
const PLACES = [
  'manifests/orchestration/revisions/',
  'manifests/orchestration/chain/',
  'manifests/orchestration/checkpoints/',
  'manifests/orchestration/cold/',
  'manifests/orchestration.manifest.json',
  'state/',
  'ledger/',
  'claims/',
  'starts/',
]

/** `list ledger/`, `head manifests/...`, `body ...`, `write ...`. */
export function kindOf(method: string, url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://store')
  const isList = /\/o\/?$/.test(pathname)
  const name = decodeURIComponent(isList ? (searchParams.get('prefix') ?? '') : pathname)
  const place = PLACES.find((each) => name.includes(each)) ?? 'other'
  if (method !== 'GET') return `write ${place}`
  if (isList) return `list ${place}`
  return searchParams.get('alt') === 'media' || pathname.startsWith('/download/') ? `body ${place}` : `head ${place}`
}

export const totalOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0)

export function countsSince(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map([...now].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)] as const).filter(([, count]) => count > 0))
}

export const countsText = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ')
