import { joined, liesIn, touches } from "../../../model/geometry.ts"
import { addTo } from "../../../model/lists.ts"
import type { Box, Drawing, PageContent } from "../../../model/page-content.ts"
import { THIN } from "../../runs/strokes.ts"

/** What is drawn at one place of a page. */
export interface Region extends Box {
  readonly drawings: number
  /** Number of straight lines along the page's sides among them. */
  readonly rules: number
  /** Number of curves and slanted lines among them. */
  readonly curves: number
  /** Number of pictures among them. */
  readonly pictures: number
  /** True when it was drawn elsewhere, and placed here as a whole. */
  readonly placed: boolean
}

/** Grid squares that drawings are clustered by, points; fewer and larger on a wall poster. */
const SQUARE = 12
const MOST_SQUARES = 120
/** A drawing that covers more of the page is its background. */
const BACKGROUND = 0.6
/** What was placed as a whole may be larger. */
const PLACED_BACKGROUND = 0.85
/** Smallest side of what was placed as a whole, points, and the most of them on a page. */
const MIN_PLACED = 40
const MOST_PLACED = 60

const isRule = ({ x0, x1, y0, y1 }: Box): boolean => x1 - x0 < THIN || y1 - y0 < THIN

/** What is drawn in a region that nothing is counted of yet. */
export const NOTHING = { drawings: 0, rules: 0, curves: 0, pictures: 0 }
type Counts = { -readonly [K in keyof typeof NOTHING]: number }

const count = (counts: Counts, drawing: Drawing): void => {
  counts.drawings += 1
  if (drawing.kind === "image") counts.pictures += 1
  else if (drawing.curved) counts.curves += 1
  else if (isRule(drawing.box)) counts.rules += 1
}

/** Boxes as one region. */
export const joinRegions = (regions: ReadonlyArray<Region>): Region | undefined => {
  const [first, ...rest] = regions
  return rest.reduce<Region | undefined>(
    (sum, one) =>
      sum === undefined
        ? one
        : {
            ...joined(sum, one),
            drawings: sum.drawings + one.drawings,
            rules: sum.rules + one.rules,
            curves: sum.curves + one.curves,
            pictures: sum.pictures + one.pictures,
            placed: sum.placed || one.placed
          },
    first
  )
}

const clip = ({ x0, x1, y0, y1 }: Box, { height, width }: PageContent): Box => ({
  x0: Math.max(0, x0),
  y0: Math.max(0, y0),
  x1: Math.min(width, x1),
  y1: Math.min(height, y1)
})

/** Placed groups: charts and diagrams of other programs. A group within another is a part of it. */
const placedOf = (page: PageContent, kept: ReadonlyArray<Drawing>): ReadonlyArray<Region> => {
  const boxes = page.groups
    .map((box) => clip(box, page))
    .filter(({ x0, x1, y0, y1 }) => {
      const [w, h] = [x1 - x0, y1 - y0]
      return w >= MIN_PLACED && h >= MIN_PLACED && w * h < PLACED_BACKGROUND * page.width * page.height
    })
    .sort((a, b) => (b.x1 - b.x0) * (b.y1 - b.y0) - (a.x1 - a.x0) * (a.y1 - a.y0))
    .slice(0, MOST_PLACED)
  const outermost = boxes.filter((box, at) => !boxes.slice(0, at).some((other) => liesIn(box, other, 2)))
  return outermost.map((box) => {
    const counts: Counts = { ...NOTHING }
    for (const drawing of kept) if (liesIn(drawing.box, box, 2)) count(counts, drawing)
    return { ...box, ...counts, placed: true }
  })
}

/** The grid squares that drawings lie in: for each the places of some of them. */
const squaresOf = (page: PageContent, kept: ReadonlyArray<Drawing>) => {
  const square = Math.max(SQUARE, Math.max(page.width, page.height) / MOST_SQUARES)
  const columns = Math.ceil(page.width / square) + 1
  const rows = Math.ceil(page.height / square) + 1
  const marks = new Map<number, Array<number>>()
  const clamp = (value: number, most: number) => Math.min(most - 1, Math.max(0, Math.floor(value / square)))
  for (const [at, { box }] of kept.entries())
    for (let row = clamp(box.y0, rows); row <= clamp(box.y1, rows); row++)
      for (let column = clamp(box.x0, columns); column <= clamp(box.x1, columns); column++)
        addTo(marks, row * columns + column, at)
  return { columns, marks }
}

/** Clusters drawings that touch, by the grid squares that they lie in. */
const clustersOf = (page: PageContent, kept: ReadonlyArray<Drawing>): ReadonlyArray<Region> => {
  const { columns, marks } = squaresOf(page, kept)
  const clusters: Array<Region> = []
  const seen = new Set<number>()
  for (const start of marks.keys()) {
    if (seen.has(start)) continue
    seen.add(start)
    const open = [start]
    const members = new Set<number>()
    for (let key = open.pop(); key !== undefined; key = open.pop()) {
      for (const member of marks.get(key) ?? []) members.add(member)
      for (const across of [-1, 0, 1])
        for (const down of [-columns, 0, columns]) {
          const next = key + across + down
          if (!marks.has(next) || seen.has(next)) continue
          seen.add(next)
          open.push(next)
        }
    }
    let box: Box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity }
    const counts: Counts = { ...NOTHING }
    for (const member of members) {
      const drawing = kept[member]
      if (drawing === undefined) continue
      box = joined(box, drawing.box)
      count(counts, drawing)
    }
    clusters.push({ ...clip(box, page), ...counts, placed: false })
  }
  return clusters
}

/** What is placed as a whole with so few drawings may be a shape of a diagram: its outline, its shadow, its words. */
const MOST_IN_SHAPE = 4

const isShape = ({ drawings }: Region): boolean => drawings > 0 && drawings <= MOST_IN_SHAPE

/**
 * Limit on squares of the grid that a page's drawings cover, added up over the drawings. Above it, they are strokes of
 * a picture.
 */
const MOST_MARKS = 400_000

/** The regions of a page that something is drawn in. */
export const regionsOf = (page: PageContent): ReadonlyArray<Region> => {
  const { height, width } = page
  const kept = page.drawings.filter(({ artifact, box, kind }) => {
    const [w, h] = [box.x1 - box.x0, box.y1 - box.y0]
    const outside = box.x1 < 0 || box.y1 < 0 || box.x0 > width || box.y0 > height
    const isSeparator = kind === "path" && h < 2 && w > 0.3 * width
    return !artifact && !outside && w * h < BACKGROUND * width * height && !isSeparator
  })
  const all = placedOf(page, page.drawings)
  // Word processors place each shape of a diagram by itself.
  const [shapes, placed] = [all.filter(isShape), all.filter((region) => !isShape(region))]
  const loose = kept.filter(({ box }) => !placed.some((region) => liesIn(box, region, 2)))
  const area = loose.reduce(
    (sum, { box }) => sum + ((box.x1 - box.x0) / SQUARE + 1) * ((box.y1 - box.y0) / SQUARE + 1),
    0
  )
  if (area > MOST_MARKS) return all
  const clusters = clustersOf(page, loose)
  const isAlone = (shape: Region): boolean =>
    !clusters.some((cluster) => cluster.drawings > shape.drawings && touches(shape, cluster))
  const alone = shapes.filter(isAlone)
  return [
    ...placed,
    ...alone,
    ...clusters.filter((cluster) => !alone.some((shape) => liesIn(cluster, shape, 2)))
  ]
}
