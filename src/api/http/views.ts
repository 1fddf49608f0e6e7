// The revision that a request is answered from, and how the answer says which one it was.

import { isProblem, type Problem, problem } from '../../commands/problem.js'
import { type FreshView, readFresh } from '../../readers/fresh.js'
import type { View } from '../../readers/reader.js'
import { FRESH_HEADER, RefusedError, refusedUnlessBehind } from '../problems.js'
import type { AnyReply, ApiDeps } from './deps.js'

type ReadAsked = { readonly fresh?: boolean | undefined; readonly min_sequence?: number | undefined }

/** A revision that a writer was told of is published already: other processes see it within moments. */
const MIN_SEQUENCE_WAIT_MS = 5_000

/** undefined: nothing was published yet. */
export async function viewFor(deps: ApiDeps, { fresh, min_sequence }: ReadAsked, reply: AnyReply): Promise<View | undefined> {
  const view = fresh === true ? await freshView(deps, reply) : await publishedView(deps, min_sequence)
  const sequence = view?.sequence ?? 0
  if (min_sequence !== undefined && sequence < min_sequence) throw notThere(min_sequence)
  void reply.header('servo-sequence', String(sequence))
  return view
}

const publishedView = ({ current }: ApiDeps, min_sequence: number | undefined): Promise<View | undefined> =>
  min_sequence === undefined || min_sequence === 0 ? current.latest() : current.atLeast(min_sequence, MIN_SEQUENCE_WAIT_MS)

async function freshView(deps: ApiDeps, reply: AnyReply): Promise<View | undefined> {
  const { view, is_fresh } = await readFreshFor(deps)
  void reply.header(FRESH_HEADER, String(is_fresh))
  return view
}

/** For whoever changes something by what he sees, too. */
export const readFreshFor = (deps: ApiDeps): Promise<FreshView> => readFresh({ ...deps, poke: () => deps.poke('now') })

const notThere = (sequence: number): RefusedError =>
  new RefusedError(problem('not-ready', `Revision ${sequence} is not to be seen here yet. Ask again in a moment.`))

/** A command is planned on the newest revision. What is refused there may rest on what is not published yet: then it is
 *  planned once more, on a view that has everything acknowledged. */
export async function planned<Plan extends object>(
  deps: ApiDeps,
  plan: (view: View | undefined) => Promise<Plan | Problem>,
): Promise<Plan | Problem> {
  const latest = await deps.current.latest()
  const first = await plan(latest)
  if (!isProblem(first)) return first
  const { view, is_fresh } = await readFreshFor(deps)
  const last = view === undefined || isSame(view, latest) ? first : await plan(view)
  return isProblem(last) && !is_fresh ? refusedUnlessBehind(last) : last
}

/** A preview has the sequence of the revision that it lies over, and more rows. */
const isSame = (view: View, latest: View | undefined): boolean =>
  view.sequence === latest?.sequence && view.snapshot.unpublished === undefined
