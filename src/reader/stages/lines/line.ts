import { greatest } from "../../model/lists.ts"
import type { FontFace } from "../../model/page-content.ts"
import { endsInComment } from "./comments.ts"
import { hasFromRight, isRightToLeft, textFromRight } from "./script-direction.ts"
import {
  isBold,
  isSizedByTypewriter,
  isTypewriter,
  isTypewritten,
  type Piece,
  segmentText,
  type Segment,
  piecesOf
} from "./segment.ts"

/** Segments on one baseline, from left to right. */
export interface Line {
  readonly segments: ReadonlyArray<Segment>
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  readonly baseline: number
  readonly size: number
  /** The size is that of a monospaced face. */
  readonly typewriter: boolean
  /** In the order of reading. */
  readonly text: string
  /** Read from right to left; see `segmentsAsRead`. */
  readonly rightToLeft: boolean
  /** Shares of its characters, 0 to 1; neither a small number before code nor a comment in another face behind it says what its face is. */
  readonly bold: number
  readonly italic: number
  readonly monospace: number
  readonly hyphenated: boolean
}

/** Largest difference of baselines within one line, in font sizes. */
export const SAME_LINE = 0.35

/** A number that counts lines is smaller than the words behind it by this factor. */
const SMALL = 0.86

/** The line number of a listing or an algorithm: smaller than the words behind it. */
export const lineNumber = (segments: ReadonlyArray<Segment>): Piece | undefined => {
  const [first, next = segments[1]?.pieces[0]] = segments[0]?.pieces ?? []
  // A raised number is a note's.
  return first !== undefined &&
    next !== undefined &&
    first.raise === undefined &&
    first.run.size < SMALL * next.run.size &&
    /^\s*\d{1,5}\s*$/.test(first.text)
    ? first
    : undefined
}

/** The mark at a line's end, or at the next one's start, of a line of code that was too long for its page. */
const WRAPS = /^\s*[↩↪↵⏎]\s*$/u

const lineOf = (segments: Array<Segment>, fonts: ReadonlyArray<FontFace>, fromRight: boolean): Line => {
  segments.sort((a, b) => a.x0 - b.x0)
  let x0 = Infinity
  let y0 = Infinity
  let x1 = -Infinity
  let y1 = -Infinity
  let characters = 0
  let bold = 0
  let italic = 0
  let monospace = 0
  let beside = 0
  let inComment = false
  let main = segments[0]
  for (const segment of segments) {
    x0 = Math.min(x0, segment.x0)
    y0 = Math.min(y0, segment.y0)
    x1 = Math.max(x1, segment.x1)
    y1 = Math.max(y1, segment.y1)
    if (main === undefined || segment.characters > main.characters) main = segment
    for (const { run, text } of segment.pieces) {
      const face = fonts[run.font]
      characters += text.length
      if (isBold(face)) bold += text.length
      if (face?.italic === true) italic += text.length
      if (isTypewritten(face, text)) {
        monospace += text.length
        // Comments in Chinese are in another face than their code.
        inComment ||= endsInComment(text)
      } else if (inComment || WRAPS.test(text)) beside += text.length
    }
  }
  const all = Math.max(1, characters)
  const number = lineNumber(segments)
  const others = number === undefined || isTypewriter(fonts[number.run.font]) ? 0 : number.text.length
  const code = all - others - beside
  const plain = segments.map(segmentText).join(" ")
  const rightToLeft = segments.length > 1 && (fromRight ? hasFromRight(plain) : isRightToLeft(plain))
  return {
    segments,
    x0,
    y0,
    x1,
    y1,
    baseline: main?.baseline ?? 0,
    size: main?.size ?? 0,
    typewriter: monospace > 0 && main !== undefined && isSizedByTypewriter(main, fonts),
    text: rightToLeft ? textFromRight(segments) : plain,
    rightToLeft,
    bold: bold / all,
    italic: italic / all,
    monospace: monospace / Math.max(1, code),
    hyphenated: segments.at(-1)?.hyphenated ?? false
  }
}

/** Part of a line's characters from which on it is code as a whole. */
const ALL_CODE = 0.9

export const isCode = ({ monospace }: Line): boolean => monospace > ALL_CODE

/** The size of a line's words. Code may be most of a line of text, and browsers set it smaller than the words around it. */
export const wordsSize = (line: Line): number =>
  line.typewriter && !isCode(line) ? greatest(piecesOf(line.segments).map(({ run }) => run.size)) : line.size

/** Lines from top to bottom. */
export const linesOf = (
  segments: ReadonlyArray<Segment>,
  fonts: ReadonlyArray<FontFace>
): ReadonlyArray<Line> => {
  const sorted = [...segments].sort((a, b) => a.baseline - b.baseline || a.x0 - b.x0)
  // A line may have more words of another script.
  const fromRight =
    segments.some(({ pieces }) => pieces.some(({ text }) => hasFromRight(text))) &&
    isRightToLeft(segments.map(segmentText).join(" "))
  const lines: Array<Line> = []
  let row: Array<Segment> = []
  let anchor: Segment | undefined
  for (const segment of sorted) {
    if (
      anchor !== undefined &&
      segment.baseline - anchor.baseline > SAME_LINE * Math.min(anchor.size, segment.size)
    ) {
      lines.push(lineOf(row, fonts, fromRight))
      row = []
      anchor = undefined
    }
    if (anchor === undefined || segment.size > anchor.size) anchor = segment
    row.push(segment)
  }
  if (row.length > 0) lines.push(lineOf(row, fonts, fromRight))
  return lines
}

/** Whether a line is set in bold as a whole. */
export const isBoldLine = ({ bold }: Line): boolean => bold > 0.6

/** White space between rows, in font sizes, that a table does not have. */
export const ROW_STEP = 3.6
