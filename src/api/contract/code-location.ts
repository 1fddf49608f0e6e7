// Code locations, and deploys of them: a location is deployed whole.

import { z } from 'zod'
import { LOCATION_PREFETCH_MAX } from '../../core/limits.js'
import { assetDefinition } from '../../events/asset.js'
import { partitionsAsked } from '../../events/partitions.js'
import { count, dependency, id, instant, integer, longCount } from '../../events/value.js'
import { outcome } from './outcome.js'
import { commanded, flag, nextCursor, pageQuery, shortText, waitMs } from './page.js'
import { SCHEDULE_BODIES } from './schedule.js'

export const locationParams = z.object({ location_name: id('name') })
export const locationListQuery = z.strictObject(pageQuery)

export const codeLocation = z
  .object({
    location_name: z.string(),
    location_version: longCount,
    content_sha256: z.string(),
    worker_url: z.string(),
    worker_queue: z.string(),
    slots: count,
    prefetch: count.nullable().meta({ description: 'Attempts that its workers keep until a slot is free; null: none.' }),
    code_version: z.string().nullable(),
    sdk: z.string().nullable(),
    asset_count: count,
    schedule_count: count,
    deployed_by: z.string().nullable(),
    deployed_at: instant,
  })
  .meta({ id: 'CodeLocation' })
export const locationPage = z.object({ code_locations: z.array(codeLocation), next_cursor: nextCursor }).meta({ id: 'CodeLocationPage' })

// Events keep members that they do not know. Here one is a mistake of spelling, which would change what a definition does.
const { retry } = assetDefinition.shape
const definitionAsked = z
  .strictObject({
    ...assetDefinition.shape,
    deps: z.array(dependency.strict()),
    partitions: partitionsAsked.exactOptional(),
    retry: retry.unwrap().strict().exactOptional(),
  })
  .meta({ id: 'AssetDefinitionAsked' })

export const deployAsked = z
  .strictObject({
    worker_url: z.url({ protocol: /^https?$/, error: 'the URL of a worker, such as http://127.0.0.1:4100' }),
    worker_queue: id('name').optional(),
    slots: count.optional().meta({ description: 'How many attempts run there at once.' }),
    prefetch: integer(0, LOCATION_PREFETCH_MAX).optional().meta({
      description:
        'How many attempts more its workers keep until a slot is free, as `GET /healthz` of a worker says; 0 where it is left out.',
    }),
    code_version: shortText.optional(),
    sdk: shortText.optional(),
    assets: z.array(definitionAsked),
    schedules: z.array(SCHEDULE_BODIES.deployed).optional(),
    expected_location_version: longCount.optional().meta({ description: 'What the deployer has seen; 0: the location is new.' }),
    keep_missing: z
      .boolean()
      .optional()
      .meta({ description: 'true: nothing is removed. What the location has and this deploy does not contain stays as it is.' }),
    ...commanded,
  })
  .meta({ id: 'DeployAsked' })

export const deployQuery = z.strictObject({
  dry_run: flag.default(false).meta({ description: 'true: the difference alone, and nothing is deployed.' }),
  wait: flag.default(true),
  wait_ms: waitMs.optional(),
})

const keyChanges = z
  .object({
    materialized_ended: count.meta({
      description: 'Materialized keys that are none of the new definition. They do not count any more, and their rows stay as history.',
    }),
    materialized_begun: count.meta({ description: 'Materialized keys of history that count again.' }),
    begun: longCount
      .nullable()
      .meta({ description: 'Keys that exist by the new definition and not by the old one; null: too many to compare.' }),
    is_complete: z.boolean().meta({ description: 'false: there are more rows than are read for this, and more keys may end.' }),
  })
  .meta({ id: 'KeyChanges' })
const memberChange = z.object({ member: z.string(), from: z.unknown(), to: z.unknown() }).meta({ id: 'MemberChange' })
const named = <NameMember extends string>(name_member: NameMember) => ({ [name_member]: z.string() }) as Record<NameMember, z.ZodString>

/** Of one noun; `name_member` is what its name is called. */
const definitionDiff = <NameMember extends string>(name_member: NameMember) =>
  z
    .object({
      added: z.array(z.string()),
      changed: z.array(z.object({ ...named(name_member), members: z.array(memberChange) })),
      removed: z.array(z.string()),
      unchanged_count: count,
    })
    .optional()

export const deployAnswer = z
  .object({
    dry_run: z.boolean(),
    diff: z.object({
      added: z.array(z.string()),
      changed: z.array(
        z.object({
          asset_key: z.string(),
          members: z.array(memberChange),
          partition_keys: keyChanges.optional().meta({ description: 'In a dry run, of an asset whose partitions change.' }),
        }),
      ),
      removed: z.array(z.string()),
      unchanged_count: count,
      location: z.array(memberChange),
      schedules: definitionDiff('schedule_name'),
      kept: z
        .object({ assets: z.array(z.string()), schedules: z.array(z.string()) })
        .optional()
        .meta({ description: 'With keep_missing: what this deploy does not contain.' }),
    }),
    location_version: longCount.meta({ description: 'The version that stands: the new one once the deploy is applied.' }),
    accepted_event_id: z.string().optional().meta({ description: 'Absent where nothing was to be changed.' }),
    outcome: outcome.optional(),
  })
  .meta({ id: 'DeployAnswer' })
