// Guards of packing and binding: what is deleted only when it lies in a pack or a volume, and what is read there.

import { type Mutant, turn } from './mutant.js'

const PAGE = 'src/compactor/packs/page.ts'
const SETTLE = 'src/compactor/packs/settle.ts'
const COLLECT = 'src/compactor/packs/collect.ts'
const BIND = 'src/compactor/packs/bind.ts'

const LATE = 'whose index comes so late that its packs may go deletes nothing, though they are still there'

export const PACKS: readonly Mutant[] = [
  {
    name: 'segments packed before the listing window is over',
    edits: [
      { file: PAGE, find: '+ newest.listing_window_ms >= server_time', replace: '>= server_time' },
      { file: PAGE, find: ' + listing_window_ms < server_time', replace: ' < server_time' },
    ],
    killed_by: turn('packs', 'waits until every segment of a page is past the window, and keeps each byte for byte'),
  },
  {
    name: 'singles deleted for packs that nobody looked into',
    edits: [{ file: SETTLE, find: 'const checked = await checkPacks(store, stored, segments)', replace: "const checked: string = 'good'" }],
    killed_by: turn('packs', 'deletes nothing for packs that do not hold it'),
  },
  {
    name: 'an index that came too late taken for a good one',
    edits: [
      {
        file: SETTLE,
        find: ' || stampMs(head.creation_time) - stampMs(pack.head.creation_time) > ORPHAN_AGE_MS) return',
        replace: ' || stampMs(head.creation_time) - stampMs(pack.head.creation_time) < -ORPHAN_AGE_MS) return',
      },
    ],
    killed_by: turn('packs', LATE),
  },
  {
    name: 'a void index left where it is',
    edits: [{ file: SETTLE, find: '  await remove(store, stored.head)\n', replace: '' }],
    killed_by: turn('packs', 'whose index comes after its packs were taken for orphans loses nothing, and is done again'),
  },
  {
    name: 'packs collected that are too young',
    edits: [{ file: COLLECT, find: 'server_time - stampMs(creation_time) > ORPHAN_AGE_MS', replace: 'stampMs(creation_time) > 0' }],
    killed_by: turn('packs', 'that meets another one leaves one index, and packs that go in the end'),
  },
  {
    name: 'packs collected that an index names',
    edits: [{ file: COLLECT, find: '=> !named.has(name))', replace: '=> named.size >= 0 || name !== undefined)' }],
    killed_by: turn('packs', 'that meets another one leaves one index, and packs that go in the end'),
  },
  {
    name: 'a segment that was packed meanwhile taken for lost',
    edits: [
      { file: 'src/ledger/read.ts', find: 'packed?.crc32c === crc32c ? packed.bytes', replace: 'packed?.crc32c === name ? packed.bytes' },
    ],
    killed_by: turn('packs', 'and has listed a segment finds it in a pack, when it is gone by then'),
  },
  {
    name: 'a packing that died never gone on with',
    edits: [
      {
        file: SETTLE,
        find: 'return single === undefined || single.crc32c !== last.crc32c',
        replace: 'return single === undefined || single.crc32c === last.crc32c',
      },
    ],
    killed_by: turn('packs', 'sees the same events in the same order, whatever is packed'),
  },
  {
    name: 'a page that is packed anew while it is read never opened again',
    edits: [{ file: 'src/compactor/packs/recorded.ts', find: '        from = await openPage(page)\n', replace: '' }],
    killed_by: turn('packs', 'since its page was packed anew opens the packs of that page, and each of them once'),
  },
  {
    name: 'every pack opened for a segment that is younger than all of them',
    edits: [{ file: 'src/ledger/packed.ts', find: '    if (stampMs(head.creation_time) < since) continue\n', replace: '' }],
    killed_by: turn('packs', 'that nobody has opens no pack that was made before its name'),
  },
  {
    name: 'the newest packs left out of what is shown',
    edits: [
      {
        file: 'src/readers/tail.ts',
        find: 'if (entries.length + packed.length >= limit) break',
        replace: 'if (entries.length >= 0) break',
      },
    ],
    killed_by: turn('packs', 'sees the same events in the same order, whatever is packed'),
  },
  {
    name: 'single revisions deleted whatever the volume has',
    edits: [{ file: BIND, find: 'if (crc32c === head.crc32c) gone.push(head)', replace: 'if (crc32c !== undefined) gone.push(head)' }],
    killed_by: turn('volumes', 'deletes nothing for a volume that holds another document'),
  },
  {
    name: 'a revision bound that is not the one which the page lists',
    edits: [
      {
        file: BIND,
        find: 'if (document.sequence !== sequence || document.revision !== revision) {',
        replace: 'if (document.revision !== revision) {',
      },
    ],
    killed_by: turn('volumes', 'leaves a page with a revision that is not what the page lists, and deletes nothing of it'),
  },
  {
    name: 'packing that goes on for as long as there is something',
    edits: [
      { file: 'src/compactor/packs/pack.ts', find: 'tally.page_count > 0 && isTimeUp()', replace: 'tally.page_count < 0 && isTimeUp()' },
    ],
    killed_by: turn('volumes', 'begins no further page when its time is up, and goes on with the next look'),
  },
  {
    name: 'binding that goes on for as long as there is something',
    edits: [{ file: 'src/compactor/packs/pack.ts', find: 'boundNow.size > 0 && isTimeUp()', replace: 'boundNow.size < 0 && isTimeUp()' }],
    killed_by: turn('volumes', 'takes pages that were packed long ago one look after the other, as time allows'),
  },
  {
    name: 'a young revision of a bound page taken for one that lost',
    edits: [
      {
        file: BIND,
        find: 'server_time - stampMs(head.creation_time) > ORPHAN_AGE_MS',
        replace: 'server_time >= stampMs(head.creation_time)',
      },
    ],
    killed_by: turn('volumes', 'takes away what lost the race for a number long ago, and nothing that is young'),
  },
  {
    name: 'a revision that was bound meanwhile taken for lost',
    edits: [
      {
        file: 'src/tables/snapshot.ts',
        find: "return single.kind === 'found' ? single.bytes : volumes.find(sequence)",
        replace: "return single.kind === 'found' ? single.bytes : undefined",
      },
    ],
    killed_by: turn('volumes', 'and was told of one finds it in a volume, when it is gone by then'),
  },
  {
    name: 'a workspace whose first revisions are bound taken for a new one',
    edits: [
      {
        file: 'src/compactor/swap.ts',
        find: 'objects.every(({ name }) => name.startsWith(first))',
        replace: "!objects.some(({ name }) => name.includes('/2-'))",
      },
    ],
    killed_by: turn('volumes', 'is no new workspace when its pointer is gone'),
  },
]
