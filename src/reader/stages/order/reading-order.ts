import { liesIn, acrossOf, middleX, middleY } from "../../model/geometry.ts"
import { append, greatest, least } from "../../model/lists.ts"
import type { Box } from "../../model/page-content.ts"
import type { Placed } from "../../model/placed.ts"
import type { Segment } from "../lines/segment.ts"
import { besideNarrow } from "./beside-narrow.ts"
import { SLACK } from "./boxes.ts"
import { frontBlock } from "./front-block.ts"
import { type Atom, gutterOf, crossesGutter } from "./gutters.ts"

/** Text of one column, or a placed block, in reading order. */
export type Leaf =
  | {
      readonly kind: "text"
      readonly segments: ReadonlyArray<Segment>
      readonly x0: number
      readonly x1: number
    }
  | { readonly kind: "placed"; readonly placed: Placed }

/** How often regions are cut again. A page has two or three levels; more is noise. */
const MAX_DEPTH = 7
/** White space that separates regions, in sizes of running text. */
const BAND_GAP = 1.7

/** The short last line of a paragraph that crosses the gutter belongs to it, though it does not cross itself. */
const withLastLines = (spanning: ReadonlySet<Atom>, sorted: ReadonlyArray<Atom>): ReadonlySet<Atom> => {
  const all = new Set(spanning)
  for (const [index, atom] of sorted.entries()) {
    if (spanning.has(atom) || atom.segment === undefined) continue
    const above = sorted[index - 1]
    const below = sorted[index + 1]
    if (above?.segment === undefined || !spanning.has(above)) continue
    const { size } = atom.segment
    const alone = below === undefined || below.baseline - atom.baseline > 0.5 * size
    const near = atom.baseline - above.baseline < 1.5 * size && Math.abs(above.segment.size - size) < 0.5
    if (alone && near && Math.abs(atom.x0 - above.x0) < 2 * size) all.add(atom)
  }
  return all
}

const byPlace = (a: Atom, b: Atom): number => a.baseline - b.baseline || a.x0 - b.x0

/** Height of the slots in which neighbours across a gutter are looked for, points. */
const ROW_SLOT = 2
/** Tallest page in slots. */
const MAX_SLOTS = 7200

/**
 * The atoms that span both columns. One that crosses the gutter next to text of the other column only sticks out of its
 * column.
 */
const spanningAtoms = (atoms: ReadonlyArray<Atom>, at: number): ReadonlySet<Atom> => {
  const beside = new Set<number>()
  for (const atom of atoms) {
    if (crossesGutter(atom, at) || atom.segment === undefined) continue
    for (
      let y = Math.floor(atom.y0 / ROW_SLOT) + 1;
      y < Math.min(atom.y1 / ROW_SLOT, atom.y0 / ROW_SLOT + 50);
      y++
    )
      beside.add(y)
  }
  const isBeside = ({ y0, y1 }: Atom): boolean => {
    const from = Math.round(y0 / ROW_SLOT) + 1
    const to = Math.min(Math.round(y1 / ROW_SLOT) - 1, from + MAX_SLOTS)
    let slots = 0
    for (let y = from; y <= to; y++) if (beside.has(y)) slots += 1
    return slots > 0.4 * (to - from + 1)
  }
  return new Set(atoms.filter((atom) => crossesGutter(atom, at) && !isBeside(atom)))
}

/** What is read with. */
interface Setting {
  readonly bodySize: number
  readonly boxes: ReadonlyArray<Box>
}

/** The atoms above a box, left of it, in it, right of it and below; undefined where no atom is at its side. */
const parted = (atoms: ReadonlyArray<Atom>, box: Box): ReadonlyArray<ReadonlyArray<Atom>> | undefined => {
  const parts = Object.groupBy(atoms, (atom) => {
    if (liesIn(atom, box, SLACK)) return "inside"
    const middle = middleY(atom)
    if (middle < box.y0) return "above"
    if (middle > box.y1) return "below"
    return middleX(atom) < middleX(box) ? "left" : "right"
  })
  const { above = [], below = [], inside = [], left = [], right = [] } = parts
  return inside.length > 0 && left.length + right.length > 0 ? [above, left, inside, right, below] : undefined
}

/**
 * Atoms from top to bottom; the lines of a box together, where others are at its side. `x1`: right edge of the column's
 * lines.
 */
const leavesOf = (
  atoms: ReadonlyArray<Atom>,
  boxes: ReadonlyArray<Box>,
  x1 = acrossOf(atoms).x1
): Array<Leaf> => {
  for (const [index, box] of boxes.entries()) {
    const parts = parted(atoms, box)
    if (parts !== undefined) return parts.flatMap((part) => leavesOf(part, boxes.slice(index + 1), x1))
  }
  const leaves: Array<Leaf> = []
  let segments: Array<Segment> = []
  const { x0 } = acrossOf(atoms)
  const close = () => {
    if (segments.length > 0) leaves.push({ kind: "text", segments, x0, x1 })
    segments = []
  }
  for (const { placed, segment } of [...atoms].sort(byPlace)) {
    if (segment !== undefined) segments.push(segment)
    if (placed === undefined) continue
    close()
    leaves.push({ kind: "placed", placed })
  }
  close()
  return leaves
}

