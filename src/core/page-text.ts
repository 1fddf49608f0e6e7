// Words for pages that render Markdown, such as the details of a workflow in the Temporal UI. Workflows import this file.

/** One line in which nothing is a link, a tag, code or emphasis. */
export const markdownText = (text: string): string => text.replaceAll(/\s*[\r\n]\s*/g, ' ').replaceAll(/[*`[<\\]/g, '\\$&')

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A wall clock for people, `1 Sep 02:00`: with its year where that is not the year of `now`, and with seconds where it has any. Both
 *  are local times as numbers. */
export function clockText(local_ms: number, now_local_ms: number): string {
  const at = new Date(local_ms)
  const year = at.getUTCFullYear()
  const day = `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`
  const time = at.toISOString().slice(11, at.getUTCSeconds() === 0 ? 16 : 19)
  return `${day}${year === new Date(now_local_ms).getUTCFullYear() ? '' : ` ${year}`} ${time}`
}
