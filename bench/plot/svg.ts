// Small panels of lines as one SVG: pure, the same text for the same figures, and readable on light and on dark ground.

import { type ScaleKind, scaleOf, shortNumber } from './scale.js'

export type Point = readonly [x: number, y: number]

export type Series = {
  /** Empty: not in the legend, and of the colour of the series with a name that stands as far from the first. */
  readonly name: string
  readonly points: readonly Point[]
  /** `dashed`: what was computed, and not measured. `dots`: single measurements, joined by a thin line. */
  readonly style?: 'line' | 'dashed' | 'dots'
}

export type Axis = {
  readonly label: string
  readonly scale?: ScaleKind
  /** The lowest value of the axis, where the values begin higher. */
  readonly low?: number
  /** Marks with words of their own, instead of round numbers. */
  readonly marks?: readonly { readonly at: number; readonly text: string }[]
}

export type Panel = { readonly title: string; readonly x: Axis; readonly y: Axis; readonly series: readonly Series[] }

export type Plot = { readonly title: string; readonly subtitle: string; readonly columns: number; readonly panels: readonly Panel[] }

const PANEL = { width: 440, height: 280 }
const MARGIN = { left: 62, right: 18, top: 62, bottom: 46 }
const HEAD_HEIGHT = 62
const AREA = { width: PANEL.width - MARGIN.left - MARGIN.right, height: PANEL.height - MARGIN.top - MARGIN.bottom }
const LEGEND_CHARACTER_PX = 6.1

/** Colours that people with any sight tell apart, darker on light ground and lighter on dark. Without variables, which not
 *  everything that shows an SVG understands. */
const LIGHT = {
  ground: '#ffffff',
  ink: '#1f2328',
  faint: '#656d76',
  line: '#d0d7de',
  series: ['#0969da', '#bc4c00', '#1a7f37', '#8250df', '#9a6700', '#bf3989', '#57606a'],
} as const
const DARK = {
  ground: '#0d1117',
  ink: '#e6edf3',
  faint: '#9198a1',
  line: '#30363d',
  series: ['#58a6ff', '#f0883e', '#3fb950', '#bc8cff', '#d29922', '#f778ba', '#8b949e'],
} as const
const COLOURS = LIGHT.series.length

const coloured = ({ ground, ink, faint, line, series }: typeof LIGHT | typeof DARK): string =>
  [
    `.ground{fill:${ground}} text{fill:${ink}} .faint{fill:${faint}} .grid{stroke:${line}} .axis{stroke:${faint}}`,
    ...series.map((colour, i) => `.s${i}{stroke:${colour}} .f${i}{fill:${colour}}`),
  ].join(' ')

const STYLE = [
  "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:11px}",
  '.title{font-size:16px;font-weight:600} .name{font-size:13px;font-weight:600}',
  '.line{fill:none;stroke-width:1.8;stroke-linejoin:round} .dashed{stroke-dasharray:5 4} .thin{stroke-width:1}',
  coloured(LIGHT),
  `@media (prefers-color-scheme: dark){${coloured(DARK)}}`,
].join('\n')

