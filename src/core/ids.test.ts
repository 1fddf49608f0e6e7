import { describe, expect, test } from '@jest/globals'
import { ID_RULES, type IdKind, idFault } from './ids.js'

const LONG = 'x'.repeat(300)

const CASES: { readonly [Kind in IdKind]: { readonly good: readonly string[]; readonly bad: readonly string[] } } = {
  tenant: { good: ['default', '0', 'a-b', LONG.slice(0, 63)], bad: ['', '-a', 'A', 'a_b', 'a.b', LONG.slice(0, 64), 'a\n'] },
  workspace: { good: ['prod'], bad: ['Prod'] },
  asset_key: { good: ['analytics.daily_summary', 'A', LONG.slice(0, 200)], bad: ['', '.a', 'a/b', 'a#0', LONG.slice(0, 201), 'ä'] },
  task_key: { good: ['a.b', 'a.b#0', 'a#9999'], bad: ['', '#0', 'a#', 'a#01', 'a#b', 'a#1#2'] },
  name: { good: ['daily-etl', LONG.slice(0, 100)], bad: ['_a', 'a b', LONG.slice(0, 101)] },
  partition_key: {
    good: ['2025-01-15', 'date=2025-01-15|region=us', 'a, b', LONG.slice(0, 256), 'é'.repeat(128)],
    bad: ['', '...', 'a\tb', 'a\u0085', LONG.slice(0, 257), 'é'.repeat(129), 'e\u0301', '\ud800'],
  },
  dimension_key: { good: ['2025-01-15', 'us east'], bad: ['a|b', 'a,b', '[a', 'a]', 'a=b', '...'] },
  request_key: { good: ['r-1', 'user:1/x', LONG.slice(0, 128)], bad: ['', 'a b', 'é', LONG.slice(0, 129)] },
  pool_key: {
    good: ['global', 'pool:warehouse', 'location:etl', 'tag:team', 'tag:team=core', 'tag:a b=c=d'],
    bad: ['warehouse', 'pool:', 'tag:', 'tag:team=', 'tag:=core', 'tag:a\u0000', 'pool:a b', 'globally'],
  },
  ulid: {
    good: ['01JHMPFN9C4W8R2T6Y0B3D5F7H', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'],
    bad: ['8ZZZZZZZZZZZZZZZZZZZZZZZZZ', '01jhmpfn9c4w8r2t6y0b3d5f7h', 'U'.repeat(26)],
  },
  sha256: { good: ['0f'.repeat(32)], bad: ['0F'.repeat(32), '0f'.repeat(31)] },
  text: { good: ['run_ywyvhmgqjsi3naar7smdnlfsve', 'größe'], bad: ['', 'a\u0000b', 'ä\n'] },
}

describe.each(Object.entries(CASES))('%s', (kind, { good, bad }) => {
  test('accepts what DATA allows', () => {
    for (const text of good) expect(idFault(kind as IdKind, text, 'field')).toBeUndefined()
  })

  test('says what is wrong with anything else', () => {
    for (const text of bad) expect(idFault(kind as IdKind, text, 'payload.field')).toContain(`Give it ${ID_RULES[kind as IdKind].rule}.`)
  })
})

test('a fault names the field and shows the text, cut where it is long', () => {
  expect(idFault('name', 'a b', 'location_name')).toMatch(/^location_name is "a b"\. Give it 1 to 100 letters/)
  expect(idFault('tenant', LONG, 'tenant_id')).toContain(`"${'x'.repeat(80)}…"`)
})
