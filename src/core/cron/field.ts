// The fields of an expression, taken apart so that cron-parser can read them one by one: it refuses values that overlap in
// a list (`0,*/15`), takes `5#2` and `5L` alone only, knows no range that goes past the end, and draws an H by chance.

export const FIELDS = ['second', 'minute', 'hour', 'day of the month', 'month', 'day of the week'] as const
export type Field = (typeof FIELDS)[number]

/** The least and the most of each field. Sunday is 0, and 7 as well. */
export const BOUNDS: { readonly [Name in Field]: readonly [number, number] } = {
  second: [0, 59],
  minute: [0, 59],
  hour: [0, 23],
  'day of the month': [1, 31],
  month: [1, 12],
  'day of the week': [0, 6],
}

const NAMES: { readonly [Name in Field]?: readonly string[] } = {
  month: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  'day of the week': ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
}

export type CronFault = { readonly problem: string }

/** Parts of one meaning each, none of which names a value twice: together they are the field. */
export function partsOf(name: Field, text: string): readonly string[] | CronFault {
  if (/h/i.test(withoutNames(name, text))) return { problem: 'H would be drawn by chance. Write the value that is meant.' }
  if (/w/i.test(withoutNames(name, text))) return { problem: 'W is not known. Write the days that are meant.' }
  const values = new Set<number>()
  const parts: string[] = []
  for (const term of text.split(',')) {
    if (term === '') return { problem: 'a value is missing between commas.' }
    if (name === 'day of the week' && /^L$/i.test(term)) return { problem: 'L does not say which day. Write 5L for the last Friday.' }
    // cron-parser forgets the number beside an L here.
    if (name === 'day of the month' && /.L|L./i.test(term)) {
      return { problem: 'L is the last day, alone: days are not counted from it. Write L, or days such as 28.' }
    }
    const value = valueOf(name, term)
    if (value !== null) values.add(value)
    else parts.push(partOf(name, term))
  }
  return values.size === 0 ? parts : [[...values].join(','), ...parts]
}

function partOf(name: Field, term: string): string {
  const range = /^([^-/#]+)-([^-/#]+)(?:\/(\d+))?$/.exec(term)
  // Letters are taken in any case; cron-parser knows this one as a capital alone.
  if (range === null) return name === 'day of the week' ? term.replace(/^L(.+)$/i, '$1L') : term.replace(/^l$/, 'L')
  const [from, to] = [valueOf(name, range[1] as string, 'bound'), valueOf(name, range[2] as string, 'bound')]
  const isPastEnd = from !== null && to !== null && from > to
  return isPastEnd ? aroundTheEnd(name, from, to, Number(range[3] ?? 1)) : term
}

/** Letters of names are no signs: `thu` has no H in it, nor `wed` a W. */
const withoutNames = (name: Field, text: string): string =>
  NAMES[name] === undefined ? text : text.replace(new RegExp(NAMES[name].filter((each) => each !== '').join('|'), 'gi'), '')

/** A value alone: Sunday is 0 then, and may be 7 where a range ends. */
function valueOf(name: Field, text: string, use: 'alone' | 'bound' = 'alone'): number | null {
  if (/^\d{1,2}$/.test(text)) return name === 'day of the week' && use === 'alone' && Number(text) === 7 ? 0 : Number(text)
  const place = text === '' ? -1 : (NAMES[name]?.indexOf(text.toLowerCase()) ?? -1)
  return place === -1 ? null : place
}

/** `22-2` is 22, 23, 0, 1, 2; with a step it goes on counting past the end. */
function aroundTheEnd(name: Field, from: number, to: number, step: number): string {
  const [min, max] = BOUNDS[name]
  const size = max - min + 1
  const values: number[] = []
  // What is out of bounds, or a step of nothing, is for cron-parser to refuse.
  if (to < min || from > (name === 'day of the week' ? 7 : max) || step === 0) return `${from}-${to}/${step}`
  for (let value = from; value <= to + size; value += step) values.push(((value - min) % size) + min)
  return values.join(',')
}
