// From what is typed after `servo run start` to the body of the request. Pure.

import type { RunAsked } from '../answers.js'
import { tagsOf } from '../arguments.js'
import { UsageError } from '../exit-code.js'
import { keyRangeOf } from '../key-range.js'

export type StartOptions = {
  readonly partition?: readonly string[]
  readonly partitions?: string
  readonly allPartitions?: boolean
  readonly tag?: readonly string[]
  readonly runKey?: string
  readonly priority?: number
}

export function runAskedOf(selection: readonly string[], options: StartOptions): RunAsked {
  const partitions = partitionsOf(options)
  const { tag, runKey, priority } = options
  return {
    selection: [...selection],
    ...(partitions === undefined ? {} : { partitions }),
    ...(tag === undefined ? {} : { tags: { ...tagsOf(tag) } }),
    ...(runKey === undefined ? {} : { run_key: runKey }),
    ...(priority === undefined ? {} : { priority }),
  }
}

type Partitions = NonNullable<RunAsked['partitions']>

function partitionsOf({ partition, partitions, allPartitions }: StartOptions): Partitions | undefined {
  const said = [partition, partitions, allPartitions].filter((each) => each !== undefined)
  if (said.length > 1)
    throw new UsageError('--partition, --partitions and --all-partitions say the same thing in three ways. Give one of them.')
  if (partition !== undefined) return { keys: [...partition] }
  if (partitions !== undefined) return { range: keyRangeOf('--partitions', partitions) }
  return allPartitions === true ? { all: true } : undefined
}