export function drawPlot({ title, subtitle, columns, panels }: Plot): string {
  const rows = Math.ceil(panels.length / columns)
  const [width, height] = [columns * PANEL.width, HEAD_HEIGHT + rows * PANEL.height]
  const drawn = panels.map((panel, i) => {
    const [x, y] = [(i % columns) * PANEL.width, HEAD_HEIGHT + Math.floor(i / columns) * PANEL.height]
    return `<g transform="translate(${x} ${y})">\n${drawPanel(panel)}\n</g>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    `<text class="title" x="16" y="28">${escaped(title)}</text>`,
    `<text class="faint" x="16" y="48">${escaped(subtitle)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

function drawPanel({ title, x, y, series }: Panel): string {
  const points = series.flatMap((each) => each.points)
  const across = scaleOf(x.scale ?? 'linear', [...points.map(([at]) => at), ...(x.marks ?? []).map(({ at }) => at)], x.low)
  const up = scaleOf(
    y.scale ?? 'linear',
    points.map(([, at]) => at),
    y.low,
  )
  const px = (value: number) => fixed(MARGIN.left + across.at(value) * AREA.width)
  const py = (value: number) => fixed(MARGIN.top + (1 - up.at(value)) * AREA.height)
  const bottom = MARGIN.top + AREA.height
  const marks = x.marks ?? across.ticks.map((at) => ({ at, text: shortNumber(at) }))
  return [
    `<text class="name" x="${MARGIN.left}" y="20">${escaped(title)}</text>`,
    ...legendOf(series),
    ...up.ticks.flatMap((at) => [
      `<line class="grid" x1="${MARGIN.left}" x2="${MARGIN.left + AREA.width}" y1="${py(at)}" y2="${py(at)}"/>`,
      `<text class="faint" x="${MARGIN.left - 6}" y="${py(at) + 4}" text-anchor="end">${escaped(shortNumber(at))}</text>`,
    ]),
    ...marks.flatMap(({ at, text }) => [
      `<line class="axis" x1="${px(at)}" x2="${px(at)}" y1="${bottom}" y2="${bottom + 4}"/>`,
      `<text class="faint" x="${px(at)}" y="${bottom + 17}" text-anchor="middle">${escaped(text)}</text>`,
    ]),
    `<line class="axis" x1="${MARGIN.left}" x2="${MARGIN.left + AREA.width}" y1="${bottom}" y2="${bottom}"/>`,
    `<text class="faint" x="${MARGIN.left + AREA.width / 2}" y="${PANEL.height - 10}" text-anchor="middle">${escaped(x.label)}</text>`,
    `<text class="faint" transform="translate(14 ${MARGIN.top + AREA.height / 2}) rotate(-90)" text-anchor="middle">${escaped(y.label)}</text>`,
    ...series.flatMap((each, i) => drawSeries(each, colourOf(series, i), px, py)),
  ].join('\n')
}

/** Those without a name come after the others, in their order. */
const colourOf = (series: readonly Series[], at: number): number => {
  const named = series.filter(({ name }) => name !== '').length
  return (at < named ? at : at - named) % COLOURS
}

function drawSeries({ points, style = 'line' }: Series, colour: number, px: (at: number) => number, py: (at: number) => number): string[] {
  const path = points.map(([x, y]) => `${px(x)},${py(y)}`).join(' ')
  const kind = style === 'dashed' ? ' dashed' : style === 'dots' ? ' thin' : ''
  const dots = style === 'dots' ? points.map(([x, y]) => `<circle class="f${colour}" cx="${px(x)}" cy="${py(y)}" r="3.2"/>`) : []
  return [`<polyline class="line s${colour}${kind}" points="${path}"/>`, ...dots]
}

/** One name after the other, in two lines at most. */
function legendOf(series: readonly Series[]): string[] {
  if (series.length < 2) return []
  let [x, y] = [MARGIN.left, 36]
  return series
    .filter(({ name }) => name !== '')
    .flatMap(({ name, style }, i) => {
      const width = 22 + name.length * LEGEND_CHARACTER_PX + 8
      if (x > MARGIN.left && x + width > PANEL.width - MARGIN.right + 10) [x, y] = [MARGIN.left, y + 15]
      const colour = i % COLOURS
      const drawn = [
        `<line class="line s${colour}${style === 'dashed' ? ' dashed' : ''}" x1="${fixed(x)}" x2="${fixed(x + 16)}" y1="${y - 4}" y2="${y - 4}"/>`,
        `<text x="${fixed(x + 21)}" y="${y}">${escaped(name)}</text>`,
      ]
      x += width
      return drawn
    })
}

const fixed = (value: number): number => Number(value.toFixed(1))

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