/** Cuts at white space that spans the whole width. */
const bandsOf = (atoms: ReadonlyArray<Atom>, bodySize: number): ReadonlyArray<ReadonlyArray<Atom>> => {
  const sorted = [...atoms].sort((a, b) => a.y0 - b.y0)
  const bands: Array<Array<Atom>> = []
  let bottom = -Infinity
  for (const atom of sorted) {
    if (bands.length === 0 || atom.y0 - bottom > BAND_GAP * bodySize) bands.push([])
    bands.at(-1)?.push(atom)
    bottom = Math.max(bottom, atom.y1)
  }
  return bands.map((band) => band.sort((a, b) => a.order - b.order))
}

const inStream = (atoms: ReadonlyArray<Atom>) => atoms.toSorted((a, b) => a.order - b.order)

/** What spans both columns, and the columns between, one after the other. */
const columnsAt = (
  gutter: number,
  atoms: ReadonlyArray<Atom>,
  setting: Setting,
  depth: number
): ReadonlyArray<Leaf> => {
  const sorted = [...atoms].sort(byPlace)
  const spanning = withLastLines(spanningAtoms(sorted, gutter), sorted)
  const leaves: Array<Leaf> = []
  let across: Array<Atom> = []
  let left: Array<Atom> = []
  let right: Array<Atom> = []
  const closeColumns = () => {
    if (left.length > 0) append(leaves, ordered(inStream(left), setting, depth + 1))
    if (right.length > 0) append(leaves, ordered(inStream(right), setting, depth + 1))
    left = []
    right = []
  }
  const closeAcross = () => {
    if (across.length > 0) append(leaves, leavesOf(across, setting.boxes))
    across = []
  }
  for (const atom of sorted) {
    if (spanning.has(atom)) {
      closeColumns()
      across.push(atom)
    } else {
      closeAcross()
      ;(middleX(atom) < gutter ? left : right).push(atom)
    }
  }
  closeColumns()
  closeAcross()
  return leaves
}

const ordered = (atoms: ReadonlyArray<Atom>, setting: Setting, depth: number): Array<Leaf> => {
  const { bodySize, boxes } = setting
  const gutter = depth < MAX_DEPTH ? gutterOf(atoms, bodySize) : undefined
  if (gutter === undefined) {
    const beside = depth < MAX_DEPTH ? besideNarrow(atoms) : undefined
    if (beside !== undefined)
      return [beside.before, beside.narrow, beside.after].flatMap((part) => ordered(part, setting, depth + 1))
    if (depth >= MAX_DEPTH || atoms.length < 8) return leavesOf(atoms, boxes)
    const bands = bandsOf(atoms, bodySize)
    if (bands.length < 2) return leavesOf(atoms, boxes)
    const cut = bands.map((band) => ({
      whole: gutterOf(band, bodySize) === undefined,
      band
    }))
    if (cut.every(({ whole }) => whole)) return leavesOf(atoms, boxes)
    const leaves: Array<Leaf> = []
    let plainAtoms: Array<Atom> = []
    for (const { band, whole } of cut) {
      if (whole) append(plainAtoms, band)
      else {
        append(leaves, leavesOf(plainAtoms, boxes))
        append(leaves, ordered(band, setting, depth + 1))
        plainAtoms = []
      }
    }
    return [...leaves, ...leavesOf(plainAtoms, boxes)]
  }
  const [front, rest] = frontBlock(atoms, gutter, bodySize) ?? [[], atoms]
  return [
    ...(front.length === 0 ? [] : columnsAt(gutter, front, setting, depth)),
    ...(front.length === 0
      ? columnsAt(gutter, rest, setting, depth)
      : ordered(inStream(rest), setting, depth + 1))
  ]
}

/** Greatest difference between the tops of regions that begin side by side, points. */
const SAME_TOP = 6

/** True when two regions begin at one height, whatever their lengths, or are the same one: they are read from the left. */
const startsBeside = (one: Placed, other: Placed): boolean =>
  one === other || (Math.abs(one.y0 - other.y0) < SAME_TOP && (one.x1 <= other.x0 || one.x0 >= other.x1))

/** Hints about the reading order. */
interface Hints {
  /** Whether a segment is set in typewriter. */
  readonly isCode?: (segment: Segment) => boolean
  /** What holds lines that are read together. */
  readonly boxes?: ReadonlyArray<Box>
}

/**
 * Puts a page's text and placed blocks in the order in which they are read. O(n log n) at each of at most seven cuts, and linear for
 * each box.
 */
export const readingOrder = (
  segments: ReadonlyArray<Segment>,
  placed: ReadonlyArray<Placed>,
  bodySize: number,
  { boxes = [], isCode = () => false }: Hints = {}
): ReadonlyArray<Leaf> => {
  const atoms: Array<Atom> = segments.map((segment) => {
    const { baseline, characters, order, x0, x1, y0, y1 } = segment
    const code = isCode(segment)
    return { x0, y0, x1, y1, baseline, order, characters, code, segment, placed: undefined }
  })
  const last = greatest([0, ...segments.map(({ order }) => order)]) + 1
  for (const [index, one] of placed.entries()) {
    const { order = last + index, x0, x1, y0, y1 } = one
    const baseline = least(placed.flatMap((other) => (startsBeside(other, one) ? middleY(other) : [])))
    const noText = { characters: 0, code: false, segment: undefined }
    atoms.push({ x0, y0, x1, y1, baseline, order, ...noText, placed: one })
  }
  return ordered(inStream(atoms), { bodySize, boxes }, 0)
}
