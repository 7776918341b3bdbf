import { least } from "../../../lists.ts"
import type { Line } from "../lines/line.ts"
import type { Code } from "./block.ts"

/** Width of a monospaced letter in font sizes. */
const LETTER = 0.6

/** Lines of code with their indentation, as columns of letters. */
export const codeOf = (lines: ReadonlyArray<Line>): Code => {
  const left = least(lines.map(({ x0 }) => x0))
  const rows: Array<string> = []
  let before: Line | undefined
  for (const line of lines) {
    // A blank line in between shows as a double step.
    const size = Math.max(line.size, before?.size ?? 0)
    if (before !== undefined && line.baseline - before.baseline > 1.9 * size) rows.push("")
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
