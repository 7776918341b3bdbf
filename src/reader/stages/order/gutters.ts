import { acrossOf, crosses } from "../../model/geometry.ts"
import { median, least, greatest } from "../../model/lists.ts"
import type { Box } from "../../model/page-content.ts"
import type { Placed } from "../../model/placed.ts"
import { piecesOf, type Segment } from "../lines/segment.ts"
import { hasBigOperator } from "../regions/formulas/mathematical.ts"

/** What is put in order. */
export interface Atom extends Box {
  readonly baseline: number
  readonly order: number
  readonly characters: number
  /** Set in typewriter. */
  readonly code: boolean
  readonly segment: Segment | undefined
  readonly placed: Placed | undefined
}

/**
 * Width of the slots into which the page's width is divided, in points; and their greatest number, since damaged text
 * may be anywhere.
 */
const SLOT = 2
const MOST_SLOTS = 7200
/** Narrowest gutter, in sizes of running text. */
const GUTTER = 0.8
/** Narrowest gutter between columns that are drawn one after the other, in sizes of its text. */
const FREE_GUTTER = 0.55
/** Largest part of the text's height that may cross a gutter. */
const CROSSING = 0.4
/** Part of the text's height up to which a slot counts to the gutter's width. */
const NEARLY_FREE = 0.25
/** Share of moves along rows from which on lines are a table, not columns. */
const ROW_MOVES = 0.25

/** True when an atom is on both sides of a gutter. */
export const crossesGutter = (atom: Atom, at: number): boolean => crosses(atom, at, 1)

/** Height of text over each slot of the width. */
interface Projection {
  readonly heights: Float64Array
  /** Width of a slot, points. */
  readonly slot: number
}

/** By differences: linear. */
const projection = (atoms: ReadonlyArray<Atom>, x0: number, x1: number): Projection => {
  const width = Math.max(SLOT, (x1 - x0) / MOST_SLOTS)
  const slots = Math.max(1, Math.ceil((x1 - x0) / width))
  const changes = new Float64Array(slots + 1)
  for (const atom of atoms) {
    const height = Math.max(0, atom.y1 - atom.y0)
    const from = Math.min(slots, Math.max(0, Math.floor((atom.x0 - x0) / width)))
    const to = Math.min(slots, Math.max(from, Math.ceil((atom.x1 - x0) / width)))
    changes[from] = (changes[from] ?? 0) + height
    changes[to] = (changes[to] ?? 0) - height
  }
  for (let slot = 1; slot < slots; slot++) changes[slot] = (changes[slot] ?? 0) + (changes[slot - 1] ?? 0)
  return { heights: changes.subarray(0, slots), slot: width }
}

/** Totals of one side of a gutter. */
const emptySide = () => ({ atoms: 0, code: 0, characters: 0, top: Infinity, bottom: -Infinity })
type Side = ReturnType<typeof emptySide>

const addToSide = (side: Side, { characters, code, y0, y1 }: Atom): void => {
  side.atoms += 1
  if (code) side.code += 1
  side.characters += characters
  side.top = Math.min(side.top, y0)
  side.bottom = Math.max(side.bottom, y1)
}

/** Least number and mean length of lines in a column of prose that is drawn row by row. */
const PROSE_LINES = 5
const PROSE_LENGTH = 28

const isProse = ({ atoms, characters }: Side): boolean =>
  atoms > PROSE_LINES && characters / atoms > PROSE_LENGTH

/**
 * True when the atoms left and right of `at` are columns: read one after the other, not row by row. A narrow gutter parts
 * only columns of several lines that are drawn one after the other.
 */
const partsColumns = (atoms: ReadonlyArray<Atom>, at: number, isNarrow = false): boolean => {
  const [left, right] = [emptySide(), emptySide()]
  let rowMoves = 0
  let before: Atom | undefined
  const isLeft = ({ x1 }: Atom): boolean => x1 <= at + 1
  for (const atom of atoms) {
    if (crossesGutter(atom, at)) {
      before = undefined
      continue
    }
    addToSide(isLeft(atom) ? left : right, atom)
    // Along a row, or up again by a few lines to the next cell of it.
    const isMove = !isLeft(atom) && before !== undefined && isLeft(before)
    if (isMove && before !== undefined && atom.baseline >= before.baseline - 3 * (atom.y1 - atom.y0))
      rowMoves += 1
    before = atom
  }
  const sides = [left, right]
  if (sides.some((side) => side.atoms < 2)) return false
  const shared = Math.min(left.bottom, right.bottom) - Math.max(left.top, right.top)
  if (shared < 0.4 * least(sides.map(({ bottom, top }) => bottom - top))) return false
  if (isNarrow) return rowMoves <= 1 && sides.every((side) => side.atoms > PROSE_LINES)
  if (rowMoves <= Math.max(1, ROW_MOVES * Math.min(left.atoms, right.atoms))) return true
  // Drawn row by row, but the rows are lines of prose, and not of a listing with comments below each other.
  return sides.every(isProse) && !sides.every((side) => 2 * side.code > side.atoms)
}

