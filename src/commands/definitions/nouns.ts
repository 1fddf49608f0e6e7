// Every noun that a deploy defines beside its assets.

import { SCHEDULE_NOUN } from '../schedule/noun.js'
import type { Noun } from './noun.js'

export const DEPLOYED_NOUNS: readonly Noun[] = [SCHEDULE_NOUN]
