import type { Cell, Table } from "../../../../model/block.ts"
import { centreIn, crosses, hull, liesIn, middleX, middleY } from "../../../../model/geometry.ts"
import { greatest, addTo, least } from "../../../../model/lists.ts"
import type { Drawing } from "../../../../model/page-content.ts"
import type { Placed } from "../../../../model/placed.ts"
import { type InlineContext, NO_WORDS } from "../../../lines/inline.ts"
import {
  hasWords,
  isBoldThroughout,
  partOf,
  type Segment,
  piecesOf,
  segmentText
} from "../../../lines/segment.ts"
import { withRoom } from "../cells/cell-paragraphs.ts"
import { NUMERIC, type RawCell } from "../cells/table-cells.ts"
import { tableOf } from "../cells/table-of.ts"
import { brokenWords } from "../grid/broken-words.ts"
import { NEAR, slotOf, stripeCells, unruledCells } from "../grid/grid-cells.ts"
import { withColumns } from "../grid/grid-columns.ts"
import { withHead } from "../grid/grid-head.ts"
import { gridOf, type Grid, slotAt, slotsOf } from "../grid/grid-spans.ts"
import { withPaddedGrounds } from "../grid/padded-grounds.ts"
import { rowGrids } from "../grid/row-rules.ts"
import {
  barsOf,
  borders,
  closedRules,
  closedBySides,
  networks,
  placesOf,
  type Rule,
  type Rules,
  rulesOf
} from "../grid/rules.ts"
import { withRowsBetween } from "../grid/striped-rows.ts"
import { withoutWordGrounds } from "../grid/word-grounds.ts"
import { openTables, type RuledTable } from "./open-tables.ts"

/** Part of the segments that may go over a border; where more do the lines are a drawing's. */
const OVER_BORDERS = 0.1
/** Most columns per filled cell in the fullest row: boxes and bars within a frame are not in columns. */
const MOST_SPANNED = 2
/** Part of the cells that hold words in a table; fewer are a diagram or a form. */
const FILLED = 0.35

/** Restores segments that were cut at a border of other rows which this cell does not have. */
const uncut = (parts: ReadonlyArray<Segment>): ReadonlyArray<Segment> =>
  [...Map.groupBy(parts, ({ field, order, picture }) => field ?? picture ?? order).values()]
    .map(([first, ...more]) =>
      first === undefined || more.length === 0 ? first : partOf(first, piecesOf([first, ...more]))
    )
    .filter((segment) => segment !== undefined)

/** Assigns segments to the cells of a grid; a segment over a border is cut between its pieces. */
const fill = (
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  ys: ReadonlyArray<number>
): Map<number, Array<Segment>> => {
  const cells = new Map<number, Array<Segment>>()
  for (const segment of segments) {
    const row = slotOf(ys, middleY(segment))
    if (!hasWords(segment)) {
      addTo(cells, slotAt(row, slotOf(xs, middleX(segment))), segment)
      continue
    }
    // Words beyond a side are in the neighbouring cell.
    const parts = Map.groupBy(segment.pieces, (piece) =>
      Math.min(Math.max(0, slotOf(xs, middleX(piece))), xs.length - 2)
    )
    for (const [column, pieces] of parts) addTo(cells, slotAt(row, column), partOf(segment, pieces))
  }
  return cells
}

/** Whether a picture lies in one cell: one over several is the ground of them, or another thing that is drawn there. */
const isInCell = (picture: Segment, { bySlot, xs, ys }: Grid): boolean => {
  const cell = bySlot.get(slotAt(slotOf(ys, middleY(picture)), slotOf(xs, middleX(picture))))
  if (cell === undefined) return false
  const { colSpan, column, row, rowSpan } = cell
  const [x0, y0, x1, y1] = [xs[column], ys[row], xs[column + colSpan], ys[row + rowSpan]].map((at) => at ?? 0)
  return liesIn(picture, { x0: x0 ?? 0, y0: y0 ?? 0, x1: x1 ?? 0, y1: y1 ?? 0 }, NEAR)
}