/** Most characters of a display formula. */
const MAX_FORMULA = 80

/**
 * True when atoms are a display formula with a sum, an integral or the like, which may have wide gaps but no columns.
 */
const isDisplay = (atoms: ReadonlyArray<Atom>): boolean =>
  atoms.reduce((sum, { characters }) => sum + characters, 0) <= MAX_FORMULA &&
  atoms.some(
    ({ segment }) => segment !== undefined && piecesOf([segment]).some(({ text }) => hasBigOperator(text))
  )

/** The x of the region's best gutter. `atoms` are in the order of the content stream. */
export const gutterOf = (atoms: ReadonlyArray<Atom>, bodySize: number): number | undefined => {
  if (atoms.length < 4 || isDisplay(atoms)) return undefined
  const { x0, x1 } = acrossOf(atoms)
  if (x1 - x0 < 8 * bodySize) return undefined
  const projected = projection(atoms, x0, x1)
  const { heights, slot: each } = projected
  const most = greatest(heights)
  const candidates: Array<{
    readonly at: number
    readonly width: number
    readonly height: number
    readonly isNarrow: boolean
  }> = []
  let from: number | undefined
  for (let slot = 0; slot <= heights.length; slot++) {
    const low = slot < heights.length && (heights[slot] ?? 0) <= CROSSING * most
    if (low) from ??= slot
    else if (from !== undefined) {
      const valley = heights.subarray(from, slot)
      const lowest = least(valley)
      // The widest flat part at the valley's bottom.
      let start = 0
      let best = { start: 0, length: 0 }
      for (let at = 0; at <= valley.length; at++) {
        if (at < valley.length && (valley[at] ?? 0) <= lowest + 0.12 * most) continue
        if (at - start > best.length) best = { start, length: at - start }
        start = at + 1
      }
      const width = valley.filter((height) => height <= NEARLY_FREE * most).length * each
      const isNarrow = width < GUTTER * bodySize
      if (from > 0 && slot < heights.length && (!isNarrow || best.length * each >= FREE_GUTTER * bodySize))
        candidates.push({
          at: x0 + (from + best.start + best.length / 2) * each,
          width,
          height: lowest,
          isNarrow
        })
      from = undefined
    }
  }
  candidates.sort((a, b) => a.height - b.height || b.width - a.width)
  return (
    candidates.slice(0, 4).find(({ at, isNarrow }) => partsColumns(atoms, at, isNarrow))?.at ??
    besideShort(atoms, projected, x0, Math.min(bodySize, sizeOf(atoms)))
  )
}

/** The size of most lines: small print has narrow gutters. */
const sizeOf = (atoms: ReadonlyArray<Atom>): number =>
  median(atoms.flatMap(({ segment }) => segment?.size ?? [])) ?? Infinity

/** Least number of lines in a short column, and least number of letters in such a line. */
const SHORT_LINES = 3
const SHORT_LETTERS = 28
/** White stripes that are tried. */
const MOST_TRIED = 8
/** Sums of heights are not exact. */
const FREE = 0.01
/** Slots that it has only in part: it begins within one and ends within another. */
const CUT_SLOTS = 2

/** The gutter next to a column of a few lines, which no atom crosses: the last page of a text in two columns. */
const besideShort = (
  atoms: ReadonlyArray<Atom>,
  { heights, slot: each }: Projection,
  x0: number,
  bodySize: number
): number | undefined => {
  let from: number | undefined
  let tried = 0
  for (let slot = 0; slot < heights.length && tried < MOST_TRIED; slot++) {
    if ((heights[slot] ?? 0) < FREE) {
      from ??= slot
      continue
    }
    if (from !== undefined && (slot - from + CUT_SLOTS) * each >= FREE_GUTTER * bodySize) {
      tried += 1
      const at = x0 + ((from + slot) / 2) * each
      const [left, right] = [atoms.filter(({ x1 }) => x1 <= at), atoms.filter((atom) => atom.x0 >= at)]
      const isText =
        acrossOf(right).x0 - acrossOf(left).x1 >= FREE_GUTTER * bodySize &&
        [left, right].every(
          (side) => side.filter(({ characters }) => characters >= SHORT_LETTERS).length >= SHORT_LINES
        )
      if (isText && partsColumns(atoms, at)) return at
    }
    from = undefined
  }
  return undefined
}
