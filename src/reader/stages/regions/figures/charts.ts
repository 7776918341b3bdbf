import { centreIn, hull, overlapAcross, touches } from "../../../model/geometry.ts"
import { addTo, greatest, least } from "../../../model/lists.ts"
import type { Box, Drawing, PageContent } from "../../../model/page-content.ts"
import { type Segment, segmentText } from "../../lines/segment.ts"
import { isPath, THIN } from "../../runs/strokes.ts"

/** Fewest bars, lengths of them, and sectors of a pie. */
const FEWEST_BARS = 4
const FEWEST_LENGTHS = 3
const FEWEST_SECTORS = 3
/** Smallest side of a chart, points. */
const MIN_SIDE = 40
/** Fewest figures at its axes; of a pie, fewest that say a share. */
const FEWEST_FIGURES = 3
const FEWEST_SHARES = 2
/** How far they are from what is drawn, points. */
const NEAR = 25
/** How much bars of one chart differ in thickness, and how far they are apart, in thicknesses. */
const ALIKE = 0.15
const APART = 4
/** Part of the bars that may hold words: what holds more is a cell, or a word's ground. */
const WORDED = 0.25
/** How much longer than the bars' place its lines are. */
const LONGER = 1.8
/** More paths on a page are a map or a picture. */
const MOST_PATHS = 4000
const MOST_SEGMENTS = 2000
/** How far a circle's sides differ. */
const ROUND = 0.2

type Path = Extract<Drawing, { readonly kind: "path" }>

/** A number at an axis. */
const FIGURE = /^[-−+]?[\d.,]{1,12}[ ]?[%\p{L}\p{Sc}]{0,3}$/u

const isFigure = (segment: Segment): boolean => FIGURE.test(segmentText(segment).trim())

/** Which way bars go: up from one line, or right from one. */
interface Way {
  readonly foot: (box: Box) => number
  readonly at: (box: Box) => number
  readonly length: (box: Box) => number
  readonly thick: (box: Box) => number
}
const WAYS: ReadonlyArray<Way> = [
  { foot: ({ y1 }) => y1, at: ({ x0 }) => x0, length: (b) => b.y1 - b.y0, thick: (b) => b.x1 - b.x0 },
  { foot: ({ x0 }) => x0, at: ({ y0 }) => y0, length: (b) => b.x1 - b.x0, thick: (b) => b.y1 - b.y0 }
]

/** Bars on one line, as thick as each other and near. */
const barsOf = (filled: ReadonlyArray<Path>, way: Way): ReadonlyArray<ReadonlyArray<Box>> => {
  const onLine = new Map<number, Array<Box>>()
  for (const { box } of filled) addTo(onLine, Math.round(way.foot(box)), box)
  return [...onLine.values()].flatMap((of) => {
    const groups: Array<Array<Box>> = []
    for (const box of of.toSorted((a, b) => way.at(a) - way.at(b))) {
      const last = groups.at(-1)
      const before = last?.at(-1)
      const thick = way.thick(box)
      const goesOn =
        before !== undefined &&
        Math.abs(way.thick(before) - thick) < ALIKE * thick &&
        way.at(box) - way.at(before) < APART * thick
      if (last !== undefined && goesOn) last.push(box)
      else groups.push([box])
    }
    return groups
  })
}

/** Whether bars tell numbers: of several lengths, large enough, and without words in them. */
const areBars = (bars: ReadonlyArray<Box>, way: Way, segments: ReadonlyArray<Segment>): boolean => {
  if (bars.length < FEWEST_BARS) return false
  const { x0, x1, y0, y1 } = hull(bars)
  const lengths = new Set(bars.map((bar) => Math.round(way.length(bar))))
  if (lengths.size < FEWEST_LENGTHS || x1 - x0 < MIN_SIDE || y1 - y0 < MIN_SIDE) return false
  const worded = bars.filter((bar) => segments.some((one) => centreIn(one, bar) && !isFigure(one)))
  return worded.length <= WORDED * bars.length
}

