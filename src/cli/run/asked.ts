// From what is typed after `servo run start` to the body of the request. Pure.

import { UsageError } from '../exit-code.js'
import type { RunAsked } from '../answers.js'
import { tagsOf } from '../arguments.js'

export type StartOptions = {
  readonly partition?: readonly string[]
  readonly partitions?: string
  readonly allPartitions?: boolean
  readonly tag?: readonly string[]
  readonly runKey?: string
  readonly priority?: number
  readonly reason?: string
}

export function runAskedOf(selection: readonly string[], options: StartOptions): RunAsked {
  const partitions = partitionsOf(options)
  const { tag, runKey, priority, reason } = options
  return {
    selection: [...selection],
    ...(partitions === undefined ? {} : { partitions }),
    ...(tag === undefined ? {} : { tags: { ...tagsOf(tag) } }),
    ...(runKey === undefined ? {} : { run_key: runKey }),
    ...(priority === undefined ? {} : { priority }),
    ...(reason === undefined ? {} : { reason }),
  }
}

type Partitions = NonNullable<RunAsked['partitions']>

function partitionsOf({ partition, partitions, allPartitions }: StartOptions): Partitions | undefined {
  const said = [partition, partitions, allPartitions].filter((each) => each !== undefined)
  if (said.length > 1)
    throw new UsageError('--partition, --partitions and --all-partitions say the same thing in three ways. Give one of them.')
  if (partition !== undefined) return { keys: [...partition] }
  if (partitions !== undefined) return { range: rangeOf(partitions) }
  return allPartitions === true ? { all: true } : undefined
}

/** Both ends are in it. A key may have dots of its own, so the two dots are those in the middle that leave two ends. */
function rangeOf(text: string): { readonly start: string; readonly end: string } {
  const at = text.indexOf('..')
  const [start, end] = [text.slice(0, at), text.slice(at + 2)]
  if (at > 0 && end !== '' && !end.includes('..')) return { start, end }
  throw new UsageError(`--partitions is ${JSON.stringify(text)}. Write its first and its last key, such as 2025-01-01..2025-01-31.`)
}