/** True when words span an upright border, or extend beyond a side. */
const isOverBorder = (segment: Segment, { upright, xs, ys }: Grid): boolean => {
  const row = slotOf(ys, middleY(segment))
  return segment.pieces.some((piece) => {
    const column = slotOf(xs, middleX(piece))
    const isOut = column < 0 || column > xs.length - 2
    return isOut || xs.some((x, place) => crosses(piece, x, NEAR) && upright[place]?.[row] === true)
  })
}

/** Fewest words of a table that may be broken, and make it unsure: one is soon seen to be one, or two. */
const FEWEST_UNSURE = 2

/**
 * Rows with broken words joined across lines, with room, and whether there may be other such words. `single`: the cells that hold one
 * column alone; `known`: words of the document.
 */
const finished = (
  rows: ReadonlyArray<ReadonlyArray<RawCell>>,
  single: ReadonlyArray<ReadonlyArray<ReadonlyArray<Segment>>>,
  xs: ReadonlyArray<number>,
  known: InlineContext["words"]
): { readonly body: ReadonlyArray<ReadonlyArray<RawCell>>; readonly unsure: boolean } => {
  const words = known?.() ?? NO_WORDS
  const found = single.map((cells, at) => brokenWords(cells, xs[at] ?? 0, xs[at + 1] ?? 0, words))
  const broken = new Set(found.flatMap((one) => one.broken))
  const marked = (one: Segment): Segment =>
    broken.has(one) ? { ...one, hyphenated: true, broken: true } : one
  const joined =
    broken.size === 0
      ? rows
      : rows.map((row) => row.map((cell) => ({ ...cell, segments: cell.segments.map(marked) })))
  const unsure = new Set(found.flatMap((one) => one.unsure))
  return { body: withRoom(joined, xs), unsure: unsure.size >= FEWEST_UNSURE }
}

/** Greatest distance of column names from the upper rule, in font sizes. */
const HEADS_ABOVE = 2
/** Longest name of a column, in letters. */
const LONGEST_NAME = 40

const isBoldCell =
  (fonts: InlineContext["fonts"]) =>
  ({ segments }: RawCell): boolean =>
    segments.every((one) => isBoldThroughout(one, fonts))

/** Whether a row above a grid names its columns: short words in bold over a row that is not. */
const nameColumns = (
  names: ReadonlyArray<RawCell>,
  [first = []]: ReadonlyArray<ReadonlyArray<RawCell>>,
  fonts: InlineContext["fonts"]
): boolean => {
  const texts = names.map(({ segments }) => segments.map(segmentText).join(" ").trim())
  const areWords = texts.every(
    (text, at) => (text !== "" || at === 0) && text.length <= LONGEST_NAME && !NUMERIC.test(text)
  )
  return areWords && names.every(isBoldCell(fonts)) && !first.every(isBoldCell(fonts))
}

/** Names over the columns of a grid, above its upper rule: those that lean, and a line of others, each within its column. */
const headsAbove = (
  segments: ReadonlyArray<Segment>,
  xs: ReadonlyArray<number>,
  top: number,
  isHead: (names: ReadonlyArray<RawCell>) => boolean
): ReadonlyArray<RawCell> => {
  const above = segments.filter(
    ({ baseline, size }) => baseline < top + size / 2 && top - baseline < HEADS_ABOVE * size
  )
  const cellsOf = (of: ReadonlyArray<Segment>): ReadonlyArray<RawCell> =>
    xs.slice(1).map((right, at): RawCell => {
      const isOver = (one: Segment): boolean => middleX(one) >= (xs[at] ?? 0) && middleX(one) < right
      return { segments: of.filter(isOver), colSpan: 1, rowSpan: 1 }
    })
  const leaning = cellsOf(above.filter(({ heads }) => heads === true))
  if (leaning.filter((cell) => cell.segments.length > 0).length >= 2) return leaning
  const [left = 0, right = 0] = [xs[0], xs.at(-1)]
  const last = greatest(above.map(({ baseline }) => baseline))
  const level = above.filter(
    (one) => hasWords(one) && last - one.baseline < one.size / 2 && one.x1 > left && one.x0 < right
  )
  const names = cellsOf(level)
  const areApart = level.every(
    ({ x0, x1 }) => !xs.some((x) => x0 < x - NEAR && x1 > x + NEAR) && x0 > left - NEAR && x1 < right + NEAR
  )
  return names.length > 1 && areApart && isHead(names) ? names : []
}

