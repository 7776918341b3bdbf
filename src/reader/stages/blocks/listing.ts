import type { Code } from "../../model/block.ts"
import { least } from "../../model/lists.ts"
import type { Line } from "../lines/line.ts"

/** Width of a monospaced letter in font sizes. */
const LETTER = 0.6

/**
 * Steps between lines of a listing from which on there is a blank line, in font sizes and in the listing's smallest
 * steps.
 */
const BLANK = 1.9
const BLANK_OF_OWN = 1.4

/** The least step of a listing, in points; unreliable for two lines. */
const ownStep = (lines: ReadonlyArray<Line>): number =>
  lines.length < 3
    ? 0
    : least(lines.slice(1).map(({ baseline }, at) => baseline - (lines[at]?.baseline ?? baseline)))

/** Lines of code with their indentation, as columns of letters. */
export const codeOf = (lines: ReadonlyArray<Line>): Code => {
  const left = least(lines.map(({ x0 }) => x0))
  const own = BLANK_OF_OWN * ownStep(lines)
  const rows: Array<string> = []
  let before: Line | undefined
  for (const line of lines) {
    const blank = Math.max(BLANK * Math.max(line.size, before?.size ?? 0), own)
    if (before !== undefined && line.baseline - before.baseline > blank) rows.push("")
    const width = Math.max(1, LETTER * line.size)
    let text = ""
    for (const segment of line.segments) {
      const column = Math.max(0, Math.round((segment.x0 - left) / width))
      const gap = text === "" ? column : Math.max(1, column - text.length)
      text += " ".repeat(Math.min(200, gap)) + segment.pieces.map((piece) => piece.text).join("")
      // No listing divides words.
      if (segment.hyphenated && segment.broken !== true) text += "-"
    }
    rows.push(text)
    before = line
  }
  return { kind: "code", text: rows.join("\n") }
}
