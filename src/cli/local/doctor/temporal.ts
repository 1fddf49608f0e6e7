// Temporal: whether it answers at its address, has the namespace, and there the search attributes.

import { Connection } from '@temporalio/client'
import type { TemporalConfig } from '../../../bin/config.js'
import { clientOptions } from '../../../bin/temporal.js'
import { lookAtNamespace } from '../../../bin/temporal-namespace.js'
import { messageOf } from '../../../core/errors.js'
import { type Finding, fail, ok, warn } from './finding.js'

const TIMEOUT_MS = 3_000

export async function checkTemporal(config: TemporalConfig): Promise<readonly Finding[]> {
  const { address, namespace } = config
  let connection: Connection
  try {
    connection = await Connection.connect({ ...clientOptions(config), connectTimeout: TIMEOUT_MS })
  } catch (error) {
    const mend =
      'Start it with `servo dev`, or set TEMPORAL_ADDRESS to a server that runs. Commands are accepted meanwhile, and carried out then.'
    return [fail('temporal', `${address} does not answer: ${firstSentence(messageOf(error))}`, mend)]
  }
  try {
    return [
      ok('temporal', `${address} answers`),
      ...(await connection.withDeadline(Date.now() + TIMEOUT_MS, () => lookInside(connection, namespace))),
    ]
  } finally {
    await connection.close()
  }
}

const MEND = 'Create what is missing: servo temporal set-up'

async function lookInside(connection: Connection, namespace: string): Promise<readonly Finding[]> {
  try {
    const { is_there, missing, mistyped, optional_missing } = await lookAtNamespace(connection, namespace)
    if (!is_there) return [fail('namespace', `it has no namespace ${namespace}`, `${MEND}; or name another one: TEMPORAL_NAMESPACE.`)]
    const there = ok('namespace', `${namespace} is there`)
    const lacking = [...missing, ...mistyped].map(([name]) => name)
    if (lacking.length === 0 && optional_missing.length === 0) return [there, ok('search attributes', 'all are there')]
    if (lacking.length === 0) {
      const names = optional_missing.map(([name]) => name).join(', ')
      const found = `${names} missing: everything works, and Temporal's lists show ids without names`
      return [there, warn('search attributes', found, `${MEND}. Then start the automation again.`)]
    }
    return [there, fail('search attributes', `${lacking.join(', ')} missing: loops could not be started`, `${MEND}.`)]
  } catch (error) {
    const found = `it does not let this client look at the namespace ${namespace}: ${firstSentence(messageOf(error))}`
    return [fail('namespace', found, 'See that TEMPORAL_NAMESPACE is right and that TEMPORAL_API_KEY may use it.')]
  }
}

const firstSentence = (text: string): string => text.split('\n')[0] ?? ''
