// What to say of a field that cannot be read: which it is, what it may be, and what was probably meant.

import { BOUNDS, type Field } from './field.js'

type Text = { readonly name: Field; readonly text: string }

/** The first term that cannot be read by itself, in a sentence. */
export function unreadSentence(fields: readonly Text[], isRead: (name: Field, term: string) => boolean): string {
  for (const { name, text } of fields) {
    const term = text.split(',').find((each) => !isRead(name, each))
    if (term !== undefined) return `${JSON.stringify(term)} is no ${name}. ${hintOf(name, term) ?? cureOf(name)}`
  }
  return 'its fields are right one by one and too long together. Make two expressions of it.'
}

function cureOf(name: Field): string {
  const [min, max] = BOUNDS[name]
  if (name === 'month') return `Give it ${min} to ${max}, or names such as jan.`
  if (name === 'day of the month') return `Give it ${min} to ${max}, or L for the last.`
  if (name === 'day of the week')
    return 'Give it 0 to 7, where 0 and 7 are Sunday, or names such as mon; 5L is the last Friday, 5#2 the second.'
  return `Give it ${min} to ${max}, such as ${min}, a range ${min}-${max} or a step */5.`
}

function hintOf(name: Field, term: string): string | undefined {
  if (/\/0*$/.test(term)) return 'A step is 1 or more, such as */5.'
  if (name !== 'day of the week') return undefined
  if (/^\d{4}\b/.test(term)) {
    return 'A cron has no year: leave it out. With five fields the first is the minute, with six it is the second.'
  }
  const [, days, count] = /^([^#]+)#(.*)$/.exec(term) ?? []
  if (days === undefined) return undefined
  if (/[-/*?]/.test(days)) return 'With # there is one day: write a list such as 1#2,2#2.'
  return /^[1-5]$/.test(count ?? '') ? undefined : `# counts from 1 to 5 within a month: write ${days}#5, or ${days}L for the last.`
}
