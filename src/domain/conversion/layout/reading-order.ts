import { append } from "../../lists.ts"
import type { Block } from "./blocks/block.ts"
import type { Segment } from "./lines/segment.ts"

/** A block that is recognised before the text around it is read: a table, a figure. Its box determines its place. */
export interface Placed {
  readonly block: Block
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
}

/** Text of one column, or a placed block, in reading order. */
type Leaf =
  | {
      readonly kind: "text"
      readonly segments: ReadonlyArray<Segment>
      readonly x0: number
      readonly x1: number
    }
  | { readonly kind: "placed"; readonly placed: Placed }

/** What is put in order. */
interface Atom {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  readonly baseline: number
  readonly order: number
  readonly characters: number
  readonly segment: Segment | undefined
  readonly placed: Placed | undefined
}

/** How often regions are cut again. A page has two or three levels; more is noise. */
const MAX_DEPTH = 7
/** Width of the slots in which the page's width is looked at, points. */
const SLOT = 2
/** Narrowest gutter, in sizes of running text. */
const GUTTER = 0.8
/** Largest part of the text's height that may cross a gutter. */
const CROSSING = 0.4
/** Part of the text's height up to which a slot counts to the gutter's width. */
const NEARLY_FREE = 0.25
/** Share of moves along rows from which on lines are a table, not columns. */
const ROW_MOVES = 0.25
/** White space that separates regions, in sizes of running text. */
const BAND_GAP = 1.7

const BLANK: Pick<Atom, "x0" | "x1"> = { x0: Infinity, x1: -Infinity }
const extent = (atoms: ReadonlyArray<Atom>): Pick<Atom, "x0" | "x1"> =>
  atoms.reduce((sum, { x0, x1 }) => ({ x0: Math.min(sum.x0, x0), x1: Math.max(sum.x1, x1) }), BLANK)

const crosses = ({ x0, x1 }: Atom, at: number): boolean => x0 < at - 1 && x1 > at + 1

/** Height of text over each slot of the width, by differences: linear. */
const projection = (atoms: ReadonlyArray<Atom>, x0: number, x1: number): Float64Array => {
  const slots = Math.max(1, Math.ceil((x1 - x0) / SLOT))
  const changes = new Float64Array(slots + 1)
  for (const atom of atoms) {
    const height = Math.max(0, atom.y1 - atom.y0)
    const from = Math.min(slots, Math.max(0, Math.floor((atom.x0 - x0) / SLOT)))
    const to = Math.min(slots, Math.max(from, Math.ceil((atom.x1 - x0) / SLOT)))
    changes[from] = (changes[from] ?? 0) + height
    changes[to] = (changes[to] ?? 0) - height
  }
  for (let slot = 1; slot < slots; slot++) changes[slot] = (changes[slot] ?? 0) + (changes[slot - 1] ?? 0)
  return changes.subarray(0, slots)
}

/** Whether what is left and right of `at` are columns: read one after the other, not row by row. */
const partsColumns = (atoms: ReadonlyArray<Atom>, at: number): boolean => {
  let left = 0
  let right = 0
  let leftText = 0
  let rightText = 0
  let leftTop = Infinity
  let leftBottom = -Infinity
  let rightTop = Infinity
  let rightBottom = -Infinity
  let rowMoves = 0
  let before: Atom | undefined
  for (const atom of atoms) {
    if (crosses(atom, at)) {
      before = undefined
      continue
    }
    if (atom.x1 <= at + 1) {
      left += 1
      leftText += atom.characters
      leftTop = Math.min(leftTop, atom.y0)
      leftBottom = Math.max(leftBottom, atom.y1)
    } else {
      right += 1
      rightText += atom.characters
      rightTop = Math.min(rightTop, atom.y0)
      rightBottom = Math.max(rightBottom, atom.y1)
      // Along a row, or up again by a few lines to the next cell of it.
      if (
        before !== undefined &&
        before.x1 <= at + 1 &&
        atom.baseline >= before.baseline - 3 * (atom.y1 - atom.y0)
      )
        rowMoves += 1
    }
    before = atom
  }
  if (left < 2 || right < 2) return false
  const shared = Math.min(leftBottom, rightBottom) - Math.max(leftTop, rightTop)
  if (shared < 0.4 * Math.min(leftBottom - leftTop, rightBottom - rightTop)) return false
  if (rowMoves <= Math.max(1, ROW_MOVES * Math.min(left, right))) return true
  // Drawn row by row, but the rows are lines of prose.
  return left > 5 && right > 5 && leftText / left > 28 && rightText / right > 28
}

