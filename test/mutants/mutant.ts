// What a mutant is: edits that take a guard away, and the check that has to notice.

export type Edit = { readonly file: string; readonly find: string; readonly replace: string }

/** One test, by its own title. */
export type TestCheck = { readonly file: string; readonly title: string }

/** An entry of the repository that exits with 1, and says this: that it fails for another reason proves nothing. */
export type CommandCheck = { readonly file: string; readonly args: readonly string[]; readonly says: string }

export type Check = TestCheck | CommandCheck

export type Mutant = {
  readonly name: string
  readonly edits: readonly Edit[]
  readonly killed_by: Check
  /** A check that never ends counts as one that fails. */
  readonly may_hang?: boolean
}

export const invariant = (file: string, title: string): Check => ({ file: `test/invariants/${file}.test.ts`, title })
export const turn = (file: string, title: string): Check => ({ file: `test/turn/${file}.test.ts`, title })
