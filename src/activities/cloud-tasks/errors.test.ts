import { describe, expect, test } from '@jest/globals'
import { CLASS_OF, meaningOf, type StatusClass, type StatusName } from './errors.js'

const QUEUE = 'projects/p/locations/l/queues/q'
const failed = (code: unknown, message = 'words of the server') => Object.assign(new Error(message), { code })

const TABLE: readonly (readonly [number, StatusName, StatusClass, string])[] = [
  [1, 'CANCELLED', 'RETRY', 'UNREACHABLE'],
  [2, 'UNKNOWN', 'RETRY', 'UNREACHABLE'],
  [3, 'INVALID_ARGUMENT', 'REFUSED', 'REFUSED'],
  [4, 'DEADLINE_EXCEEDED', 'RETRY', 'UNREACHABLE'],
  [5, 'NOT_FOUND', 'BLOCKED', 'BLOCKED'],
  [6, 'ALREADY_EXISTS', 'DONE', 'ACCEPTED'],
  [7, 'PERMISSION_DENIED', 'BLOCKED', 'BLOCKED'],
  [8, 'RESOURCE_EXHAUSTED', 'BACK_OFF', 'BUSY'],
  [9, 'FAILED_PRECONDITION', 'BLOCKED', 'BLOCKED'],
  [10, 'ABORTED', 'RETRY', 'UNREACHABLE'],
  [11, 'OUT_OF_RANGE', 'REFUSED', 'REFUSED'],
  [12, 'UNIMPLEMENTED', 'BLOCKED', 'BLOCKED'],
  [13, 'INTERNAL', 'RETRY', 'UNREACHABLE'],
  [14, 'UNAVAILABLE', 'RETRY', 'UNREACHABLE'],
  [15, 'DATA_LOSS', 'RETRY', 'UNREACHABLE'],
  [16, 'UNAUTHENTICATED', 'BLOCKED', 'BLOCKED'],
]

describe('what Cloud Tasks answers', () => {
  test.each(TABLE)('%i, %s, is %s, for the attempt %s', (code, name, status_class, answer) => {
    expect(CLASS_OF[name]).toBe(status_class)
    const meaning = meaningOf(failed(code), QUEUE)
    expect(meaning).toMatchObject({ status_class, answer: { answer } })
    if ('problem' in meaning.answer) expect(meaning.answer.problem).toContain(`${QUEUE} answered ${name}: words of the server`)
    if ('error' in meaning.answer) expect(meaning.answer.error).toMatchObject({ code: `QUEUE_${name}` })
  })

  test('has a row for every status that there is', () => {
    expect(TABLE.map(([, name]) => name).sort()).toEqual(
      Object.keys(CLASS_OF)
        .filter((name) => name !== 'OK')
        .sort(),
    )
  })

  test('that is somebody else’s to mend says what to do', () => {
    for (const [code, , status_class] of TABLE.filter((row) => row[2] === 'BLOCKED')) {
      const { answer } = meaningOf(failed(code), QUEUE)
      expect({ status_class, answer }).toMatchObject({ answer: { problem: expect.stringMatching(/words of the server [A-Z].*\.$/) } })
    }
  })

  test.each([[failed('ENOTFOUND')], [failed(undefined)], [failed(99)], ['no error at all'], [undefined]])(
    'without a status is no answer at all: %p',
    (error) => {
      expect(meaningOf(error, QUEUE)).toMatchObject({ status_class: 'RETRY', answer: { answer: 'UNREACHABLE' } })
    },
  )
})
