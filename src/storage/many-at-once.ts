// Asks for many things, so many at a time: a store takes some at once, and nobody wants all of a history in the air.

export async function manyAtOnce<T, Answer>(values: readonly T[], at_once: number, ask: (value: T) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let start = 0; start < values.length; start += at_once) {
    answers.push(...(await Promise.all(values.slice(start, start + at_once).map(ask))))
  }
  return answers
}
