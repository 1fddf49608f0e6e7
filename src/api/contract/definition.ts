// The bodies of requests that define any noun, and their answers: what is its own comes from its fields.

import { z } from 'zod'
import { askedShape, type Fields, patchShape } from '../../events/fields.js'
import { id, longCount } from '../../events/value.js'
import { outcome } from './outcome.js'
import { commanded } from './page.js'

type Described = {
  /** In names of schemas, such as "Schedule". */
  readonly label: string
  /** In sentences, such as "schedule"; the parameter in paths, too. */
  readonly word: string
  readonly id_member: string
  readonly name_member: string
  readonly fields: Fields
}

/** What every body of a command has, whatever it defines. */
export type CommandedBody = {
  readonly requested_by?: string | undefined
  readonly reason?: string | undefined
  readonly client_request_id?: string | undefined
  readonly expected_definition_version?: number | undefined
}

const newName = id('name').meta({ description: 'Unique in the workspace. It may be changed; the id never is.' })
const expected = {
  expected_definition_version: longCount
    .optional()
    .meta({ description: 'The version that the change was made for: 409 where it is another by now.' }),
}

export type DefinitionBodies = ReturnType<typeof definitionBodies>

export function definitionBodies({ label, word, id_member, name_member, fields }: Described) {
  const whole = askedShape(fields)
  const oldName = id('name')
    .optional()
    .meta({ description: `The name that it had: it stays the same ${word}, with its history.` })
  const removable = Object.entries(fields).flatMap(([name, { is_optional }]) => (is_optional ? [name] : []))
  return {
    /** As a deploy has it: with its location, and renamed by what it was called before. */
    deployed: z.strictObject({ [name_member]: newName, renamed_from: oldName, ...whole }).meta({ id: `${label}Deployed` }),
    create: z.strictObject({ [name_member]: newName, ...whole, ...commanded }).meta({ id: `${label}Asked` }),
    replace: z.strictObject({ [name_member]: newName.optional(), ...whole, ...expected, ...commanded }).meta({
      id: `${label}Put`,
      description: 'The whole definition: what is left out gets its default. The name stays where it is left out.',
    }),
    patch: z.strictObject({ [name_member]: newName.optional(), ...patchShape(fields), ...expected, ...commanded }).meta({
      id: `${label}Patch`,
      description: `What is left out stays; null takes ${removable.slice(0, -1).join(', ')} or ${removable.at(-1)} away.`,
    }),
    remove: z
      .strictObject(commanded)
      .default({})
      .meta({ id: `${label}Removed` }),
    status: z
      .strictObject({
        expected_state_version: longCount.optional().meta({ description: `409 where the ${word} has moved on since.` }),
        ...commanded,
      })
      .default({})
      .meta({ id: `${label}StatusAsked` }),
    params: z.object({
      [word]: id('name').meta({ description: `The id of the ${word}, or its name. An id wins over a name that looks like it.` }),
    }),
    accepted: acceptedShape(id_member, name_member).meta({ id: `${label}Accepted` }),
  }
}

const acceptedShape = (id_member: string, name_member: string) =>
  z.object({
    [id_member]: z.string(),
    [name_member]: z.string(),
    accepted_event_id: z.string().nullable().meta({ description: 'null: nothing changes, and nothing was appended.' }),
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: 'What may mean something else than it seems to. It is taken all the same.' }),
    outcome: outcome.optional(),
  })

/** What a command on any noun answers. */
export type DefinitionAccepted<IdMember extends string, NameMember extends string> = Readonly<Record<IdMember | NameMember, string>> & {
  readonly accepted_event_id: string | null
  readonly warnings?: readonly string[]
  readonly outcome?: z.output<typeof outcome>
}
