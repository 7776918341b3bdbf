import { acrossOf, crosses } from "../../model/geometry.ts"
import { greatest } from "../../model/lists.ts"
import type { Box, FontFace, FormField, TextRun } from "../../model/page-content.ts"
import type { Placed } from "../../model/placed.ts"
import { followsMark, isFullMark, RAISED_HIGH, RAISED_SIZE, SAME_BASELINE } from "../runs/raised-marks.ts"

/** A run, or a part of it, within a line. */
export interface Piece {
  readonly run: TextRun
  readonly text: string
  readonly x0: number
  readonly x1: number
  /** Position of a smaller piece that is raised or lowered against its line. */
  readonly raise: "sup" | "sub" | undefined
}

/** Consecutive pieces of a line, without a gap as wide as a column's. */
export interface Segment extends Box {
  readonly baseline: number
  /** Size of most of its characters. */
  readonly size: number
  readonly pieces: ReadonlyArray<Piece>
  /** Place of its first run in the content stream. */
  readonly order: number
  readonly characters: number
  /** Its last word continues in the next line. */
  readonly hyphenated: boolean
  /** True when that word is broken without a hyphen. */
  readonly broken?: boolean
  /** It names the column below it: words that were written upwards or leaning. */
  readonly heads?: true
  /** A form field at this place: there are no words. */
  readonly field?: FormField
  /** A picture at this place: there are no words. */
  readonly picture?: Placed
}

/** Whether a segment is words, and no field or picture at the place of some. */
export const hasWords = ({ field, picture }: Segment): boolean => field === undefined && picture === undefined

/** Gap from which two runs on a line are two segments, in font sizes. */
export const SEGMENT_GAP = 0.9
/** Greatest overlap of runs on one line, in font sizes; a small run may be in the room above the letter before it. */
const OVERLAP = -0.35
const TUCKED = -0.5
/** Least gap that counts as a space, in font sizes. */
export const SPACE_GAP = 0.13

/** A segment under construction. */
interface Open {
  pieces: Array<Piece>
  x0: number
  y0: number
  x1: number
  y1: number
  baseline: number
  size: number
  sized: number
  order: number
  characters: number
  hyphenated: boolean
}

const opened = (run: TextRun, order: number): Open => ({
  pieces: [{ run, text: run.text, x0: run.box.x0, x1: run.box.x1, raise: undefined }],
  ...run.box,
  baseline: run.baseline,
  size: run.size,
  sized: run.text.length,
  order,
  characters: run.text.length,
  hyphenated: run.hyphenated
})

const append = (open: Open, run: TextRun, raise: Piece["raise"]): void => {
  open.pieces.push({ run, text: run.text, x0: run.box.x0, x1: run.box.x1, raise })
  open.x0 = Math.min(open.x0, run.box.x0)
  open.x1 = Math.max(open.x1, run.box.x1)
  open.y0 = Math.min(open.y0, run.box.y0)
  open.y1 = Math.max(open.y1, run.box.y1)
  open.characters += run.text.length
  open.hyphenated = run.hyphenated
  if (raise === undefined && run.text.length > open.sized) {
    open.size = run.size
    open.sized = run.text.length
    open.baseline = run.baseline
  }
}

/** How a run continues the segment before it in the stream; undefined where it does not. */
const continuation = (
  open: Open,
  run: TextRun,
  next: TextRun | undefined
): "same" | "sup" | "sub" | "under" | undefined => {
  if (followsMark(open, run)) return "under"
  const size = Math.max(open.size, run.size)
  const gap = run.box.x0 - open.x1
  const smaller = run.size <= RAISED_SIZE * open.size
  if (gap > SEGMENT_GAP * size || gap < (smaller ? TUCKED : OVERLAP) * size) return undefined
  const shift = open.baseline - run.baseline
  if (Math.abs(shift) <= SAME_BASELINE * size) return "same"
  if (Math.abs(shift) > RAISED_HIGH * size) return undefined
  // A small capital tucked into the word is a letter of it: the A of TeX's logos.
  if (smaller && gap < -SAME_BASELINE * size && /^\p{Lu}$/u.test(run.text.trim())) return "same"
  if (smaller) return shift > 0 ? "sup" : "sub"
  if (isFullMark(open, run, next)) return "sup"
  // The segment so far is a mark (a footnote's number) before the text that it belongs to.
  if (open.size <= RAISED_SIZE * run.size && open.characters <= 4) return "under"
  // A fraction, an accent, a badly set word: one line if they overlap by half.
  return Math.abs(shift) < 0.3 * size ? "same" : undefined
}

