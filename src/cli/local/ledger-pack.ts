// `servo ledger pack`: puts old segments into packs, as the maintenance loop does by the clock.

import type { Command } from 'commander'
import { type PackAnswer, packSegments } from '../../compactor/packs/pack.js'
import { FAILED } from '../exit-code.js'
import { type StoreOptions, withDeps, withStore } from './options.js'
import { counted, printJson, printLine } from './print.js'

type PackOptions = StoreOptions & { readonly dryRun?: boolean }

export function addPackCommand(group: Command): void {
  withStore(group.command('pack'))
    .description('put segments past the listing window into packs, a page of 1,000 revisions at a time, and the revisions into a volume')
    .option('--dry-run', 'say what would be packed, and change nothing')
    .action((options: PackOptions) => pack(options))
}

const pack = (options: PackOptions): Promise<void> =>
  withDeps(options, options.dryRun === true ? 'read' : 'write', async (deps) => {
    const is_dry = options.dryRun === true
    const answer = await packSegments(deps, { whole: true, is_dry })
    if (answer.left.length > 0) process.exitCode = FAILED
    if (options.json === true) return printJson(answer)
    for (const sentence of answer.left) printLine(`left: ${sentence}`)
    printLine(is_dry ? describePlan(answer) : describeWork(answer))
  })

function describePlan({ page_count, segment_count }: PackAnswer): string {
  if (page_count === 0) return 'Nothing to pack: no page of 1,000 revisions is past the listing window and unpacked.'
  return `${counted(segment_count, 'segment')} of ${counted(page_count, 'page')} would be packed.`
}

function describeWork(answer: PackAnswer): string {
  const { page_count, segment_count, pack_count, pack_bytes, deleted_count, bound_count, revisions_deleted_count } = answer
  const sentences: string[] = []
  const removed = `removed ${counted(deleted_count, 'single segment')}`
  if (page_count > 0) {
    const packs = `${counted(pack_count, 'pack')} of ${pack_bytes} bytes`
    sentences.push(`Packed ${counted(segment_count, 'segment')} of ${counted(page_count, 'page')} into ${packs}, and ${removed}.`)
  } else if (deleted_count > 0) sentences.push(`Went on with what was packed before: ${removed}.`)
  const unbound = `removed ${counted(revisions_deleted_count, 'single revision')}`
  if (bound_count > 0) sentences.push(`Bound the revisions of ${counted(bound_count, 'page')}, and ${unbound}.`)
  else if (revisions_deleted_count > 0) sentences.push(`Went on with what was bound before: ${unbound}.`)
  if (sentences.length > 0) return sentences.join(' ')
  return 'Nothing to pack: no page of 1,000 revisions is past the listing window and unpacked.'
}
