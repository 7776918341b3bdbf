import { type Line, linesOf } from "../../lines/line.ts"
import type { Segment } from "../../lines/segment.ts"

/** Most that the next line of a label lies below, in font sizes. */
const STEP = 2

/** Whether a line has the rest of the word that the one above it cuts. */
const isRest = (above: Line, below: Line | undefined): below is Line =>
  below !== undefined &&
  /^\p{Ll}/u.test(below.text) &&
  below.x0 < above.x1 &&
  below.baseline - above.baseline < STEP * above.size

/** The words in a figure, line by line: a word that a line cuts is joined with its rest, and keeps its hyphen where none follows. */
export const labelTexts = (labels: ReadonlyArray<Segment>): ReadonlyArray<string> => {
  const lines = linesOf(labels, [])
  const texts: Array<string> = []
  let cut = false
  for (const [at, line] of lines.entries()) {
    const text = line.text.trim()
    if (cut) texts[texts.length - 1] += text
    else texts.push(text)
    cut = line.hyphenated && isRest(line, lines[at + 1])
    if (line.hyphenated && !cut) texts[texts.length - 1] += "-"
  }
  return texts
}