/** Small capitals are set as capitals of a smaller size: what they are is shown by the first letters. */
const isInCapitals = ({ pieces }: Open): boolean =>
  pieces.every(({ raise, text }) => raise === undefined && !/\p{Ll}/u.test(text)) &&
  pieces.some(({ text }) => /\p{Lu}/u.test(text))

const withCapitals = (open: Open): Segment => {
  if (open.pieces.length < 2) return open
  const largest = greatest(open.pieces.map(({ run }) => run.size))
  return largest > open.size && isInCapitals(open) ? { ...open, size: largest } : open
}

/** The page's segments, in the order of the content stream. Linear in the number of runs. */
export const segmentsOf = (runs: ReadonlyArray<TextRun>): ReadonlyArray<Segment> => {
  const segments: Array<Open> = []
  let open: Open | undefined
  for (const [order, run] of runs.entries()) {
    const how = open === undefined ? undefined : continuation(open, run, runs[order + 1])
    if (open === undefined || how === undefined) {
      open = opened(run, order)
      segments.push(open)
    } else if (how === "under") {
      const raise = open.baseline < run.baseline ? "sup" : "sub"
      open.pieces = open.pieces.map((piece) => ({ ...piece, raise: piece.raise ?? raise }))
      append(open, run, undefined)
      open.size = run.size
      open.sized = run.text.length
      open.baseline = run.baseline
    } else append(open, run, how === "same" ? undefined : how)
  }
  return segments.map(withCapitals)
}

/** Whether a reader sees a space between two pieces of a line. */
export const spaced = (before: Piece, after: Piece): boolean =>
  after.x0 - before.x1 > SPACE_GAP * Math.max(before.run.size, after.run.size) ||
  before.text.endsWith(" ") ||
  after.text.startsWith(" ")

/** The segment's text, spaces between its pieces as seen. */
export const segmentText = ({ pieces }: Pick<Segment, "pieces">): string => {
  let text = ""
  let before: Piece | undefined
  for (const piece of pieces) {
    if (before !== undefined && spaced(before, piece) && !text.endsWith(" ")) text += " "
    text += piece.text
    before = piece
  }
  return text
}

/** Whether a face is read as bold. */
export const isBold = (face: FontFace | undefined): boolean => face !== undefined && face.weight >= 600

const typewriters = new WeakMap<FontFace, boolean>()

/** Whether a face is monospaced. TeX's slanted and bold ones show it only by their names. */
export const isTypewriter = (face: FontFace | undefined): boolean => {
  if (face === undefined) return false
  let known = typewriters.get(face)
  if (known === undefined) {
    known = face.monospace || /^(?:CM|SF|EC|EB)[A-Z]*TT|^(?:SF|EC)(?:ST|IT|TC)\d/.test(face.name)
    typewriters.set(face, known)
  }
  return known
}

/** Signs of one width in every face. */
const FULL_WIDTH =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/gu

/** Whether words look like code: monospaced, and not mostly of a script whose signs all are. */
export const isTypewritten = (face: FontFace | undefined, text: string): boolean =>
  isTypewriter(face) && 2 * (text.match(FULL_WIDTH)?.length ?? 0) <= text.replaceAll(/\s/g, "").length

/** Whether a segment begins in typewriter. */
export const beginsInCode =
  (fonts: ReadonlyArray<FontFace>) =>
  ({ pieces: [first] }: Segment): boolean =>
    first !== undefined && isTypewriter(fonts[first.run.font])

/** Whether a face draws small letters as small capitals. */
const isSmallCapitals = (face: FontFace | undefined): boolean =>
  face !== undefined && /CSC\d|Caps|SmCp|SmallCap|[-_]SC\b/.test(face.name)

/** Features of a heading in the size and weight of the text. */
export type Look = "italic" | "capitals" | "underlined" | "coloured"

/** Whether lines of a look that begin with a number are counted as sections. Entries of contents that are links are coloured, or underlined. */
export const isSectionLook = (look: Look | undefined): boolean => look === "italic" || look === "capitals"

/** Least difference between the channels of a colour that is not grey. */
const COLOURED = 0x30

const isColoured = (color: number): boolean => {
  const [red, green, blue] = [color >> 16, (color >> 8) & 0xff, color & 0xff]
  return Math.max(red, green, blue) - Math.min(red, green, blue) > COLOURED
}