/** A table of a grid of rules, with the segments in it, and with names above it that are not in `others`. */
const gridTable = (
  rules: Rules,
  segments: ReadonlyArray<Segment>,
  context: InlineContext,
  others: ReadonlySet<Segment>
): RuledTable | undefined => {
  const grid = gridOf(rules)
  if (grid === undefined) return undefined
  const { xs, ys } = grid
  const columns = xs.length - 1
  const box = { x0: xs[0] ?? 0, y0: ys[0] ?? 0, x1: xs.at(-1) ?? 0, y1: ys.at(-1) ?? 0 }
  const isWithin = (segment: Segment): boolean => segment.picture === undefined || isInCell(segment, grid)
  const taken = segments.filter((segment) => centreIn(segment, box) && isWithin(segment))
  const cells = fill(taken, xs, ys)
  if (taken.filter((one) => isOverBorder(one, grid)).length > OVER_BORDERS * taken.length) return undefined
  const single = xs.slice(1).map((): Array<ReadonlyArray<Segment>> => [])
  let filled = 0
  const tableRows = grid.rows
    .map((row) =>
      row.flatMap((cell): ReadonlyArray<RawCell> => {
        const { colSpan, column, rowSpan } = cell
        const inside = slotsOf(cell).flatMap((slot) => cells.get(slot) ?? [])
        if (inside.some(hasWords)) filled += 1
        const words = uncut(inside)
        if (colSpan === 1) single[column]?.push(words)
        const striped = rowSpan === 1 && colSpan === columns ? stripeCells(words, xs) : undefined
        if (striped !== undefined) return striped
        return rowSpan === 1 && colSpan > 1
          ? unruledCells(words, xs, column, colSpan)
          : [{ segments: words, colSpan, rowSpan }]
      })
    )
    .filter((row) => row.length > 0)
  const all = grid.rows.flat().length
  const several = tableRows.filter((row) => row.length > 1).length
  if (all < 4 || filled < FILLED * all || filled < 3 || several < 2) return undefined
  const most = greatest(tableRows.map((row) => row.filter((cell) => cell.segments.length > 0).length))
  if (columns > MOST_SPANNED * most) return undefined
  const { body, unsure } = finished(tableRows, single, xs, context.words)
  const made = (...[of, given]: [typeof body, number?]): Table => ({
    ...tableOf(of, context, given),
    ...(unsure && { unsure: true as const })
  })
  const isWhole = body[0]?.reduce((sum, { colSpan }) => sum + colSpan, 0) === columns
  const isHead = (names: ReadonlyArray<RawCell>) => nameColumns(names, body, context.fonts)
  const head = isWhole
    ? headsAbove(
        segments.filter((one) => !others.has(one)),
        xs,
        box.y0,
        isHead
      )
    : []
  if (head.length === 0) return { placed: { block: made(body), ...box }, taken }
  const names = head.flatMap((cell) => cell.segments)
  const y0 = least(names.map((name) => name.y0))
  return {
    placed: { block: made([head, ...body], 1), ...box, y0: Math.min(box.y0, y0) },
    taken: [...taken, ...names]
  }
}

/** True for one rule each way: below the column names and right of the row names. White space separates the rest. */
const isCross = ({ across, down }: Rules): boolean =>
  placesOf(across).length === 1 && placesOf(down).length === 1

interface PageRules {
  readonly drawings: ReadonlyArray<Drawing>
  readonly width: number
  readonly height: number
}

/** A page's rules, without those of words' grounds. */
const rulesOn = (
  page: PageRules,
  segments: ReadonlyArray<Segment>
): { readonly drawings: ReadonlyArray<Drawing>; readonly rules: Rules } => {
  const drawings = withPaddedGrounds(withoutWordGrounds(page.drawings, segments))
  return { drawings, rules: rulesOf(drawings, page.width, page.height) }
}

