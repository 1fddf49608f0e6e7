// Keeps the worker of a module running. A second process in standby loads new code while the first one serves. When the code is
// loaded, the first process drains, and the second one listens in its place. Code that cannot be loaded, or whose deploy would be
// refused, replaces nothing (ADR 0083).

import { setTimeout as sleep } from 'node:timers/promises'
import type { DeploySource } from '../deploy-source.js'
import { readToSupervisor, type ToWorker } from '../standby.js'
import { type Child, lastWords, type Program, startChild } from './child.js'
import { createBackOff, type Keeping, STOP_GRACE_MS } from './supervisor.js'

/** Why a worker has begun to serve: the first load, a change of the code, or the end of the worker before it. */
export type Cause = 'start' | 'change' | 'crash'

export type KeptWorker = {
  /** Loads the code again, because it has changed. A call during a load ends that load. */
  readonly renew: () => void
  /** Resolves when the first load has succeeded or failed; false: no worker serves. */
  readonly settled: Promise<boolean>
  /** SIGTERM, and what is left after the grace SIGKILL. Resolves when all of it has ended. */
  readonly stop: () => Promise<void>
}

type WorkerKeeping = Keeping & {
  /** As far as it is known before the first load. */
  readonly location_name: string
  /** The secret of a worker is that of its location, and a process gets it at its start. */
  readonly environmentOf: (location_name: string) => Program['environment']
  /** The path as it was typed. */
  readonly module: string
  /** Why newer code must not take the place of the older; undefined: it may. It is not asked about the first load. */
  readonly refusalOf: (source: DeploySource) => Promise<string | undefined>
  readonly onServing: (source: DeploySource, cause: Cause) => void
  readonly slow_after_ms?: number
}

/** The name of the second process in `processes` of the data folder; the one that serves has the name of its program. */
const NEXT = 'worker-next'
const SLOW_AFTER_MS = 10_000
/** A drain that takes less than this needs no line. */
const SAID_AFTER_MS = 1_000
/** Of the reason for a failed load; the log has all of it. */
const PROBLEM_LINES_MAX = 12
const PROBLEM_CHARACTERS_MAX = 2_000

type LoadedCode = { readonly child: Child; readonly source: DeploySource }

