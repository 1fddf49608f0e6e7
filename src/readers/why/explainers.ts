// Why something does not go on, by the kind of thing: each noun that people ask this about has its explainer here.

import type { Explainer } from './explanation.js'
import { explainTask } from './task.js'

export const EXPLAINERS = { TASK: explainTask } satisfies Readonly<Record<string, Explainer<never>>>
