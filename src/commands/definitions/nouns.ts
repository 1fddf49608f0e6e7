// Every noun that a deploy defines beside its assets, by its member in a deploy.

import { SCHEDULE_NOUN } from '../schedule/noun.js'
import type { Noun } from './noun.js'

const NOUNS = { schedules: SCHEDULE_NOUN } satisfies Readonly<Record<string, Noun>>

export type DeployedPlural = keyof typeof NOUNS

export const DEPLOYED_NOUNS = Object.entries(NOUNS) as readonly (readonly [DeployedPlural, Noun])[]
