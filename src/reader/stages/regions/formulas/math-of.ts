import { hull, middleX, middleY, liesIn } from "../../../model/geometry.ts"
import { element, type HtmlElement, isElement, textOf } from "../../../model/html-tree.ts"
import { greatest, least } from "../../../model/lists.ts"
import type { Box, FontFace } from "../../../model/page-content.ts"
import type { Piece } from "../../lines/segment.ts"
import { built, isLevelFraction, withHungRoots } from "./bars.ts"
import { LineOfSigns, withBrackets } from "./brackets.ts"
import { BIG_OPERATOR, LIMITED, RELATION } from "./mathematical.ts"
import { withOverArrows } from "./over-arrows.ts"
import {
  AXIS,
  CLOSE,
  isTallSign,
  type Item,
  itemsOf,
  mainLine,
  mainSize,
  OPEN,
  SCRIPT,
  scriptedBy,
  withAccents,
  withDots,
  withPoints,
  withoutTwins
} from "./signs.ts"

/** The geometry is not understood. */
class Unclear extends Error {}

/** Limits on signs and on depth of one formula. */
const MAX_ITEMS = 400
const MAX_DEPTH = 9
/** Greatest difference of equal baselines, in font sizes; the second for small signs, with hardly lower scripts. */
const LEVEL = 0.14
const LEVEL_SMALL = 0.03
/** Taller brackets hold several lines, in font sizes. */
const TALL = 1.9

const row = (nodes: ReadonlyArray<HtmlElement>): HtmlElement => {
  const [only] = nodes
  return nodes.length === 1 && only !== undefined ? only : element("mrow", {}, nodes)
}

/** Combines the items over and under bars, the widest bar first: bars within its parts belong to them. */
const withBars = (
  items: ReadonlyArray<Item>,
  bars: ReadonlyArray<Box>,
  depth: number
): ReadonlyArray<Item> => {
  let left = items
  const used = new Set<Box>()
  const widest = [...bars].sort((a, b) => b.x1 - b.x0 - (a.x1 - a.x0))
  for (const bar of widest) {
    if (used.has(bar)) continue
    used.add(bar)
    const one = built(left, bar, (part) => {
      const box = hull(part)
      const isOver = (its: Box): boolean => middleY(its) < middleY(bar)
      const inner = widest.filter(
        (other) => !used.has(other) && liesIn(other, box, 3) && isOver(other) === isOver(box)
      )
      for (const its of inner) used.add(its)
      return parse([...part], inner, depth + 1)
    })
    if (one === undefined) continue
    const { baseline, node, taken } = one
    const size = mainSize(taken)
    const rest = new Set(taken)
    left = [
      ...left.filter((item) => !rest.has(item)),
      { ...hull([bar, ...taken]), baseline, size, node, text: "" }
    ]
  }
  return left
}

/** True when the words over or under a relation are centred on it: scripts of a neighbouring sign are not. */
const areOver = (words: ReadonlyArray<Item>, relation: Item): boolean =>
  Math.abs(middleX(hull(words)) - middleX(relation)) < 0.25 * relation.size

/** How far a sign's middle is from another's, across. */
const aside = (a: Item, b: Item): number => Math.abs(middleX(a) - middleX(b))

/** Puts limits over and under big operators and functions that have some, and words over and under relations. */
const withLimits = (items: ReadonlyArray<Item>, depth: number): ReadonlyArray<Item> => {
  let left = items
  const size = mainSize(items)
  const isOperator = ({ text }: Item): boolean => BIG_OPERATOR.test(text) || LIMITED.has(text)
  const operators = items.filter(isOperator)
  for (const operator of items.filter((item) => isOperator(item) || RELATION.test(item.text))) {
    if (!left.includes(operator)) continue
    // Limits of adjacent operators are as near to each other as those of one.
    const isAnothers = (item: Item): boolean =>
      operators.some((other) => other !== operator && aside(other, item) < aside(operator, item))
    const line = Math.min(operator.size, size)
    const away = (above: boolean): ReadonlyArray<Item> => {
      const near = left
        .filter(
          (item) =>
            item !== operator &&
            item.size < SCRIPT * line &&
            (above
              ? middleY(item) < operator.y0 + 0.12 * operator.size
              : middleY(item) > operator.y1 - 0.12 * operator.size) &&
            !isAnothers(item) &&
            Math.abs(above ? operator.y0 - item.y1 : item.y0 - operator.y1) < 1.1 * operator.size
        )
        .sort((a, b) => aside(operator, a) - aside(operator, b))
      const taken: Array<Item> = []
      let [x0, x1] = [operator.x0, operator.x1]
      for (const item of near) {
        if (item.x0 - x1 > 0.35 * operator.size || x0 - item.x1 > 0.35 * operator.size) continue
        taken.push(item)
        ;[x0, x1] = [Math.min(x0, item.x0), Math.max(x1, item.x1)]
      }
      if (RELATION.test(operator.text)) return taken.length > 0 && areOver(taken, operator) ? taken : []
      // Scripts to the right of an operator begin where it ends.
      return taken.some((item) => item.x0 < operator.x1 - 0.15 * operator.size) ? taken : []
    }
    const [over, under] = [away(true), away(false)]
    if (over.length === 0 && under.length === 0) continue
    const parts = [
      operator.node,
      ...(under.length === 0 ? [] : [parse([...under], [], depth + 1)]),
      ...(over.length === 0 ? [] : [parse([...over], [], depth + 1)])
    ]
    const name = over.length === 0 ? "munder" : under.length === 0 ? "mover" : "munderover"
    const taken = new Set([operator, ...over, ...under])
    // What follows is compared with the operator, not with its limits.
    const whole: Item = {
      ...operator,
      size: line,
      x0: least([...taken].map(({ x0 }) => x0)),
      x1: greatest([...taken].map(({ x1 }) => x1)),
      node: element(name, {}, parts),
      // It is as tall as before.
      text: isTallSign(operator.text) ? operator.text : ""
    }
    left = [...left.filter((item) => !taken.has(item)), whole]
  }
  return left
}

