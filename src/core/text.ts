// Text that is cut to a limit, never in the middle of a character.

export const cutText = (text: string, characters_max: number): string =>
  text.length <= characters_max ? text : text.slice(0, characters_max).toWellFormed()
