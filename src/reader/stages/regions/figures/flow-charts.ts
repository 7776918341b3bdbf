import { touches, isAt, middleX, middleY } from "../../../model/geometry.ts"
import type { Box, PageContent } from "../../../model/page-content.ts"
import { THIN, isPath } from "../../runs/strokes.ts"
import { joinRegions, NOTHING, type Region } from "./regions.ts"

/** Smallest sides of a box that holds words, points, and the largest part of the page's width that it takes up. */
const MIN_WIDTH = 20
const MIN_HEIGHT = 10
const MOST_WIDTH = 0.6
/** How near to a box a line ends that leads to it, and how far corners of four sides may be apart, points. */
const NEAR = 4
const CORNER = 1.5
/** Fewest boxes of a chart: two may be anything. */
const FEWEST = 3
/** A page with more boxes or lines holds tables, or a drawing that is a figure anyway. */
const MOST = 80

const near = (a: number, b: number): boolean => Math.abs(a - b) <= CORNER

/** Boxes that are drawn as four lines: pairs of level sides that begin and end alike, and upright ones that close them. */
const closedBy = (level: ReadonlyArray<Box>, upright: ReadonlyArray<Box>): ReadonlyArray<Box> =>
  level.flatMap((top) =>
    level.flatMap((foot) => {
      const isBelow = foot.y0 - top.y0 >= MIN_HEIGHT && near(foot.x0, top.x0) && near(foot.x1, top.x1)
      const closes = (x: number): boolean =>
        upright.some((side) => near(side.x0, x) && near(side.y0, top.y0) && near(side.y1, foot.y1))
      return isBelow && closes(top.x0) && closes(top.x1)
        ? [{ x0: top.x0, x1: top.x1, y0: top.y0, y1: foot.y1 }]
        : []
    })
  )

/** The boxes that a line leads from and to; undefined where it does not join two. */
const joinedBy = (line: Box, boxes: ReadonlyArray<Box>): readonly [Box, Box] | undefined => {
  const isLevel = line.x1 - line.x0 > line.y1 - line.y0
  const [x, y] = [middleX(line), middleY(line)]
  const from = boxes.filter((box) => (isLevel ? isAt(box, line.x0, y, NEAR) : isAt(box, x, line.y0, NEAR)))
  const to = boxes.filter((box) => (isLevel ? isAt(box, line.x1, y, NEAR) : isAt(box, x, line.y1, NEAR)))
  const [one, other] = [from[0], to[0]]
  return from.length === 1 && to.length === 1 && one !== undefined && other !== undefined && one !== other
    ? [one, other]
    : undefined
}

/** The lines of a page, and the boxes that touch no other: cells share their sides. */
const shapesOf = ({ drawings, width }: PageContent) => {
  const [whole, level, upright]: [Array<Box>, Array<Box>, Array<Box>] = [[], [], []]
  for (const drawing of drawings) {
    if (!isPath(drawing)) continue
    const { box } = drawing
    const [w, h] = [box.x1 - box.x0, box.y1 - box.y0]
    if (h < THIN && w > THIN) level.push(box)
    else if (w < THIN && h > THIN) upright.push(box)
    else if (w >= MIN_WIDTH && h >= MIN_HEIGHT && w < MOST_WIDTH * width) whole.push(box)
    if (level.length > MOST || upright.length > MOST || whole.length > MOST) return { boxes: [], lines: [] }
  }
  const all = [...whole, ...closedBy(level, upright)]
  return {
    boxes: all.filter((box) => !all.some((other) => other !== box && touches(box, other, CORNER))),
    lines: [...level, ...upright]
  }
}

/**
 * Flow charts of a page: at least three separate boxes, and lines between them. Without this rule their words would be
 * rows of a table.
 */
export const flowCharts = (page: PageContent): ReadonlyArray<Region> => {
  const { boxes, lines } = shapesOf(page)
  if (boxes.length < FEWEST) return []
  const parts = new Map(boxes.map((box) => [box, new Set([box])]))
  for (const line of lines) {
    const [one, other] = joinedBy(line, boxes) ?? []
    const [mine, more] = [one && parts.get(one), other && parts.get(other)]
    if (mine === undefined || more === undefined || mine === more) continue
    for (const box of more) {
      mine.add(box)
      parts.set(box, mine)
    }
  }
  return [...new Set(parts.values())].flatMap((chart) => {
    const regions = [...chart].map((box): Region => ({ ...NOTHING, ...box, drawings: 1, placed: false }))
    return chart.size < FEWEST ? [] : (joinRegions(regions) ?? [])
  })
}