/** Rows of signs of one size; scripts belong to the nearest. */
const rowsOf = (items: ReadonlyArray<Item>): ReadonlyArray<ReadonlyArray<Item>> => {
  const size = mainSize(items)
  const main = items.filter((item) => item.size > SCRIPT * size).sort((a, b) => a.baseline - b.baseline)
  const rows: Array<{ baseline: number; readonly items: Array<Item> }> = []
  for (const item of main) {
    const last = rows.at(-1)
    if (last !== undefined && item.baseline - last.baseline < 0.35 * size) last.items.push(item)
    else rows.push({ baseline: item.baseline, items: [item] })
  }
  for (const item of items) {
    if (item.size > SCRIPT * size) continue
    const nearest = rows.reduce<(typeof rows)[number] | undefined>(
      (best, one) =>
        best === undefined ||
        Math.abs(one.baseline - AXIS * size - middleY(item)) <
          Math.abs(best.baseline - AXIS * size - middleY(item))
          ? one
          : best,
      undefined
    )
    nearest?.items.push(item)
  }
  return rows.map((one) => one.items)
}

/** White space between cells of a row, and between columns, in font sizes: wider than a space between words. */
const CELL = 0.95
const COLUMN = 0.45

/** Cuts items from left to right where white space is wider. */
const cellsOf = (items: ReadonlyArray<Item>, space: number): ReadonlyArray<ReadonlyArray<Item>> => {
  const cells: Array<Array<Item>> = []
  let end = -Infinity
  for (const item of [...items].sort((a, b) => a.x0 - b.x0)) {
    if (cells.length === 0 || item.x0 - end > space) cells.push([])
    cells.at(-1)?.push(item)
    end = Math.max(end, item.x1)
  }
  return cells
}

/** Rows as cells below one another: white space in all of them separates columns. Else each row has separate cells. */
const gridOf = (
  rows: ReadonlyArray<ReadonlyArray<Item>>
): ReadonlyArray<ReadonlyArray<ReadonlyArray<Item>>> => {
  const size = mainSize(rows.flat())
  const own = rows.map((one) => cellsOf(one, CELL * size))
  const starts = cellsOf(rows.flat(), COLUMN * size).map((column) => least(column.map(({ x0 }) => x0)))
  if (starts.length < greatest(own.map(({ length }) => length))) return own
  return rows.map((one) =>
    starts.map((start, at) => one.filter(({ x0 }) => x0 >= start && x0 < (starts[at + 1] ?? Infinity)))
  )
}

const tableOf = (rows: ReadonlyArray<ReadonlyArray<Item>>, depth: number): HtmlElement =>
  element(
    "mtable",
    {},
    gridOf(rows).map((cells) =>
      element(
        "mtr",
        {},
        cells.map((cell) => element("mtd", {}, cell.length === 0 ? [] : [parse([...cell], [], depth + 1)]))
      )
    )
  )

/** Combines several lines between tall brackets: a matrix, a binomial, cases. */
const withTables = (items: ReadonlyArray<Item>, depth: number): ReadonlyArray<Item> => {
  let left = items
  for (;;) {
    const size = mainSize(left)
    const tall = ({ y0, y1 }: Item) => y1 - y0 > TALL * size
    const sorted = [...left].sort((a, b) => a.x0 - b.x0)
    const start = sorted.findLastIndex((item, at) => {
      if (!(OPEN.test(item.text) || item.text === "|") || !tall(item)) return false
      const end = closing(sorted, at, tall)
      return rowsOf(sorted.slice(at + 1, end)).length > 1
    })
    const open = sorted[start]
    if (start < 0 || open === undefined) return left
    const end = closing(sorted, start, tall)
    const inside = sorted.slice(start + 1, end)
    const close = sorted[end]
    const node = element("mrow", {}, [
      open.node,
      tableOf(rowsOf(inside), depth),
      ...(close === undefined ? [] : [close.node])
    ])
    const taken = new Set([open, ...inside, ...(close === undefined ? [] : [close])])
    const box = hull([...taken])
    left = [
      ...left.filter((item) => !taken.has(item)),
      { ...box, baseline: open.baseline, size: open.size, node, text: "" }
    ]
  }
}

