import { centreIn } from "../../model/geometry.ts"
import { greatest, least } from "../../model/lists.ts"
import type { Box, Drawing, PageContent, TextRun } from "../../model/page-content.ts"

/** Channels of a colour that is as good as the paper's. */
const PALE = 0xf4

export const isPale = (color: number): boolean =>
  (color >> 16) % 0x100 >= PALE && (color >> 8) % 0x100 >= PALE && color % 0x100 >= PALE

/** Fewest letters of a run that are blacked out. */
const FEWEST = 3
/** Most pairs of fills and words that are looked at. */
const MOST_PAIRS = 200_000
/** How much larger a fill may be than another one that is drawn with it, as its shadow is. */
const AS_LARGE = 1.1

const areaOf = ({ x0, x1, y0, y1 }: Box): number => (x1 - x0) * (y1 - y0)

const isFill = (drawing: Drawing): boolean => drawing.kind === "image" || (drawing.filled && !drawing.curved)

const isOf = (drawing: Drawing, color: number): boolean => drawing.kind === "path" && drawing.color === color

/**
 * Heights of fills that hide a line of letters, in font sizes: thinner ones strike it, and higher ones, or such as reach further beyond
 * its words, may be the frame of a cell, which is a fill as well.
 */
const [LEAST_HIGH, MOST_HIGH] = [0.6, 1.6]
const BEYOND = 1

/** How many letters of a run are within a box. */
const lettersIn = ({ box, edges, size, text }: TextRun, { x0, x1, y0, y1 }: Box): number => {
  const middle = (box.y0 + box.y1) / 2
  if (y1 - y0 < LEAST_HIGH * size || middle < y0 || middle > y1 || box.x1 < x0 || box.x0 > x1) return 0
  return edges.slice(0, -1).filter((edge, at) => {
    const centre = (edge + (edges[at + 1] ?? edge)) / 2
    return centre > x0 && centre < x1 && /\p{L}/u.test(text.charAt(at))
  }).length
}

/** Whether a box is as high and as wide as words of a line. */
const isBar = ({ x0, x1, y0, y1 }: Box, run: TextRun, words: ReadonlyArray<TextRun>): boolean => {
  const line = words.filter(
    ({ baseline, box }) => Math.abs(baseline - run.baseline) < 1 && box.x0 < x1 && box.x1 > x0
  )
  const reach = BEYOND * run.size
  return (
    y1 - y0 <= MOST_HIGH * run.size &&
    x0 > least(line.map(({ box }) => box.x0)) - reach &&
    x1 < greatest(line.map(({ box }) => box.x1)) + reach
  )
}

/** Whether the smallest shape around some letters has their colour, and no other shape is about as small. */
const isBlackedOut = (
  run: TextRun,
  words: ReadonlyArray<TextRun>,
  fills: ReadonlyArray<Drawing>
): boolean => {
  if (isPale(run.color)) return false
  const around = fills
    .filter(({ box }) => lettersIn(run, box) >= FEWEST)
    .toSorted((a, b) => areaOf(a.box) - areaOf(b.box))
  const [first] = around
  if (first === undefined || !isOf(first, run.color) || !isBar(first.box, run, words)) return false
  return around.every((fill) => isOf(fill, run.color) || areaOf(fill.box) > AS_LARGE * areaOf(first.box))
}

/** Whether other words overlap these, on a fill in the colour of the paper. */
const isWrittenOver = (one: TextRun, words: ReadonlyArray<TextRun>, fills: ReadonlyArray<Drawing>): boolean =>
  fills.some((fill) => fill.kind === "path" && isPale(fill.color) && centreIn(one.box, fill.box, 1)) &&
  words.some(
    ({ baseline, box, text }) =>
      Math.abs(baseline - one.baseline) < 1 &&
      centreIn(one.box, box) &&
      !text.includes(one.text.trim()) &&
      !one.text.includes(text.trim())
  )

/** Whether a page has words that were blacked out, or written over: the file still has them, and no eye sees them. */
export const hasCovered = ({ drawings, runs }: PageContent): boolean => {
  const fills = drawings.filter(isFill)
  const words = runs.filter(
    ({ angle, artifact, invisible, text }) => angle === 0 && !artifact && !invisible && /\p{L}/u.test(text)
  )
  if (fills.length === 0 || words.length * (fills.length + words.length) > MOST_PAIRS) return false
  return words.some((run) => isBlackedOut(run, words, fills) || isWrittenOver(run, words, fills))
}
