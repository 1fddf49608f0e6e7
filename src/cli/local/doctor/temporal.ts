// Temporal: whether it answers at its address, has the namespace, and there the search attributes.

import { Connection } from '@temporalio/client'
import type { TemporalConfig } from '../../../bin/config.js'
import { messageOf } from '../../../core/errors.js'
import { missingAttributes } from '../temporal-server.js'
import { type Finding, fail, ok, warn } from './finding.js'

const TIMEOUT_MS = 3_000

export async function checkTemporal({ address, namespace, api_key }: TemporalConfig): Promise<readonly Finding[]> {
  let connection: Connection
  try {
    const security = api_key === undefined ? {} : { apiKey: api_key, tls: true as const }
    connection = await Connection.connect({ address, connectTimeout: TIMEOUT_MS, ...security })
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

async function lookInside(connection: Connection, namespace: string): Promise<readonly Finding[]> {
  try {
    await connection.workflowService.describeNamespace({ namespace })
  } catch (error) {
    const found = `it has no namespace ${namespace} for this client: ${firstSentence(messageOf(error))}`
    return [fail('namespace', found, `Make it: temporal operator namespace create ${namespace}; or name another: TEMPORAL_NAMESPACE.`)]
  }
  const there = ok('namespace', `${namespace} is there`)
  try {
    const missing = await missingAttributes(connection, namespace)
    if (missing.length === 0) return [there, ok('search attributes', 'all are there')]
    const mend = `temporal operator search-attribute create --namespace ${namespace} ${missing.map(([name, type]) => `--name ${name} --type ${type}`).join(' ')}`
    return [
      there,
      fail('search attributes', `${missing.map(([name]) => name).join(', ')} missing: loops could not be started`, `Make them: ${mend}`),
    ]
  } catch (error) {
    // Temporal Cloud keeps them elsewhere.
    return [
      there,
      warn(
        'search attributes',
        `it does not tell: ${firstSentence(messageOf(error))}`,
        'Look for them in its UI: docs/temporal.md names them.',
      ),
    ]
  }
}

const firstSentence = (text: string): string => text.split('\n')[0] ?? ''
