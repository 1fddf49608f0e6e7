// The queue that attempts go through, where one is configured: whether it is there, and has the limits that were asked for.

import { ConfigError, type Environment, readDispatchConfig } from '../../../bin/config.js'
import { type Finding, fail, ok, warn } from './finding.js'

const CHECK = 'queue'
const PAGE = 'docs/cloud-tasks.md says how it is set up.'

export async function checkQueue(environment: Environment): Promise<readonly Finding[]> {
  try {
    const config = readDispatchConfig(environment)
    if (config.kind === 'direct') return []
    const { lookAtQueue } = await import('../../../bin/cloud-tasks.js')
    const { queue, report, sentences } = await lookAtQueue(config)
    if (report.kind === 'unknown') return [fail(CHECK, report.problem, PAGE)]
    if (sentences.length === 0) return [ok(CHECK, `${queue} is there, and delivers`)]
    return sentences.map((sentence) => warn(CHECK, sentence, PAGE))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [fail(CHECK, error.message, PAGE)]
  }
}
