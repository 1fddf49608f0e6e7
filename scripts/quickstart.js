// Which run of the quickstart `npm start` asks for: one for each thing that was deployed, and another one where that failed.

/** A person who mends something between two starts gets a new attempt each time. */
const ATTEMPTS_MAX = 1_000

/** `{ kind: 'done' | 'open', run_id }` of a run that is there, or `{ kind: 'new', selection, run_key, partitions, attempt, failed_run_id }`
 *  of one to start. The key follows from what was deployed and from what is asked for, so that the same start twice is one
 *  run, and another definition is never a conflict with it. `client` is the command line's own. */
export async function chooseRun(client, { location_name, days }) {
  const { content_sha256 } = await client.get(`/code-locations/${location_name}`, { fresh: true })
  const assets = await assetsOf(client, location_name)
  const hasPartitions = assets.some(({ partitions }) => partitions !== null)
  const key = ['quickstart', content_sha256.slice(0, 16), ...(hasPartitions ? [days] : [])].join('-')
  let failed_run_id
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const run_key = attempt === 1 ? key : `${key}-attempt-${attempt}`
    const { runs } = await client.get('/runs', { run_key, limit: 1, fresh: true })
    const [run] = runs
    if (run === undefined) {
      const selection = assets.map(({ asset_key }) => asset_key)
      return { kind: 'new', selection, run_key, partitions: hasPartitions ? days : undefined, attempt, failed_run_id }
    }
    const { run_id, state } = run
    if (state === 'SUCCEEDED') return { kind: 'done', run_id }
    if (state !== 'FAILED' && state !== 'CANCELLED') return { kind: 'open', run_id }
    failed_run_id = run_id
  }
  throw new Error(`The quickstart failed ${ATTEMPTS_MAX} times. Start it yourself: npx servo run start '*' --partitions ${days} --wait`)
}

async function assetsOf(client, location_name) {
  const found = []
  const seen = new Set()
  for (let cursor; ; ) {
    const page = await client.get('/assets', { location: location_name, limit: 100, cursor, fresh: true })
    found.push(...page.assets)
    if (page.next_cursor === null) return found
    if (seen.has(page.next_cursor)) throw new Error('The API repeats itself: its list of assets has no end.')
    seen.add(page.next_cursor)
    cursor = page.next_cursor
  }
}