/** The x of the region's best gutter. `atoms` are in the order of the content stream. */
const gutterOf = (atoms: ReadonlyArray<Atom>, bodySize: number): number | undefined => {
  if (atoms.length < 4) return undefined
  const { x0, x1 } = extent(atoms)
  if (x1 - x0 < 8 * bodySize) return undefined
  const heights = projection(atoms, x0, x1)
  const most = heights.reduce((a, b) => Math.max(a, b), 0)
  const candidates: Array<{ readonly at: number; readonly width: number; readonly height: number }> = []
  let from: number | undefined
  for (let slot = 0; slot <= heights.length; slot++) {
    const low = slot < heights.length && (heights[slot] ?? 0) <= CROSSING * most
    if (low) from ??= slot
    else if (from !== undefined) {
      const valley = heights.subarray(from, slot)
      const least = valley.reduce((a, b) => Math.min(a, b), Infinity)
      // The widest flat part at the valley's bottom.
      let start = 0
      let best = { start: 0, length: 0 }
      for (let at = 0; at <= valley.length; at++) {
        if (at < valley.length && (valley[at] ?? 0) <= least + 0.12 * most) continue
        if (at - start > best.length) best = { start, length: at - start }
        start = at + 1
      }
      const width = valley.filter((height) => height <= NEARLY_FREE * most).length * SLOT
      if (from > 0 && slot < heights.length && width >= GUTTER * bodySize)
        candidates.push({ at: x0 + (from + best.start + best.length / 2) * SLOT, width, height: least })
      from = undefined
    }
  }
  candidates.sort((a, b) => a.height - b.height || b.width - a.width)
  return candidates.slice(0, 4).find(({ at }) => partsColumns(atoms, at))?.at
}

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
 * The atoms that go over both columns. One that crosses the gutter beside text of the other column only sticks out of its own.
 */
const spanningAtoms = (atoms: ReadonlyArray<Atom>, at: number): ReadonlySet<Atom> => {
  const beside = new Set<number>()
  for (const atom of atoms) {
    if (crosses(atom, at) || atom.segment === undefined) continue
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
  return new Set(atoms.filter((atom) => crosses(atom, at) && !isBeside(atom)))
}

const leavesOf = (atoms: ReadonlyArray<Atom>): Array<Leaf> => {
  const leaves: Array<Leaf> = []
  let segments: Array<Segment> = []
  const { x0, x1 } = extent(atoms)
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

/** Merges leaves that are below one another without a gutter between: paragraphs continue over a band's border. */
const joined = (leaves: ReadonlyArray<Leaf>): Array<Leaf> => {
  const all: Array<Leaf> = []
  for (const leaf of leaves) {
    const last = all.at(-1)
    if (leaf.kind === "text" && last?.kind === "text")
      all[all.length - 1] = {
        kind: "text",
        segments: [...last.segments, ...leaf.segments],
        x0: Math.min(last.x0, leaf.x0),
        x1: Math.max(last.x1, leaf.x1)
      }
    else all.push(leaf)
  }
  return all
}

const ordered = (atoms: ReadonlyArray<Atom>, bodySize: number, depth: number): Array<Leaf> => {
  const gutter = depth < MAX_DEPTH ? gutterOf(atoms, bodySize) : undefined
  if (gutter === undefined) {
    if (depth >= MAX_DEPTH || atoms.length < 8) return leavesOf(atoms)
    const bands = bandsOf(atoms, bodySize)
    if (bands.length < 2) return leavesOf(atoms)
    const cut = bands.map((band) => ({
      whole: gutterOf(band, bodySize) === undefined,
      band
    }))
    if (cut.every(({ whole }) => whole)) return leavesOf(atoms)
    const leaves: Array<Leaf> = []
    let plainAtoms: Array<Atom> = []
    for (const { band, whole } of cut) {
      if (whole) append(plainAtoms, band)
      else {
        append(leaves, leavesOf(plainAtoms))
        append(leaves, ordered(band, bodySize, depth + 1))
        plainAtoms = []
      }
    }
    return [...leaves, ...leavesOf(plainAtoms)]
  }
  const sorted = [...atoms].sort(byPlace)
  const spanning = withLastLines(spanningAtoms(sorted, gutter), sorted)
  const leaves: Array<Leaf> = []
  let across: Array<Atom> = []
  let left: Array<Atom> = []
  let right: Array<Atom> = []
  const inStream = (of: Array<Atom>) => of.sort((a, b) => a.order - b.order)
  const closeColumns = () => {
    if (left.length > 0) append(leaves, ordered(inStream(left), bodySize, depth + 1))
    if (right.length > 0) append(leaves, ordered(inStream(right), bodySize, depth + 1))
    left = []
    right = []
  }
  const closeAcross = () => {
    if (across.length > 0) append(leaves, joined(leavesOf(across)))
    across = []
  }
  for (const atom of sorted) {
    if (spanning.has(atom)) {
      closeColumns()
      across.push(atom)
    } else {
      closeAcross()
      ;((atom.x0 + atom.x1) / 2 < gutter ? left : right).push(atom)
    }
  }
  closeColumns()
  closeAcross()
  return leaves
}

/** Puts a page's text and placed blocks in the order in which they are read. O(n log n) at each of at most seven cuts. */
export const readingOrder = (
  segments: ReadonlyArray<Segment>,
  placed: ReadonlyArray<Placed>,
  bodySize: number
): ReadonlyArray<Leaf> => {
  const atoms: Array<Atom> = segments.map((segment) => ({
    x0: segment.x0,
    y0: segment.y0,
    x1: segment.x1,
    y1: segment.y1,
    baseline: segment.baseline,
    order: segment.order,
    characters: segment.characters,
    segment,
    placed: undefined
  }))
  for (const [index, one] of placed.entries())
    atoms.push({
      x0: one.x0,
      y0: one.y0,
      x1: one.x1,
      y1: one.y1,
      baseline: (one.y0 + one.y1) / 2,
      order: segments.length + index,
      characters: 0,
      segment: undefined,
      placed: one
    })
  return ordered(atoms, bodySize, 0)
}
