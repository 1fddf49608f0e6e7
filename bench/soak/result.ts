// The file that a soak leaves: a sample a line, and its summary as the last one.

import { type Sample, sampleSchema } from './sample.js'
import type { SoakSummary } from './summary.js'

export type Soak = { readonly samples: readonly Sample[]; readonly summary: SoakSummary }

export function readSoak(text: string): Soak {
  const lines = text.trim().split('\n')
  const summary = JSON.parse(lines.pop() ?? 'null') as SoakSummary | null
  if (summary?.suite !== 'soak') throw new Error('The last line is no summary of a soak: it was ended before its end.')
  return { samples: lines.map((line) => sampleSchema.parse(JSON.parse(line))), summary }
}
