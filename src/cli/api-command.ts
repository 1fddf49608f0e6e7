// What every command that asks the API has: where it is, how answers are printed, and lists that are longer than a page.

import { type Command, Option } from 'commander'
import { API_URL_DEFAULT, type ApiClient, createApiClient, firstToken, type Query } from './client.js'
import { FailedError } from './exit-code.js'
import type { Screen } from './screen.js'

/** What a command is told of the process that it runs in. */
export type Around = {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** undefined: the system knows none. */
  readonly loginName: () => string | undefined
  readonly screen: Screen
}

export type ApiOptions = { readonly api: string; readonly json?: boolean }

export type Session = { readonly client: ApiClient; readonly json: boolean; readonly screen: Screen }

export const TOKEN_VARIABLE = 'SERVO_API_TOKEN'

export const withApi = (command: Command): Command =>
  command
    .addOption(new Option('--api <url>', `where Servo's API is; ${TOKEN_VARIABLE} has its token`).env('SERVO_API').default(API_URL_DEFAULT))
    .option('--json', 'print one JSON value for programs')

export const sessionOf = ({ api, json }: ApiOptions, { environment, screen }: Pick<Around, 'environment' | 'screen'>): Session => ({
  client: createApiClient({ url: api, token: firstToken(environment[TOKEN_VARIABLE]) }),
  json: json === true,
  screen,
})

/** The first line of help is what it does, the last one that it can be pasted. */
export const withExample = (command: Command, ...examples: readonly string[]): Command =>
  command.addHelpText(
    'after',
    `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${examples.map((example) => `  ${example}`).join('\n')}`,
  )

const PAGE_ROWS = 100

type Page<Member extends string, Row> = Readonly<Record<Member, readonly Row[]>> & { readonly next_cursor: string | null }

/** Rows of a list, page by page, and whether there are more than were asked for. */
export async function listed<Member extends string, Row>(
  { client }: Pick<Session, 'client'>,
  { path, member, query = {}, limit = Number.POSITIVE_INFINITY }: { path: string; member: Member; query?: Query; limit?: number },
): Promise<{ readonly rows: readonly Row[]; readonly more: boolean }> {
  const rows: Row[] = []
  const assertNew = newPlaces(client.url)
  for (let cursor: string | undefined; ; ) {
    const page = await client.get<Page<Member, Row>>(path, { ...query, limit: Math.min(PAGE_ROWS, limit - rows.length), cursor })
    rows.push(...page[member])
    const more = page.next_cursor !== null
    if (!more || rows.length >= limit) return { rows, more }
    cursor = page.next_cursor ?? undefined
    assertNew(cursor)
  }
}

/** For whatever follows an answer to the next one: the same place twice would be followed without end. */
export function newPlaces(url: string, first?: string): (place: string | undefined) => void {
  const seen = new Set<string | undefined>([undefined, first])
  return (place) => {
    if (seen.has(place)) {
      throw new FailedError(
        `The API at ${url} repeats itself: the next page that it names is one that it has answered with before, and the list has no end. Is a proxy or a cache before it that answers for it?`,
      )
    }
    seen.add(place)
  }
}
