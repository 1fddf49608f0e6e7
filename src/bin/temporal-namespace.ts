// What Servo needs of a Temporal namespace: that it is there, and has the search attributes. Looks for both and creates
// what is missing; where Servo may not create it, as on Temporal Cloud, names the commands for an administrator.

import { setTimeout as sleep } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import { type Connection, isGrpcServiceError } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { missing, unavailable } from '../core/errors.js'
import { ALL_SEARCH_ATTRIBUTES, OPTIONAL_SEARCH_ATTRIBUTES, SEARCH_ATTRIBUTES, type SearchAttributeType } from '../core/names.js'
import { DAY_MS, SECOND_MS } from '../core/time.js'
import type { TemporalConfig } from './config.js'

type Attribute = readonly [name: string, type: SearchAttributeType]

export type NamespaceState = {
  readonly is_there: boolean
  /** Search attributes that it lacks: all of them where there is no namespace. */
  readonly missing: readonly Attribute[]
  /** Search attributes that it has with another type, and that type's number. Temporal cannot change it. */
  readonly mistyped: readonly Attribute[]
  /** Search attributes without which loops run as well. */
  readonly optional_missing: readonly Attribute[]
}

export type SetUpAnswer = {
  readonly namespace: 'created' | 'present'
  readonly created: readonly string[]
}

/** Temporal's IndexedValueType, as its operator service answers it. */
const INDEXED_VALUE_TYPES: Readonly<Record<SearchAttributeType, number>> = { Keyword: 2, Datetime: 6 }
const ATTRIBUTES = Object.entries(SEARCH_ATTRIBUTES)
const OPTIONAL = Object.entries(OPTIONAL_SEARCH_ATTRIBUTES)
const ALL = Object.entries(ALL_SEARCH_ATTRIBUTES)

/** How long closed workflows stay in Temporal's UI, as temporal/docker-compose.yml has it. Servo needs none of them. */
const RETENTION_DAYS = 7
/** A cluster tells its hosts of a new namespace within some ten seconds. */
const KNOWN_WITHIN_MS = 60 * SECOND_MS
const LOOK_AGAIN_MS = 250

/** What gRPC answered, under whatever the client wrapped it in. */
export function grpcCode(error: unknown): status | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (isGrpcServiceError(at)) return at.code
  return undefined
}

/** This client may not do it. Temporal Cloud refuses its operator service to everybody. */
function isForbidden(error: unknown): boolean {
  const code = grpcCode(error)
  return code === status.PERMISSION_DENIED || code === status.UNIMPLEMENTED || code === status.UNAUTHENTICATED
}

/** Rejects with Temporal's answer where it does not say. */
export async function lookAtNamespace(connection: Connection, namespace: string): Promise<NamespaceState> {
  try {
    await connection.workflowService.describeNamespace({ namespace })
  } catch (error) {
    if (grpcCode(error) !== status.NOT_FOUND) throw error
    return { is_there: false, missing: ATTRIBUTES, mistyped: [], optional_missing: OPTIONAL }
  }
  const types = await attributeTypes(connection, namespace)
  return {
    is_there: true,
    missing: ATTRIBUTES.filter(([name]) => types(name) === undefined),
    mistyped: ATTRIBUTES.filter(([name, type]) => types(name) !== undefined && types(name) !== INDEXED_VALUE_TYPES[type]),
    optional_missing: OPTIONAL.filter(([name, type]) => types(name) !== INDEXED_VALUE_TYPES[type]),
  }
}

/** undefined: the namespace does not have it. */
type TypeOf = (name: string) => number | undefined

async function attributeTypes(connection: Connection, namespace: string): Promise<TypeOf> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
    return (name) => customAttributes[name]
  } catch (error) {
    if (!isForbidden(error)) throw error
    return probedTypes(connection, namespace)
  }
}

/** A query that names an attribute is refused where the namespace does not have it, or not with this type. */
async function probedTypes(connection: Connection, namespace: string): Promise<TypeOf> {
  const has = async ([name, type]: Attribute): Promise<boolean> => {
    try {
      const query = type === 'Keyword' ? `${name} = "servo"` : `${name} > "2000-01-01T00:00:00Z"`
      await connection.workflowService.countWorkflowExecutions({ namespace, query })
      return true
    } catch (error) {
      if (grpcCode(error) === status.INVALID_ARGUMENT) return false
      throw error
    }
  }
  const found = new Map<string, number>()
  for (const attribute of ALL) if (await has(attribute)) found.set(attribute[0], INDEXED_VALUE_TYPES[attribute[1]])
  return (name) => found.get(name)
}

