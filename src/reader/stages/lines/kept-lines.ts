import { greatest } from "../../model/lists.ts"
import { isBoldLine, type Line } from "./line.ts"
import { CAPTION } from "./markers.ts"
import { areCentred, firstWordWidth, type Group } from "./paragraphs.ts"

/** Left and right edge of a column's text, in points. */
export interface Extent {
  readonly left: number
  readonly right: number
}

/** Room that a line leaves where it was ended on purpose, as a share of the column's width. */
const ROOM = 0.15
/**
 * Longest line in an address of two lines, unless they are centred; of two longer ones the second may be the rest of a
 * sentence.
 */
const MAX_OF_TWO = 40
/** Share of lines that leave room in the paragraph's own width: in a narrow column none does. */
const SHORT = 0.5
/** Longest line of an address, as a share of the column. */
const MAX_SHARE = 0.6

const widthOf = ({ x0, x1 }: Line): number => x1 - x0

/** Whether a text may begin a line that was not broken for want of room: a name, what a value is of, an address, a number's "tel.". */
const BEGINS = /^(?:[^\p{Ll}\s]|[\p{L}-]{1,20}:\s|www\.|https?:|[\w.+-]{1,64}@|\p{L}{1,8}\.\s[+(]?\d)/u
/** Ends of sentences; a semicolon ends a line of verse, too. */
const STOP = /[.!?:]["'”’»)\]]*$/

/** Whether the lines of a paragraph were ended on purpose: each left room for the next one's first word. */
export const keepsLines = ({ lines }: Group, { left, right }: Extent): boolean => {
  const width = right - left
  const widest = greatest(lines.map(widthOf))
  let short = 0
  for (const [at, line] of lines.entries()) {
    const above = lines[at - 1]
    if (above === undefined) continue
    const word = firstWordWidth(line) + 0.3 * line.size
    if (above.hyphenated || !BEGINS.test(line.text)) return false
    if (width - widthOf(above) - word < ROOM * width) return false
    if (widest - widthOf(above) > word) short += 1
  }
  const [first, second, third] = lines
  if (first !== undefined && second !== undefined && third === undefined)
    return areCentred(first, second) || lines.every(({ text }) => text.length <= MAX_OF_TWO)
  return lines.length > 2 && short >= SHORT * (lines.length - 1)
}

/**
 * True when a paragraph of one line continues as an address, a signature, a verse or a list of values: short lines
 * below one another in the same style. Two lines are not enough where a sentence ends.
 */
export const areLinesOfOne = (
  above: Group,
  { gap, lines, marker }: Group,
  { left, right }: Extent
): boolean => {
  const [last, line] = [above.lines.at(-1), lines[0]]
  if (last === undefined || line === undefined || lines.length > 1 || marker !== undefined) return false
  return (
    gap < 1.5 &&
    Math.abs(last.x0 - line.x0) < 0.3 * line.size &&
    Math.abs(last.size - line.size) < 0.05 * line.size &&
    isBoldLine(last) === isBoldLine(line) &&
    !CAPTION.test(above.lines[0]?.text ?? "") &&
    [...above.lines, line].every((one) => !one.hyphenated && widthOf(one) < MAX_SHARE * (right - left)) &&
    (above.lines.length > 1 || ![last, line].some(({ text }) => STOP.test(text))) &&
    BEGINS.test(line.text)
  )
}
