import { centreIn, hull, liesIn, middleX, middleY, overlapAcross, touches } from "../../../model/geometry.ts"
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
/** Fewest figures at its axes; of a pie, fewest that say a share. Without one its names are as many as the fewest sectors. */
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
/** How far a circle's sides differ, and how far from its middle sectors may end, as a part of it: the boxes of curves are larger than they. */
const ROUND = 0.2
const OFF_MIDDLE = 0.1

type Path = Extract<Drawing, { readonly kind: "path" }>

/** A number at an axis. */
const FIGURE = /^[-−+]?[\d.,]{1,12}[ ]?[%\p{L}\p{Sc}]{0,3}$/u

/** A share that a sector has. */
const SHARE = /\d\s?%/

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

/** Sectors of several colours that make up a circle, and whether they meet in its middle. */
const pies = (paths: ReadonlyArray<Path>) => {
  const curved = paths.filter(({ box, curved: is, filled }) => is && filled && box.y1 - box.y0 > THIN)
  const groups: Array<{ box: Box; colors: Set<number>; sectors: Array<Box> }> = []
  for (const { box, color } of curved) {
    const group = groups.find((one) => touches(one.box, box, 1))
    if (group === undefined) groups.push({ box, colors: new Set([color]), sectors: [box] })
    else {
      group.sectors.push(box)
      group.box = hull([group.box, box])
      group.colors.add(color)
    }
  }
  return groups.flatMap(({ box, colors, sectors }) => {
    const [wide, high] = [box.x1 - box.x0, box.y1 - box.y0]
    const isRound = Math.abs(wide - high) < ROUND * Math.max(wide, high)
    const [x, y] = [middleX(box), middleY(box)]
    const middle = { x0: x, x1: x, y0: y, y1: y }
    const meet = sectors.every(
      (sector) => touches(middle, sector, OFF_MIDDLE * wide) && sector.x1 - sector.x0 < wide
    )
    return isRound && wide >= MIN_SIDE && colors.size >= FEWEST_SECTORS ? [{ box, meet }] : []
  })
}

/** Tolerances of a scale: of its steps, relative, and of its numbers' alignment, in points. */
const UNEVEN = 0.08
const OUT_OF_LINE = 2.5
/** Maximum share of a scale's numbers with words on the same line: above it they are row numbers of a table. */
const BESIDE_WORDS = 0.4
/** Longer words in a plot are no labels. */
const LONGEST_LABEL = 40

/** The number that a figure says. */
const valueOf = (segment: Segment): number => {
  const bare = segmentText(segment)
    .replaceAll(/[^\d.,−-]/g, "")
    .replace("−", "-")
  return Number(
    /^-?\d{1,3}(?:[.,]\d{3})+$/.test(bare) ? bare.replaceAll(/[.,]/g, "") : bare.replace(",", ".")
  )
}

/** Whether steps are alike, and go the same way. */
const areEven = (one: number, other: number): boolean =>
  one * other > 0 && Math.abs(one - other) < UNEVEN * Math.abs(other)

/** Columns of evenly spaced numbers that decrease by a constant step, longest first. Axes of charts look like this; rows of tables do not. */
const scalesOf = (figures: ReadonlyArray<Segment>): ReadonlyArray<ReadonlyArray<Segment>> => {
  const scales = (["x0", "x1"] as const).flatMap((side) => {
    const open: Array<Array<Segment>> = []
    for (const figure of figures.toSorted((a, b) => a.baseline - b.baseline)) {
      const value = valueOf(figure)
      const scale = open.findLast((of) => {
        const [before, last] = [of.at(-2), of.at(-1)]
        if (last === undefined || Math.abs(last[side] - figure[side]) > OUT_OF_LINE) return false
        const step = valueOf(last) - value
        return before === undefined
          ? step > 0
          : areEven(step, valueOf(before) - valueOf(last)) &&
              areEven(figure.baseline - last.baseline, last.baseline - before.baseline)
      })
      if (scale === undefined) open.push([figure])
      else scale.push(figure)
    }
    return open.filter(({ length }) => length >= FEWEST_FIGURES)
  })
  return scales.toSorted((a, b) => b.length - a.length)
}

/** What is drawn on the right of a scale and as high as it, whatever its shapes are. */
const plotsAtScales = (
  paths: ReadonlyArray<Path>,
  figures: ReadonlyArray<Segment>,
  segments: ReadonlyArray<Segment>
): ReadonlyArray<Box> => {
  const fromLeft = paths.toSorted((a, b) => a.box.x0 - b.box.x0)
  return scalesOf(figures).flatMap((scale) => {
    const { x1, y0, y1 } = hull(scale)
    const high = (y1 - y0) / scale.length
    const found: Array<Path> = []
    let end = x1
    for (const path of fromLeft) {
      const { box } = path
      if (box.x0 < x1 - THIN || box.x0 > end + NEAR || box.y0 < y0 - high || box.y1 > y1 + THIN) continue
      found.push(path)
      end = Math.max(end, box.x1)
    }
    const shapes = found.filter(
      ({ box, curved, filled }) => curved || (filled && box.x1 - box.x0 > THIN && box.y1 - box.y0 > THIN)
    )
    if (shapes.length === 0) return []
    const plot = hull(found.map(({ box }) => box))
    const inside = segments.filter((one) => centreIn(one, plot))
    const named = scale.filter(({ baseline, size }) =>
      inside.some((one) => Math.abs(one.baseline - baseline) < size / 2)
    )
    const worded = shapes.filter(({ box }) => inside.some((one) => liesIn(one, box, 0) && !isFigure(one)))
    const isPlot =
      worded.length <= WORDED * shapes.length &&
      plot.x1 - plot.x0 >= MIN_SIDE &&
      plot.y1 - plot.y0 >= Math.max(MIN_SIDE, (y1 - y0) / 2) &&
      named.length <= BESIDE_WORDS * scale.length &&
      inside.every(({ characters }) => characters <= LONGEST_LABEL)
    return isPlot ? [hull([plot, ...scale])] : []
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
  const has = (fewest: number, of: ReadonlyArray<Segment>) => (box: Box) =>
    of.filter((one) => touches(one, box, NEAR)).length >= fewest
  const barred = WAYS.flatMap((way) =>
    barsOf(filled, way).flatMap((bars) =>
      areBars(bars, way, segments) ? [withLines(hull(bars), paths)] : []
    )
  )
  const hasShares = has(
    FEWEST_SHARES,
    segments.filter((one) => SHARE.test(segmentText(one)))
  )
  const names = segments.filter(({ characters }) => characters <= LONGEST_LABEL)
  const isNamed = has(FEWEST_SECTORS, names)
  return [
    ...[...barred, ...plottedLines(paths)].filter(has(FEWEST_FIGURES, figures)),
    ...plotsAtScales(paths, figures, segments),
    ...pies(paths).flatMap(({ box, meet }) => (hasShares(box) || (meet && isNamed(box)) ? [box] : []))
  ]
}
