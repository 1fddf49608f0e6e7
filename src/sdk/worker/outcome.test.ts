import { describe, expect, test } from '@jest/globals'
import { completedRequest } from '../../api/contract/worker.js'
import { utf8Bytes } from '../../core/canonical.js'
import { type CodeEnd, cutMessage, errorOf, outcomeOf, refusedReport } from './outcome.js'

const isError = (error: unknown): boolean => completedRequest.safeParse({ execution_id: ID, sequence: 0, outcome: 'FAILED', error }).success

const ID = '01JHKZ8M2C0000000000000MAT'
const returned = (value: unknown): CodeEnd => ({ kind: 'returned', value })
const threw = (error: unknown): CodeEnd => ({ kind: 'threw', error })
const outcome = (end: CodeEnd, stopped?: Parameters<typeof outcomeOf>[1]) => outcomeOf(end, stopped, () => ID)

class GoneError extends Error {
  readonly code = 'GONE'
  readonly retryable = false
}

describe('an attempt', () => {
  test.each([
    ['that returns nothing succeeded', returned(undefined), { outcome: 'SUCCEEDED', materialization_id: ID }],
    ['that returns metadata', returned({ rows: 3 }), { outcome: 'SUCCEEDED', metadata: { rows: 3 }, materialization_id: ID }],
    [
      'that says why not is skipped, and materialized nothing',
      returned({ skip_reason: 'none' }),
      { outcome: 'SKIPPED', skip_reason: 'none' },
    ],
    ['that was abandoned is given back', { kind: 'abandoned' } as const, { outcome: 'RELEASED', error: { code: 'WORKER_DRAINED' } }],
    ['whose result is no JSON failed for good', returned(3), { outcome: 'FAILED', error: { code: 'BAD_RESULT', retryable: false } }],
    [
      'whose metadata are too large failed for good',
      returned({ text: 'x'.repeat(20_000) }),
      { outcome: 'FAILED', error: { code: 'BAD_RESULT', message: expect.stringContaining('20011 bytes of metadata'), retryable: false } },
    ],
    [
      'that throws failed',
      threw(new GoneError('It is gone.')),
      { outcome: 'FAILED', error: { code: 'GONE', message: 'It is gone.', retryable: false } },
    ],
  ])('%s', (_, end, expected) => {
    expect(outcome(end)).toMatchObject(expected)
  })

  test.each([
    [30, 30],
    [0.5, 0.5],
    [0, 0],
    [1e300, 316_224_000],
    [-1, undefined],
    [Number.NaN, undefined],
    ['30', undefined],
    [undefined, undefined],
  ])('whose error says retry_after_seconds %p waits %p', (said, retry_after_seconds) => {
    const busy = Object.assign(new Error('It is busy.'), { retry_after_seconds: said })
    expect(outcome(threw(busy)).retry_after_seconds).toBe(retry_after_seconds)
  })

  test('whose error cannot be looked at failed all the same', () => {
    const hostile = {
      get retry_after_seconds() {
        throw new Error('no')
      },
    }
    expect(outcome(threw(hostile))).toMatchObject({ outcome: 'FAILED' })
    expect([outcome(threw(null)).outcome, outcome(threw(undefined)).outcome]).toEqual(['FAILED', 'FAILED'])
  })

  test.each([
    ['cancel', 'CANCELLED'],
    ['drain', 'RELEASED'],
  ] as const)('that ends after %s is %s, whatever it returned or threw', (stopped, said) => {
    expect([outcome(returned({ rows: 3 }), stopped), outcome(threw(new Error('aborted')), stopped)]).toMatchObject([
      { outcome: said },
      { outcome: said },
    ])
  })

  test('that ends after its timeout failed, also when it noticed and returned', () => {
    expect(outcome(returned(undefined), 'timeout')).toMatchObject({ outcome: 'FAILED', error: { code: 'TIMEOUT' } })
    expect(outcome(returned(undefined), 'timeout').error).not.toHaveProperty('retryable')
  })

  test('whose result throws when it is read failed', () => {
    const trap = Object.defineProperty({}, 'rows', {
      enumerable: true,
      get: () => {
        throw new Error('a getter')
      },
    })
    expect(outcome(returned(trap))).toMatchObject({ outcome: 'FAILED', error: { message: 'a getter' } })
  })
})

describe('what was thrown', () => {
  const hostile = new Proxy(new Error('x'), {
    get() {
      throw new Error('no')
    },
  })
  test.each([
    [new TypeError('bad'), { code: 'TypeError', message: 'bad' }],
    [Object.assign(new Error('no file'), { code: 'ENOENT' }), { code: 'ENOENT' }],
    [Object.assign(new Error('odd'), { code: 7 }), { code: 'Error' }],
    [Object.assign(new Error('odd'), { code: 'two\nlines' }), { code: 'Error' }],
    [Object.assign(new Error('odd'), { retryable: 'no' }), { message: 'odd' }],
    [new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') }), { message: 'fetch failed (connect ECONNREFUSED)' }],
    [new Error(''), { message: 'The code threw a Error without a message.' }],
    ['text', { code: 'THROWN', message: 'text' }],
    [undefined, { code: 'THROWN', message: 'The code threw undefined, which is no Error.' }],
    [null, { code: 'THROWN' }],
    [Symbol('s'), { code: 'THROWN' }],
    [{ retryable: false }, { code: 'THROWN', retryable: false }],
    [hostile, { code: 'THROWN', message: 'The code threw something that cannot be read.' }],
    [Object.assign(new Error('\ud800'), { stack: '\ud800' }), { message: '\ufffd', stack: '\ufffd' }],
  ])('%#: becomes an error of the contract', (thrown, expected) => {
    const error = errorOf(thrown)
    expect(error).toMatchObject(expected)
    expect(isError(error)).toBe(true)
  })

  test('is cut to the bytes of an event, never inside a character', () => {
    for (const character of ['x', 'é', '€', '😀']) {
      const cut = cutMessage(character.repeat(3_000))
      expect(utf8Bytes(cut)).toBeLessThanOrEqual(2_048)
      expect(utf8Bytes(cut)).toBeGreaterThan(2_040)
      expect(cut.replaceAll(character, '')).toBe('…')
    }
    expect(cutMessage('short')).toBe('short')
    expect(isError(refusedReport('x'.repeat(5_000)).error)).toBe(true)
  })
})
