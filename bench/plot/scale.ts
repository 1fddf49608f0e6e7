// From values to places on a line, and which values are worth a mark: round numbers, or powers of ten.

export type ScaleKind = 'linear' | 'log'

export type Scale = {
  /** 0 at the low end, 1 at the high one. */
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
}

const TICKS_WANTED = 5

export function scaleOf(kind: ScaleKind, values: readonly number[], low?: number): Scale {
  const found = values.filter((value) => Number.isFinite(value) && (kind === 'linear' || value > 0))
  if (found.length === 0) throw new Error('There is no value to draw.')
  const [min, max] = [Math.min(...found, low ?? Number.POSITIVE_INFINITY), Math.max(...found)]
  return kind === 'linear' ? linear(min, max) : logarithmic(min, max)
}

function linear(min: number, max: number): Scale {
  const step = roundStep((max - min || Math.abs(max) || 1) / TICKS_WANTED)
  const from = Math.floor(min / step) * step
  const to = Math.max(Math.ceil(max / step) * step, from + step)
  const count = Math.round((to - from) / step)
  return { at: (value) => (value - from) / (to - from), ticks: Array.from({ length: count + 1 }, (_, i) => rounded(from + i * step)) }
}

function logarithmic(min: number, max: number): Scale {
  const from = Math.floor(Math.log10(min))
  const to = Math.max(Math.ceil(Math.log10(max)), from + 1)
  return {
    at: (value) => (Math.log10(value) - from) / (to - from),
    ticks: Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i)),
  }
}

/** 1, 2 or 5 times a power of ten, and not below. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  return ([1, 2, 5, 10].find((factor) => factor * power >= step) as number) * power
}

/** Sums of steps have tails. */
const rounded = (value: number): number => Number(value.toPrecision(12))

const UNITS = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** Short enough for an axis. */
export function shortNumber(value: number): string {
  const unit = UNITS.find(([size]) => Math.abs(value) >= size)
  return unit === undefined ? String(Number(value.toPrecision(3))) : `${Number((value / unit[0]).toPrecision(3))}${unit[1]}`
}