/** Whether something of a piece may be of a look: most text is upright, black and in small letters. */
const mayHaveLook = ({ run, text }: Piece, fonts: ReadonlyArray<FontFace>): boolean => {
  const face = fonts[run.font]
  return (
    face?.italic === true ||
    run.underlined === true ||
    isColoured(run.color) ||
    !/\p{Ll}/u.test(text) ||
    isSmallCapitals(face)
  )
}

/** The look of pieces, apart from their first characters (a number); undefined where they look like text. */
export const lookOf = (
  pieces: ReadonlyArray<Piece>,
  fonts: ReadonlyArray<FontFace>,
  skip: number
): Look | undefined => {
  if (skip === 0 && !pieces.some((piece) => mayHaveLook(piece, fonts))) return undefined
  let [all, italic, capitals, underlined, coloured] = [0, 0, 0, 0, 0]
  let [hasSmall, left] = [false, skip]
  for (const { raise, run, text } of pieces) {
    const words = text.slice(left)
    left = Math.max(0, left - text.length)
    const letters = words.match(/\p{L}/gu)?.length ?? 0
    if (raise !== undefined || letters === 0) continue
    const face = fonts[run.font]
    all += letters
    if (face?.italic === true) italic += letters
    if (run.underlined === true) underlined += letters
    if (isColoured(run.color)) coloured += letters
    const areCapitals = isSmallCapitals(face)
    hasSmall ||= !areCapitals && /\p{Ll}/u.test(words)
    if (!hasSmall) capitals += words.match(areCapitals ? /[\p{Lu}\p{Ll}]/gu : /\p{Lu}/gu)?.length ?? 0
  }
  if (all < 2) return undefined
  if (!hasSmall && capitals > 0.8 * all && capitals > 2) return "capitals"
  if (italic > 0.9 * all) return "italic"
  return underlined > 0.9 * all ? "underlined" : coloured > 0.9 * all ? "coloured" : undefined
}

/** Whether the run that gave a segment its size is monospaced. */
export const isSizedByTypewriter = (
  { pieces }: Pick<Segment, "pieces">,
  fonts: ReadonlyArray<FontFace>
): boolean => {
  let longest = pieces[0]
  if (pieces.length > 1)
    for (const piece of pieces)
      if (piece.raise === undefined && piece.text.length > (longest?.text.length ?? 0)) longest = piece
  return longest !== undefined && isTypewriter(fonts[longest.run.font])
}

/** The white before each segment of a line but the first, points. */
export const gapsIn = (segments: ReadonlyArray<Segment>): ReadonlyArray<number> =>
  segments.slice(1).map(({ x0 }, at) => x0 - (segments[at]?.x1 ?? x0))

/** The pieces of segments. */
export const piecesOf = (segments: ReadonlyArray<Pick<Segment, "pieces">>): ReadonlyArray<Piece> => {
  const [first, ...more] = segments
  return more.length === 0 ? (first?.pieces ?? []) : segments.flatMap(({ pieces }) => pieces)
}

/** How many characters segments have. */
export const charactersOf = (segments: ReadonlyArray<Segment>): number =>
  segments.reduce((sum, { characters }) => sum + characters, 0)

/** How many characters pieces, lines or runs have. */
export const lengthOf = (of: ReadonlyArray<{ readonly text: string }>): number =>
  of.reduce((sum, { text }) => sum + text.length, 0)

/** Whether all of a segment is bold. */
export const isBoldThroughout = (
  { pieces }: Pick<Segment, "pieces">,
  fonts: ReadonlyArray<FontFace>
): boolean => pieces.every(({ run }) => isBold(fonts[run.font]))

/** A new segment from some pieces of a segment. */
export const partOf = (segment: Segment, pieces: ReadonlyArray<Piece>): Segment => ({
  ...segment,
  pieces,
  ...acrossOf(pieces),
  characters: lengthOf(pieces)
})

/** Cuts a segment where columns begin. */
export const cutAt = (segment: Segment, starts: ReadonlyArray<number>): ReadonlyArray<Segment> => {
  if (!starts.some((x) => crosses(segment, x, 1))) return [segment]
  const parts = Map.groupBy(segment.pieces, ({ x0 }) => starts.filter((x) => x <= x0 + 1).length)
  return [...parts.values()].map((pieces) => partOf(segment, pieces))
}