export function keepWorker(program: Omit<Program, 'environment'>, keeping: WorkerKeeping): KeptWorker {
  const { say, records, module, refusalOf, onServing, stop_grace_ms = STOP_GRACE_MS, slow_after_ms = SLOW_AFTER_MS } = keeping
  const stopping = new AbortController()
  const { signal } = stopping
  const backOff = createBackOff()
  const alive = new Set<Child>()
  let serving: { readonly child: Child; readonly since: number } | undefined
  let loading: Child | undefined
  let { location_name } = keeping
  let cause: Cause | undefined = 'start'
  let wake = new AbortController()
  let said = ''
  let settle: (isServing: boolean) => void = () => undefined
  const settled = new Promise<boolean>((resolve) => {
    settle = resolve
  })
  const over = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      if (cause === undefined) await untilWoken()
      else await loadAndSwitch(cause)
    }
    settle(false)
  }

  async function untilWoken(wait_ms = 2 ** 31 - 1): Promise<void> {
    wake = new AbortController()
    await sleep(wait_ms, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => undefined)
  }

  async function loadAndSwitch(why: Cause): Promise<void> {
    cause = undefined
    const loaded = await load(why)
    const isServing = loaded !== undefined && (await switchTo(loaded, why))
    if (!isServing) records.remove(NEXT)
    // A newer change is loaded next.
    if (signal.aborted || cause !== undefined) return
    if (isServing || serving !== undefined) return settle(true)
    settle(false)
    // No worker serves. The cause may pass by itself, such as a database that is starting, so the load is retried.
    await untilWoken(backOff.next(0))
    cause ??= why
  }

  async function load(why: Cause): Promise<LoadedCode | undefined> {
    const child = startNext()
    loading = child
    const slow = setTimeout(() => say(slowSentence()), slow_after_ms)
    let told = ''
    const source = await new Promise<DeploySource | undefined>((resolve) => {
      child.onMessage((message) => {
        const read = readToSupervisor(message)
        if (read?.servo === 'loaded') resolve(read.source)
        if (read?.servo === 'failed') told = read.problem
      })
      void child.ended.then(() => resolve(undefined))
    })
    clearTimeout(slow)
    // A newer change kills the process, which ends the wait.
    const gone = child.ended.then(() => undefined)
    const refusal = source === undefined || why === 'start' ? undefined : await Promise.race([refusalOf(source), gone])
    loading = undefined
    // Killed for a newer change or by the shutdown, it says nothing of its code.
    const isOutdated = cause !== undefined || signal.aborted
    const isOther = source !== undefined && source.location_name !== location_name
    const isRefused = refusal !== undefined
    if (source !== undefined && !isRefused && !isOther && !isOutdated) return { child, source }
    child.kill()
    const how = await child.ended
    if (isRefused) {
      if (!isOutdated) report(refusal)
      return undefined
    }
    if (source !== undefined && isOther) {
      location_name = source.location_name
      // With the secret of that location.
      return isOutdated ? undefined : load(why)
    }
    if (!isOutdated) report(told.replace(/^servo: /, '') || `${module} could not be loaded: its worker ended (${how}).\n${wordsOf(child)}`)
    return undefined
  }

  function startNext(): Child {
    const environment = keeping.environmentOf(location_name)
    const child = startChild({ ...program, environment }, { records, record: NEXT, channel: true })
    alive.add(child)
    void child.ended.then(() => alive.delete(child))
    return child
  }

  const wordsOf = (child: Child): string => child.lastLines(PROBLEM_LINES_MAX).join('\n')

  function report(found: string): void {
    const text = found.trim().slice(0, PROBLEM_CHARACTERS_MAX)
    const words = `${text}\n${serving === undefined ? NOTHING_SERVES : OLDER_SERVES}`
    // A retry that fails for the same reason is reported once.
    if (words !== said) say(words)
    said = words
    tell(serving?.child, { servo: 'code_problem', problem: text })
  }

  /** Answers whether the new worker serves. */
  async function switchTo({ child, source }: LoadedCode, why: Cause): Promise<boolean> {
    const before = serving?.child
    serving = undefined
    await ended(before)
    records.remove(program.name)
    if (signal.aborted) return false
    const isListening = new Promise<boolean>((resolve) => {
      child.onMessage((message) => {
        if (readToSupervisor(message)?.servo === 'listening') resolve(true)
      })
      void child.ended.then(() => resolve(false))
    })
    tell(child, { servo: 'listen' })
    if (!(await isListening)) {
      if (!signal.aborted) say(`${program.name} ended (${await child.ended}) before it served. ${lastWords(child, program.log_file)}`)
      return false
    }
    serving = { child, since: performance.now() }
    said = ''
    records.add(program.name, child.pid)
    records.remove(NEXT)
    void child.ended.then((how) => onEnd(child, how))
    onServing(source, why)
    return true
  }

  async function ended(before: Child | undefined): Promise<void> {
    if (before === undefined) return
    const late = setTimeout(
      () => say(`${module} has changed and is loaded: the worker switches to it when what runs in it has ended.`),
      SAID_AFTER_MS,
    )
    before.end(stop_grace_ms)
    await before.ended
    clearTimeout(late)
  }

  function onEnd(child: Child, how: string): void {
    if (serving?.child !== child || signal.aborted) return
    say(`${program.name} ended (${how}) and is started again. ${lastWords(child, program.log_file)}`)
    records.remove(program.name)
    const ran_ms = performance.now() - serving.since
    serving = undefined
    // The code that is being loaded replaces it.
    if (loading !== undefined) return
    void sleep(backOff.next(ran_ms), undefined, { signal }).then(
      () => {
        cause ??= 'crash'
        wake.abort()
      },
      () => undefined,
    )
  }

  const tell = (child: Child | undefined, message: ToWorker): void => child?.send(message)

  const slowSentence = (): string =>
    `${module} is still loading after ${slow_after_ms / 1_000} s: what it does or awaits outside of functions takes that long.${serving === undefined ? '' : ' The worker serves the code from before meanwhile.'}`

  return {
    settled,
    renew() {
      cause = 'change'
      backOff.reset()
      loading?.kill()
      wake.abort()
    },
    async stop() {
      stopping.abort()
      for (const child of alive) child === loading ? child.kill() : child.end(stop_grace_ms)
      await over
      await Promise.all([...alive].map(({ ended }) => ended))
      for (const name of [program.name, NEXT]) records.remove(name)
    },
  }
}

const OLDER_SERVES = 'The worker goes on with the code from before. Save the module, or what it imports, when it is mended.'
const NOTHING_SERVES = 'No worker serves it until it can be loaded, which is tried again and again, and at once when it is saved.'
