// What is answered where the thing that is named is not there: a problem as commands and the API know them.

import { suggestion } from '../core/spelling.js'
import type { View } from './reader.js'

/** A `Problem` of commands without anything else to say. */
export type NotFound = { readonly problem: 'not-found'; readonly detail: string; readonly faults?: never; readonly members?: never }
/** With the view that it was found in. */
export type Found<Thing> = Readonly<Thing> & { readonly view: View }

export const notFound = (detail: string): NotFound => ({ problem: 'not-found', detail })

/** `names`: what it may have been meant for; without one, the command that lists them is named. */
export function missing(word: string, named: string, names: readonly string[] = []): NotFound {
  const meant = suggestion(named, names) || ` \`servo ${word} list\` shows all.`
  return notFound(`There is no ${word} ${named}.${meant} If it was made just now, ask again in a moment, or the API with fresh=true.`)
}
