// Guards of verify: what it says of a history that it never holds whole.

import { type Mutant, turn } from './mutant.js'

const SEGMENTS = 'src/compactor/verified/segments.ts'
const LINKS = 'src/compactor/verified/links.ts'
const FILES = 'src/compactor/verify-files.ts'

export const VERIFY_MUTANTS: readonly Mutant[] = [
  {
    name: 'a segment that two pages have folded taken for one',
    edits: [{ file: SEGMENTS, find: '    ...folded.slice(1).map(', replace: '    ...folded.slice(2).map(' }],
    killed_by: turn('verify', 'a segment that another page has folded before'),
  },
  {
    name: 'a segment in the packs of two pages taken for one',
    edits: [{ file: SEGMENTS, find: '    ...packed.slice(1).map(', replace: '    ...packed.slice(2).map(' }],
    killed_by: turn('verify', 'a segment in the packs of two pages'),
  },
  {
    name: 'a segment that nobody folded let lie in a pack',
    edits: [{ file: SEGMENTS, find: 'folded.length > 0 || !isRead(inPack.sequence)', replace: 'folded.length >= 0' }],
    killed_by: turn('verify', 'a segment in a pack that nobody has folded'),
  },
  {
    name: 'a segment that was written again taken for the one that was folded',
    edits: [{ file: SEGMENTS, find: 'if (single.generation !== fold.generation)', replace: 'if (single.generation === "")' }],
    killed_by: turn('verify', 'a single segment that was written again'),
  },
  {
    name: 'a segment of a ledger that cannot be listed taken for lost',
    edits: [{ file: SEGMENTS, find: 'if (!surveyed.is_listed && named', replace: 'if (surveyed.is_listed && named' }],
    killed_by: turn('verify', 'a ledger that cannot be listed, and looks for each segment by itself (packed: true)'),
  },
  {
    name: 'a page of the chain believed whatever it lists',
    edits: [{ file: LINKS, find: '      if (isWhole) return', replace: '      if (isWhole || first > 0) return' }],
    killed_by: turn('verify', 'a page that lists the revisions of another'),
  },
  {
    name: 'a damaged page of the chain not told by the links of its revisions',
    edits: [{ file: LINKS, find: '    if (previous !== null) {', replace: '    if (previous === "") {' }],
    killed_by: turn('verify', 'page 0 of the chain, and goes by the links of its revisions'),
  },
  {
    name: 'what was collected while somebody read taken for damage',
    edits: [{ file: FILES, find: 'gone.filter(isNeeded)', replace: 'gone.filter((name) => isNeeded(name) || name !== "")' }],
    killed_by: turn('long-replay', 'verify misses nothing that was removed because nobody can reach it any more'),
  },
]