/** The grids of a page's rules, whatever their content; computed once, and at first without the sides of boxes. */
export const gridsOf = (page: PageRules, segments: ReadonlyArray<Segment>): (() => ReadonlyArray<Grid>) => {
  let found: ReadonlyArray<Grid> | undefined
  return () => {
    if (found !== undefined) return found
    const { across, down } = rulesOn(page, segments).rules
    const isLine = ({ side }: Rule): boolean => side !== true
    const lines = { across: across.filter(isLine), down: down.filter(isLine) }
    found = [lines, { across, down }]
      .flatMap(networks)
      .flatMap((network) => gridOf(borders(closedBySides(closedRules(network, page.width)))) ?? [])
    return found
  }
}

const columnsOf = ({ rows: [first = []] }: Table): number =>
  first.reduce((sum, { colSpan }) => sum + colSpan, 0)

/** A cell as a name, which is bold by itself. */
const asName = (cell: Cell): Cell => ({
  ...cell,
  header: "column",
  blocks: cell.blocks.map((block) =>
    block.kind === "paragraph"
      ? { ...block, spans: block.spans.map((span) => ({ ...span, bold: false })) }
      : block
  )
})

/** A table together with its head, where that was drawn as a separate grid: all bold, with the same columns. */
const withHeadAbove = (
  above: RuledTable | undefined,
  below: RuledTable,
  fonts: InlineContext["fonts"]
): RuledTable | undefined => {
  if (above?.placed.block.kind !== "table" || below.placed.block.kind !== "table") return undefined
  const [head, body] = [above.placed.block, below.placed.block]
  const gap = below.placed.y0 - above.placed.y1
  const isHead =
    Math.abs(above.placed.x0 - below.placed.x0) < NEAR &&
    Math.abs(above.placed.x1 - below.placed.x1) < NEAR &&
    gap > -NEAR &&
    gap < HEADS_ABOVE * (above.taken[0]?.size ?? 0) &&
    columnsOf(head) === columnsOf(body) &&
    body.headRows === 0 &&
    above.taken.every((one) => isBoldThroughout(one, fonts)) &&
    !below.taken.every((one) => isBoldThroughout(one, fonts))
  if (!isHead) return undefined
  const names = head.rows.map((row) => row.map(asName))
  const block: Table = { ...body, rows: [...names, ...body.rows], headRows: names.length }
  return {
    placed: { block, ...hull([above.placed, below.placed]) },
    taken: [...above.taken, ...below.taken]
  }
}

/** The page's tables that rules show, and the segments that they hold. */
export const ruledTables = (
  page: PageRules,
  segments: ReadonlyArray<Segment>,
  context: InlineContext
): { readonly placed: ReadonlyArray<Placed>; readonly taken: ReadonlySet<Segment> } => {
  const { drawings, rules } = rulesOn(page, segments)
  const tables: Array<RuledTable> = []
  const taken = new Set<Segment>()
  const accept = (found: RuledTable | undefined) => {
    if (found === undefined || found.taken.some((segment) => taken.has(segment))) return
    tables.push(found)
    for (const segment of found.taken) taken.add(segment)
  }
  // From the top down: a grid takes no names that a grid above it has.
  const words = segments.filter(hasWords)
  for (const network of withRowsBetween(networks(rules), words)) {
    if (isCross(network)) continue
    const drawn = closedRules(network, page.width)
    const closed = closedBySides(drawn)
    const grid = withHead(borders(closed), rules, segments)
    // A table with drawn sides has its columns drawn, too.
    const isOpen = closed.down.length > drawn.down.length
    accept(gridTable(isOpen ? withColumns(grid, segments) : grid, segments, context, taken))
  }
  const pictures = segments.filter(({ picture }) => picture !== undefined)
  const level = [...rules.across, ...barsOf(drawings)]
  for (const grid of rowGrids(level, words)) accept(gridTable(grid, [...words, ...pictures], context, taken))
  const open = { across: rules.across, segments: words, context, height: page.height }
  for (const found of openTables(open)) accept(found)
  const whole: Array<RuledTable> = []
  for (const table of tables.toSorted((a, b) => a.placed.y0 - b.placed.y0)) {
    const at = whole.findLastIndex((one) => withHeadAbove(one, table, context.fonts) !== undefined)
    const both = withHeadAbove(whole[at], table, context.fonts)
    if (both === undefined) whole.push(table)
    else whole[at] = both
  }
  return { placed: whole.map(({ placed }) => placed), taken }
}
