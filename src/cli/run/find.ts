// Which run is meant: by its id, by the beginning of one, or as the newest.

import type { Run, RunPage } from '../answers.js'
import type { Session } from '../api-command.js'
import { ApiError } from '../client.js'
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

/** Reads the newest revision, and where the run is not in it what is accepted and not published yet: without an automation a
 *  run stays there. `servo run show` reads so too, and no command may say that there is no run which another one shows. */
export async function readRun<T>(read: (fresh: boolean) => Promise<T>): Promise<T> {
  try {
    return await read(false)
  } catch (error) {
    if (!isNotFound(error)) throw error
    return read(true)
  }
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.problem.status === 404