/** A chart with the lines behind it: those across what is drawn, and others like them. */
const withLines = (plot: Box, paths: ReadonlyArray<Path>): Box => {
  const wide = plot.x1 - plot.x0
  const high = plot.y1 - plot.y0
  const level = paths.filter(
    ({ box }) =>
      box.y1 - box.y0 < THIN &&
      box.x1 - box.x0 < LONGER * wide &&
      2 * (box.x1 - box.x0) > wide &&
      overlapAcross(box, plot)
  )
  const upright = paths.filter(
    ({ box }) => box.x1 - box.x0 < THIN && box.y1 - box.y0 < LONGER * high && touches(box, plot, NEAR)
  )
  const across = level.filter(({ box }) => touches(box, plot, THIN))
  const [from, to] = [least(across.map(({ box }) => box.x0)), greatest(across.map(({ box }) => box.x1))]
  const alike = level.filter(
    ({ box }) => Math.abs(box.x0 - from) < THIN && Math.abs(box.x1 - to) < THIN && touches(box, plot, high)
  )
  const sides = upright.filter(({ box }) => touches(box, plot, THIN))
  return hull([plot, ...[...across, ...alike, ...sides].map(({ box }) => box)])
}

/** Curves or slanted lines over level lines. */
const plottedLines = (paths: ReadonlyArray<Path>): ReadonlyArray<Box> =>
  paths.flatMap(({ box, curved, filled }) => {
    if (!curved || filled || box.x1 - box.x0 < MIN_SIDE || box.y1 - box.y0 < THIN) return []
    const whole = withLines(box, paths)
    const level = paths.filter((one) => one.box.y1 - one.box.y0 < THIN && touches(one.box, whole, THIN))
    return whole.y1 - whole.y0 >= MIN_SIDE && level.length >= FEWEST_FIGURES ? [whole] : []
  })

/** Sectors of several colours that make up a circle. */
const pies = (paths: ReadonlyArray<Path>): ReadonlyArray<Box> => {
  const curved = paths.filter(({ box, curved: is, filled }) => is && filled && box.y1 - box.y0 > THIN)
  const groups: Array<{ box: Box; colors: Set<number> }> = []
  for (const { box, color } of curved) {
    const group = groups.find((one) => touches(one.box, box))
    if (group === undefined) groups.push({ box, colors: new Set([color]) })
    else {
      group.box = hull([group.box, box])
      group.colors.add(color)
    }
  }
  return groups.flatMap(({ box, colors }) => {
    const [wide, high] = [box.x1 - box.x0, box.y1 - box.y0]
    const isRound = Math.abs(wide - high) < ROUND * Math.max(wide, high)
    return isRound && wide >= MIN_SIDE && colors.size >= FEWEST_SECTORS ? [box] : []
  })
}

/**
 * The charts of a page, by what is drawn and by the numbers at it, whatever is written below them: bars on one line, curves over
 * lines, and pies. `paths` that are many are a map.
 */
export const chartsOf = (page: PageContent, segments: ReadonlyArray<Segment>): ReadonlyArray<Box> => {
  const paths = page.drawings.filter(isPath)
  if (paths.length < FEWEST_SECTORS || paths.length > MOST_PATHS || segments.length > MOST_SEGMENTS) return []
  const filled = paths.filter(
    ({ box, curved, filled: is }) => is && !curved && box.x1 - box.x0 > THIN && box.y1 - box.y0 > THIN
  )
  const figures = segments.filter(isFigure)
  if (figures.length < FEWEST_SHARES) return []
  const has = (fewest: number, of: ReadonlyArray<Segment>) => (box: Box) =>
    of.filter((one) => touches(one, box, NEAR)).length >= fewest
  const barred = WAYS.flatMap((way) =>
    barsOf(filled, way).flatMap((bars) =>
      areBars(bars, way, segments) ? [withLines(hull(bars), paths)] : []
    )
  )
  const shares = figures.filter((one) => segmentText(one).includes("%"))
  return [
    ...[...barred, ...plottedLines(paths)].filter(has(FEWEST_FIGURES, figures)),
    ...pies(paths).filter(has(FEWEST_SHARES, shares))
  ]
}
