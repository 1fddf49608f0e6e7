// The fields of a definition are one record a noun (src/events/fields.ts). What cannot follow from it, because it has to stay free of
// schemas, is compared with it here: flags of the CLI, checks of the SDK, columns of the table, and the document of an answer.

import { describe, expect, test } from '@jest/globals'
import { Command } from 'commander'
import type { z } from 'zod'
import { schedule as scheduleDocument } from '../../src/api/contract/schedule.js'
import { withDefinition } from '../../src/cli/schedule/definition.js'
import { askedShape, type Fields } from '../../src/events/fields.js'
import { SCHEDULE_FIELDS } from '../../src/events/schedule-definition.js'
import { SCHEDULE_DEFINITIONS } from '../../src/projections/schedule-table.js'
import { lastComplete, schedule } from '../../src/sdk/schedule.js'

type Sample = {
  /** In the SDK's own words, where these are others. */
  readonly sdk?: string
  /** In the CLI's own words; null: the flag is none of the definition. */
  readonly flag?: string
  readonly right: readonly unknown[]
  readonly wrong: readonly unknown[]
}

const SCHEDULE_SAMPLES: Readonly<Record<keyof typeof SCHEDULE_FIELDS, Sample>> = {
  cron_expressions: { sdk: 'cron', flag: 'cron', right: ['0 6 * * *', ['0 6 * * *', '@daily']], wrong: [[], 6, ['']] },
  timezone: { right: ['Europe/Berlin', 'UTC'], wrong: ['', 1] },
  asset_selection: { sdk: 'assets', flag: 'select', right: ['a', ['a', 'group:core']], wrong: [[], '', 7] },
  partition_mapping: { sdk: 'partitions', right: [lastComplete(), lastComplete({ end_offset: -1 })], wrong: ['last', { type: 'FIRST' }] },
  catchup_window_minutes: { right: [1, 1_440], wrong: [0, 1.5, '5'] },
  max_catchup_ticks: { right: [1, 100], wrong: [0, 101] },
  catch_up_on_resume: { right: [true, false], wrong: ['yes', 1] },
  overlap_policy: { right: ['ALLOW', 'SKIP'], wrong: ['skip', ''] },
  tags: { flag: 'tag', right: [{ team: 'core' }, {}], wrong: [['team'], { team: 1 }] },
  priority: { right: [-100, 0, 100], wrong: [101, 0.5] },
  description: { right: ['What it is for.', ''], wrong: [5, ['text']] },
  default_status: { flag: 'paused', right: ['ACTIVE', 'PAUSED'], wrong: ['REMOVED', true] },
}

describe('the fields of a schedule', () => {
  const fields: readonly (readonly [string, Sample])[] = Object.entries(SCHEDULE_SAMPLES)
  const shape = askedShape(SCHEDULE_FIELDS as Fields)

  test.each(fields)('%s is checked by the SDK as the API checks it', (name, { sdk = name, right, wrong }) => {
    const isTaken = (value: unknown): boolean => {
      try {
        schedule({ name: 'nightly', cron: '@daily', assets: 'a', [sdk]: value } as never)
        return true
      } catch {
        return false
      }
    }
    const schema = shape[name] as z.ZodType
    for (const value of right)
      expect({ value, api: schema.safeParse(value).success, sdk: isTaken(value) }).toEqual({ value, api: true, sdk: true })
    for (const value of wrong)
      expect({ value, api: schema.safeParse(value).success, sdk: isTaken(value) }).toEqual({ value, api: false, sdk: false })
  })

  test('have a flag each', () => {
    const flags = withDefinition(new Command())
      .option('--paused')
      .options.map(({ long }) => long)
    const wanted = fields.map(([name, { flag = name.replaceAll('_', '-') }]) => `--${flag}`)
    expect(flags).toEqual(expect.arrayContaining(wanted))
    expect(flags.filter((flag) => !wanted.includes(flag ?? ''))).toEqual(['--no-catch-up-on-resume', '--file'])
  })

  test('have a column and a member of the answer each', () => {
    for (const [name] of fields) {
      expect(Object.keys(SCHEDULE_DEFINITIONS.columns)).toContain(name)
      expect(Object.keys(scheduleDocument.shape)).toContain(name)
    }
  })
})
