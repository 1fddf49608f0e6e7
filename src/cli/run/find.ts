// Which run is meant: by its id, by the beginning of one, or as the newest.

import type { Run, RunPage } from '../answers.js'
import type { Session } from '../api-command.js'
import { UsageError } from '../exit-code.js'

export const RUN_WORDS = 'a run id, the first 8 or more characters of a recent one, or `last`'

const WHOLE = /^run_[a-z0-9]{26}$/
const PREFIX_CHARACTERS_MIN = 8
/** One page: further back an id has to be whole. */
const RECENT_RUNS = 100

export async function findRunId({ client }: Pick<Session, 'client'>, text: string): Promise<string> {
  if (WHOLE.test(text)) return text
  if (text === 'last') {
    const { runs } = await client.get<RunPage>('/runs', { limit: 1, fresh: true })
    const [newest] = runs
    if (newest === undefined) throw new UsageError('There is no run yet. Start one with `servo run start`.')
    return newest.run_id
  }
  // With or without what all ids begin with.
  const prefix = text.startsWith('run_') ? text : `run_${text}`
  if (text.length < PREFIX_CHARACTERS_MIN) throw new UsageError(`${JSON.stringify(text)} is no run. Give ${RUN_WORDS}.`)
  const { runs } = await client.get<RunPage>('/runs', { limit: RECENT_RUNS, fresh: true })
  return theOne(
    text,
    runs.filter(({ run_id }) => run_id.startsWith(prefix)),
  )
}

function theOne(text: string, [first, ...others]: readonly Run[]): string {
  if (first === undefined) {
    throw new UsageError(
      `None of the newest ${RECENT_RUNS} runs begins with ${JSON.stringify(text)}. Give the whole id; \`servo run list --all\` shows every run.`,
    )
  }
  if (others.length === 0) return first.run_id
  const all = [first, ...others].map(({ run_id }) => run_id)
  throw new UsageError(`${JSON.stringify(text)} begins ${all.length} run ids: ${all.join(', ')}. Give more of it.`)
}

export const runPath = (run_id: string): string => `/runs/${encodeURIComponent(run_id)}`
/** A task of a partition has a # in its key. */
export const taskPath = (run_id: string, task_key: string): string => `${runPath(run_id)}/tasks/${encodeURIComponent(task_key)}`
