// What a check found: one line, and where something is wrong, how to mend it.

type Level = 'ok' | 'warn' | 'fail'

export type Finding = {
  readonly check: string
  readonly level: Level
  /** What is there. */
  readonly found: string
  readonly mend?: string
}

export const ok = (check: string, found: string): Finding => ({ check, level: 'ok', found })
export const warn = (check: string, found: string, mend: string): Finding => ({ check, level: 'warn', found, mend })
export const fail = (check: string, found: string, mend: string): Finding => ({ check, level: 'fail', found, mend })
