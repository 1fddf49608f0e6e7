// A worker in standby, as `servo dev` starts it: it loads its module beside the worker that serves, says what it has loaded, and
// listens only when it is told to. This is its end of the channel, and the messages of both.

import { z } from 'zod'
import type { DeploySource } from './deploy-source.js'

/** A user's code may send messages on the same channel: those are ignored. */
const toSupervisor = z.discriminatedUnion('servo', [
  z.object({ servo: z.literal('loaded'), source: z.custom<DeploySource>((value) => typeof value === 'object' && value !== null) }),
  /** The reason, as far as the process knows it; it ends by itself. */
  z.object({ servo: z.literal('failed'), problem: z.string() }),
  z.object({ servo: z.literal('listening') }),
])
const toWorker = z.discriminatedUnion('servo', [
  z.object({ servo: z.literal('listen') }),
  /** null: it serves the newest code again. */
  z.object({ servo: z.literal('code_problem'), problem: z.string().nullable() }),
])
type ToSupervisor = z.output<typeof toSupervisor>
export type ToWorker = z.output<typeof toWorker>

export const readToSupervisor = (message: unknown): ToSupervisor | undefined => toSupervisor.safeParse(message).data

export type Standby = {
  /** Resolves with true when it is told to listen, with false when `servo dev` is gone. */
  readonly untilTold: (source: DeploySource) => Promise<boolean>
  readonly failed: (problem: string) => void
  readonly listening: () => void
  readonly codeProblem: () => string | undefined
}

type Channel = Pick<NodeJS.Process, 'send' | 'on' | 'once' | 'channel'>

/** undefined: this process was started without a channel. */
export function openStandby(channel: Channel = process): Standby | undefined {
  if (channel.send === undefined) return undefined
  let code_problem: string | undefined
  let tell: (isTold: boolean) => void = () => undefined
  const told = new Promise<boolean>((resolve) => {
    tell = resolve
  })
  channel.once('disconnect', () => tell(false))
  channel.on('message', (message: unknown) => {
    const read = toWorker.safeParse(message).data
    if (read?.servo === 'listen') tell(true)
    if (read?.servo === 'code_problem') code_problem = read.problem ?? undefined
  })
  // The channel must not keep a process alive whose module failed, nor hide a top-level await that never ends.
  channel.channel?.unref()
  // `servo dev` may be gone; then its guard ends this process.
  const send = (message: ToSupervisor): void => void channel.send?.(message, undefined, undefined, () => undefined)
  return {
    untilTold(source) {
      channel.channel?.ref()
      send({ servo: 'loaded', source })
      return told
    },
    failed: (problem) => send({ servo: 'failed', problem }),
    listening: () => send({ servo: 'listening' }),
    codeProblem: () => code_problem,
  }
}
