import { describe, expect, test } from '@jest/globals'
import { commandedBy, loginNameOf } from './commanded.js'

const around = (environment: Readonly<Record<string, string>>, login?: string) => ({ environment, loginName: () => login })
const BOTH = around({ SERVO_BY: 'ci' }, 'login')

describe('who asks', () => {
  test.each([
    ['the option', { by: 'ada' }, BOTH, { requested_by: 'document' }, 'ada'],
    ['the document', {}, BOTH, { requested_by: 'document' }, 'document'],
    ['the environment', {}, BOTH, {}, 'ci'],
    ['the login', {}, around({ SERVO_BY: '' }, 'login'), {}, 'login'],
  ])('is who %s says', (_, options, where, document, name) => {
    expect(commandedBy(options, where, document)).toEqual({ requested_by: name })
  })

  test('is left out where nobody is known, and so is a reason that nobody gave', () => {
    expect(commandedBy({}, around({}))).toEqual({})
    expect(commandedBy({ reason: 'A test.' }, around({}))).toEqual({ reason: 'A test.' })
  })

  test('has no login name where the system has none', () => {
    expect(loginNameOf(() => ({ username: 'ada' }))).toBe('ada')
    expect(loginNameOf(() => ({ username: '' }))).toBeUndefined()
    expect(
      loginNameOf(() => {
        throw new Error('uv_os_get_passwd returned ENOENT')
      }),
    ).toBeUndefined()
  })
})
