import { append } from "../model/lists.ts"
import type { PageContent, PageLink, StructureElement, TextRun } from "../model/page-content.ts"
import { LinkIndex } from "../stages/lines/inline.ts"
import { type Piece, type Segment, segmentsOf, spaced } from "../stages/lines/segment.ts"
import { readingOrder } from "../stages/order/reading-order.ts"

/** Letters of a line with one link, or none. */
export interface Stretch {
  readonly text: string
  readonly target: PageLink["target"] | undefined
}

/** A line of text, where its baseline begins, in points, and how far it extends. */
export interface PlacedLine {
  readonly stretches: ReadonlyArray<Stretch>
  readonly x: number
  readonly baseline: number
  readonly width: number
  readonly size: number
  /** Clockwise degrees. */
  readonly angle: number
  /** Its last word continues in the next line. */
  readonly hyphenated: boolean
}

/** Size of running text where it is unknown, points. */
const USUAL_SIZE = 10

/** Marked content in the order of the structure tree. */
const ranksOf = (roots: ReadonlyArray<StructureElement>): ReadonlyMap<number, number> => {
  const ranks = new Map<number, number>()
  const open: Array<StructureElement | { readonly mcid: number }> = roots.toReversed()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ("mcid" in node) {
      if (!ranks.has(node.mcid)) ranks.set(node.mcid, ranks.size)
    } else append(open, node.children.toReversed())
  }
  return ranks
}

/** The size that most letters have. */
const usualSize = (segments: ReadonlyArray<Segment>): number => {
  const letters = new Map<number, number>()
  for (const { characters, size } of segments) {
    const rounded = Math.round(size)
    letters.set(rounded, (letters.get(rounded) ?? 0) + characters)
  }
  const most = [...letters].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0] as const)[0]
  return most > 0 ? most : USUAL_SIZE
}

/** Horizontal text in the order in which it is read: the structure tree's, else that of its columns. */
const ordered = (runs: ReadonlyArray<TextRun>, page: PageContent): ReadonlyArray<Segment> => {
  const ranks = ranksOf(page.structure)
  if (ranks.size > 0) {
    // What is not in the tree (running headers and the like) comes last.
    const rankOf = ({ mcid }: TextRun) => (mcid === undefined ? undefined : ranks.get(mcid)) ?? ranks.size
    return segmentsOf([...runs].sort((a, b) => rankOf(a) - rankOf(b)))
  }
  const segments = segmentsOf(runs)
  return readingOrder(segments, [], usualSize(segments)).flatMap((leaf) =>
    leaf.kind === "text" ? leaf.segments : []
  )
}

const targetAt = (piece: Piece, at: number, over: ReadonlyArray<PageLink>) => {
  const { box, edges } = piece.run
  const x = ((edges[at] ?? box.x0) + (edges[at + 1] ?? box.x1)) / 2
  return over.find((link) => link.box.x0 <= x && x <= link.box.x1)?.target
}

/** A segment's letters, cut where links begin and end. */
const stretchesOf = (pieces: ReadonlyArray<Piece>, links: LinkIndex): ReadonlyArray<Stretch> => {
  const all: Array<{ text: string; target: PageLink["target"] | undefined }> = []
  const add = (text: string, target: PageLink["target"] | undefined) => {
    const last = all.at(-1)
    if (last !== undefined && last.target === target) last.text += text
    else all.push({ text, target })
  }
  let before: Piece | undefined
  for (const piece of pieces) {
    if (before !== undefined && spaced(before, piece) && !/\s$/.test(before.text) && !/^\s/.test(piece.text))
      add(" ", undefined)
    const { box } = piece.run
    const over = links.over(piece.x0, piece.x1, (box.y0 + box.y1) / 2)
    if (over.length === 0) add(piece.text, undefined)
    else {
      let at = 0
      for (const letter of piece.text) {
        add(letter, targetAt(piece, at, over))
        at += letter.length
      }
    }
    before = piece
  }
  return all
}

/** A rotated run becomes a separate line, through the middle of its box. */
const turnedLine = (run: TextRun): PlacedLine => {
  const { x0, x1, y0, y1 } = run.box
  const radians = (run.angle * Math.PI) / 180
  const along = { x: Math.cos(radians), y: Math.sin(radians) }
  const width = Math.abs((x1 - x0) * along.x) + Math.abs((y1 - y0) * along.y)
  // From the middle half a line back, and a third of the size down from there to the baseline.
  const drop = run.size / 3
  return {
    stretches: [{ text: run.text, target: undefined }],
    x: (x0 + x1) / 2 - (along.x * width) / 2 - along.y * drop,
    baseline: (y0 + y1) / 2 - (along.y * width) / 2 + along.x * drop,
    width,
    size: run.size,
    angle: run.angle,
    hyphenated: run.hyphenated
  }
}

const isUpright = ({ angle }: TextRun): boolean => Math.abs(((angle + 180) % 360) - 180) < 1

/** Every text of a page's layer, search-only text included, in reading order; rotated text last. */
export const placedLines = (page: PageContent): ReadonlyArray<PlacedLine> => {
  const runs = page.runs.filter(({ text }) => text.trim() !== "")
  const links = new LinkIndex(page.links)
  const upright = ordered(runs.filter(isUpright), page).map((segment): PlacedLine => ({
    stretches: stretchesOf(segment.pieces, links),
    x: segment.x0,
    baseline: segment.baseline,
    width: segment.x1 - segment.x0,
    size: segment.size,
    angle: 0,
    hyphenated: segment.hyphenated
  }))
  return [...upright, ...runs.filter((run) => !isUpright(run)).map(turnedLine)]
}

/**
 * Widths of Helvetica from the space to the tilde, thousandths of its size (Adobe's AFM file), also Arial's and Liberation
 * Sans's.
 */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
  556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
  500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
  556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
  278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584
]

/** Of a letter that is not in the table. */
const USUAL = 556

const WIDE = /[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/

/** About how wide a text is in a plain face, in sizes of it. */
export const plainWidth = (text: string): number => {
  let width = 0
  for (const letter of text) {
    const known = WIDTHS[(letter.codePointAt(0) ?? 0) - 32]
    if (known !== undefined) width += known / 1000
    else if (WIDE.test(letter)) width += 1
    else if (!/\p{M}/u.test(letter))
      width += (WIDTHS[letter.normalize("NFD").charCodeAt(0) - 32] ?? USUAL) / 1000
  }
  return width
}
