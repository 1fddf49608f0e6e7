// Whether the workspace's fold knows what is about to be said. What an older one does not know, it quarantines for good:
// until a turn of this version has published, nothing of it is appended.

import type { Draft } from '../events/draft.js'
import { foldedSince } from '../events/event.js'
import type { View } from '../readers/reader.js'
import { type Problem, problem } from './problem.js'

export function unfoldable(view: Pick<View, 'snapshot'> | undefined, drafts: readonly Draft[]): Problem | undefined {
  // A workspace without a pointer may get its first turn from any version.
  const fold_version = view?.snapshot.revision.fold_version ?? 1
  const unknown = drafts.find(({ event_type, event_version }) => foldedSince(event_type, event_version) > fold_version)
  if (unknown === undefined) return undefined
  const since = foldedSince(unknown.event_type, unknown.event_version)
  const stands = view === undefined ? 'no turn of this workspace has published yet' : `the workspace is at fold version ${fold_version}`
  return problem(
    'not-ready',
    `Nothing was appended: ${unknown.event_type} needs fold version ${since}, and ${stands}. ` +
      'Start `servo automation` of this version and stop older ones; then send the same again.',
    { members: { fold_version, needed: since } },
  )
}