const closing = (sorted: ReadonlyArray<Item>, start: number, tall: (item: Item) => boolean): number => {
  const end = sorted.findIndex(
    (item, at) => at > start && (CLOSE.test(item.text) || item.text === "|") && tall(item)
  )
  return end < 0 ? sorted.length : end
}

/** A line: signs side by side, each with its scripts. */
const lineOf = (items: ReadonlyArray<Item>, depth: number): HtmlElement => {
  const sorted = [...items].sort((a, b) => a.x0 - b.x0)
  const size = mainSize(sorted)
  const baseline = mainLine(sorted)
  const line = new LineOfSigns()
  for (let at = 0; at < sorted.length;) {
    const item = sorted[at]
    if (item === undefined) break
    const isMain = (one: Item): boolean =>
      Math.abs(one.baseline - baseline) < (one.size < SCRIPT * size ? LEVEL_SMALL : LEVEL) * size ||
      (one.text === "" && one.size > SCRIPT * size && Math.abs(one.baseline - baseline) < 0.45 * size) ||
      isLevelFraction(one, baseline, size) ||
      (isTallSign(one.text) && one.y1 - one.y0 > 1.2 * one.size)
    const [up, down]: [Array<Item>, Array<Item>] = [[], []]
    let next = at + (isMain(item) ? 1 : 0)
    for (let one = sorted[next]; one !== undefined; one = sorted[++next]) {
      const own = scriptedBy(one, [up, down], size)
      if (own === undefined && isMain(one)) break
      if (one.size > 0.93 * size) throw new Unclear()
      ;(own ?? (one.baseline < baseline ? up : down)).push(one)
    }
    const [base, text] = isMain(item) ? [item.node, item.text] : [element("mrow", {}), ""]
    at = next
    line.add(base, text, (whole) =>
      up.length + down.length === 0
        ? whole
        : element(up.length === 0 ? "msub" : down.length === 0 ? "msup" : "msubsup", {}, [
            whole,
            ...(down.length === 0 ? [] : [parse(down, [], depth + 1)]),
            ...(up.length === 0 ? [] : [parse(up, [], depth + 1)])
          ])
    )
  }
  return row(line.nodes)
}

const parse = (items: Array<Item>, bars: ReadonlyArray<Box>, depth: number): HtmlElement => {
  if (depth > MAX_DEPTH) throw new Unclear()
  const barred = withBars([...withBrackets(items, bars)], bars, depth)
  const arrowed = withOverArrows(withAccents(barred), (part) => parse([...part], [], depth + 1))
  const limited = withLimits(arrowed, depth)
  const whole = withTables(limited, depth)
  const rows = rowsOf(whole)
  if (rows.length < 2) return lineOf(whole, depth)
  // Lines one below the other must not reach into each other.
  for (const [at, below] of rows.entries()) {
    const above = rows[at - 1]
    if (above !== undefined && greatest(above.map(({ baseline }) => baseline)) > least(below.map(middleY)))
      throw new Unclear()
  }
  return element(
    "mtable",
    { columnalign: "left" },
    rows.map((one) => element("mtr", {}, [element("mtd", {}, [lineOf(one, depth)])]))
  )
}

/** Sorted letters and numbers. Accents are left out: some are separate signs, which Unicode counts as letters. */
const signsOf = (text: string): string =>
  [...(text.normalize("NFD").match(/[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/gu) ?? [])].sort().join("")

/** The formula that these pieces and bars are, as MathML; undefined where their places do not tell. */
export const mathOf = (
  pieces: ReadonlyArray<Piece>,
  bars: ReadonlyArray<Box>,
  fonts: ReadonlyArray<FontFace>
): HtmlElement | undefined => {
  const once = withoutTwins(pieces)
  const signs = once.flatMap((piece) => itemsOf(piece, fonts))
  // Three dots become one sign at most: more are too many in any case, and are not compared with one another.
  if (signs.length > 3 * MAX_ITEMS) return undefined
  const items = [...withDots(withPoints(signs))]
  if (items.length === 0 || items.length > MAX_ITEMS || bars.length > MAX_ITEMS) return undefined
  try {
    const inner = parse([...withHungRoots(items, bars)], bars, 0)
    const math = element("math", { display: "block" }, [inner])
    // Whatever the geometry: no letter and no number may be lost.
    return signsOf(textOf([math])) === signsOf(once.map(({ text }) => text).join("")) ? math : undefined
  } catch (error) {
    if (error instanceof Unclear) return undefined
    throw error
  }
}

/** Lines of one formula, below one another. */
export const stacked = (lines: ReadonlyArray<HtmlElement>): HtmlElement => {
  const rows = lines.flatMap(({ children }) => {
    const [inner] = children
    // A line may have been put together of several.
    if (isElement(inner) && inner.name === "mtable") return inner.children
    return [element("mtr", {}, [element("mtd", {}, children)])]
  })
  const table = element("mtable", { columnalign: "left", displaystyle: "true" }, rows)
  return element("math", { display: "block" }, [table])
}
