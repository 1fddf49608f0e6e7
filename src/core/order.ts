// The order of text in files, listings and cursors.

/** By code point, which is the order of the UTF-8 bytes. Plain `<` compares UTF-16 units and puts the
 *  characters above U+FFFF before those from U+E000 on. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i)
    const b = right.charCodeAt(i)
    if (a === b) continue
    const aSurrogate = a >= 0xd800 && a <= 0xdfff
    const bSurrogate = b >= 0xd800 && b <= 0xdfff
    if (aSurrogate !== bSurrogate) return aSurrogate ? 1 : -1
    return a - b
  }
  return left.length - right.length
}

const compareUnits = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** Only texts with characters that UTF-16 and UTF-8 sort differently need more than the engine's own comparison, which
 *  is four times as fast. */
export const orderOf = (texts: readonly string[]): ((left: string, right: string) => number) =>
  texts.some((text) => MAY_DIFFER.test(text)) ? compareText : compareUnits

const MAY_DIFFER = /[\ud800-\uffff]/