/** What is still missing may not be created by this client: the message says who can, and how. */
export class SetUpRefusedError extends Error {
  readonly commands: readonly string[]
  constructor(message: string, commands: readonly string[], cause: unknown) {
    super(message, { cause })
    this.name = 'SetUpRefusedError'
    this.commands = commands
  }
}

/** Creates what is missing and waits until the server knows it. What is there already is left as it is. */
export async function setUpNamespace(connection: Connection, config: TemporalConfig): Promise<SetUpAnswer> {
  const { namespace } = config
  const before = await lookAtNamespace(connection, namespace)
  try {
    if (!before.is_there) await createNamespace(connection, namespace)
    const created = lacking(before.is_there ? before : await untilKnown(connection, namespace))
    if (created.length > 0) await createAttributes(connection, namespace, created)
    const { mistyped } = await untilComplete(connection, namespace)
    if (mistyped.length > 0) throw missing(mistypedText(namespace, mistyped))
    return { namespace: before.is_there ? 'present' : 'created', created: created.map(([name]) => name) }
  } catch (error) {
    if (!isForbidden(error)) throw error
    const commands = setUpCommands(config, before)
    throw new SetUpRefusedError(`Temporal at ${config.address} does not let this client create what is missing.`, commands, error)
  }
}

async function createNamespace(connection: Connection, namespace: string): Promise<void> {
  try {
    const workflowExecutionRetentionPeriod = msToTs(RETENTION_DAYS * DAY_MS)
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod })
  } catch (error) {
    if (grpcCode(error) !== status.ALREADY_EXISTS) throw error
  }
}

async function createAttributes(connection: Connection, namespace: string, attributes: readonly Attribute[]): Promise<void> {
  const searchAttributes = Object.fromEntries(attributes.map(([name, type]) => [name, INDEXED_VALUE_TYPES[type]]))
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes })
  } catch (error) {
    if (grpcCode(error) !== status.ALREADY_EXISTS) throw error
  }
}

const lacking = ({ missing, optional_missing }: NamespaceState): readonly Attribute[] => [...missing, ...optional_missing]

const untilKnown = (connection: Connection, namespace: string) => untilNamespace(connection, namespace, ({ is_there }) => is_there)
const untilComplete = (connection: Connection, namespace: string) =>
  untilNamespace(connection, namespace, (state) => state.is_there && lacking(state).length === 0)

async function untilNamespace(
  connection: Connection,
  namespace: string,
  isFit: (state: NamespaceState) => boolean,
): Promise<NamespaceState> {
  const began = performance.now()
  for (;;) {
    // Hosts that have not heard of the namespace answer that it is not there.
    const state = await lookAtNamespace(connection, namespace).catch((error: unknown) => {
      if (grpcCode(error) === status.NOT_FOUND) return undefined
      throw error
    })
    if (state !== undefined && isFit(state)) return state
    if (performance.now() - began > KNOWN_WITHIN_MS) {
      throw unavailable(
        `Temporal took the namespace ${namespace} with its search attributes and did not show them within ${KNOWN_WITHIN_MS / SECOND_MS} s. ` +
          'Run the command again: it goes on where this one stopped.',
      )
    }
    await sleep(LOOK_AGAIN_MS)
  }
}

const mistypedText = (namespace: string, mistyped: readonly Attribute[]): string =>
  `The namespace ${namespace} has search attributes of another type than Servo needs: ` +
  `${mistyped.map(([name, type]) => `${name} has to be of type ${type}`).join(', ')}. ` +
  'Temporal cannot change a type: remove the attribute there and run this again, or take another namespace.'

const isCloud = (address: string): boolean => /\.(tmprl\.cloud|api\.temporal\.io):\d+$/.test(address)

/** For whoever may create what is missing, ready to paste. */
export function setUpCommands({ address, namespace }: TemporalConfig, state: NamespaceState): readonly string[] {
  const attributes = lacking(state)
  if (isCloud(address)) {
    const named = attributes.map(([name, type]) => ` --search-attribute ${name}=${type}`).join('')
    return [
      ...(state.is_there ? [] : [`tcld namespace create --namespace ${namespace.split('.')[0]} --region REGION --auth-method api_key`]),
      ...(attributes.length === 0 ? [] : [`tcld namespace search-attributes add --namespace ${namespace}${named}`]),
    ]
  }
  const place = `--address ${address} --namespace ${namespace}`
  const named = attributes.map(([name, type]) => ` --name ${name} --type ${type}`).join('')
  return [
    ...(state.is_there ? [] : [`temporal operator namespace create ${place} --retention ${RETENTION_DAYS}d`]),
    ...(attributes.length === 0 ? [] : [`temporal operator search-attribute create ${place}${named}`]),
  ]
}
