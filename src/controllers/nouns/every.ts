// Every noun that has something to decide, by kind, in the order in which they are asked.

import type { Noun } from './noun.js'
import { RUN } from './run.js'
import { SCHEDULE } from './schedule.js'
import { TASK } from './task.js'

export const NOUNS = { SCHEDULE, RUN, TASK } as const satisfies Readonly<Record<string, Noun>>

export type NounKind = keyof typeof NOUNS

export const EVERY_NOUN = Object.entries(NOUNS) as readonly (readonly [NounKind, Noun])[]
