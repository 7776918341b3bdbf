import { least } from "../../../../model/lists.ts"
import { type Segment, segmentText } from "../../../lines/segment.ts"

/** Greatest distance of words from a cell's left or right margin, in points. */
const OFF = 1
/** Words that have to be broken in a column, each another one, and part of its lines of one word: a word may fill a line by chance. */
const FEWEST = 2
const MOSTLY = 1 / 3

const WORD = /^\S*[\p{L}\p{N}_]$/u
const GOES_ON = /^[\p{L}\p{N}_]\S*/u
/** No two parts of one word: "Default" and "Value", 1.5 and 2.3. */
const TWO_WORDS = /^[^\p{L} ]+ [^\p{L} ]+$|\p{Ll} \p{Lu}/u

const firstLetter = ({ pieces: [piece] }: Segment): number => {
  const edges = piece?.run.edges ?? []
  const at = edges.findIndex((edge) => edge > (piece?.x0 ?? 0) - OFF / 2)
  return (edges[at + 1] ?? Infinity) - (edges[at] ?? 0)
}

/** True when a lower-case letter is alone below another one: "Ke" and "y". */
const leavesLetter = (above: Segment, below: Segment): boolean =>
  /\p{Ll}\s*$/u.test(segmentText(above)) && /^\s*\p{Ll}\s*$/u.test(segmentText(below))

/** Lines of one segment, each with the one below it, where the upper one is a word and the lower one begins with a letter. */
const pairsIn = (cell: ReadonlyArray<Segment>): ReadonlyArray<readonly [Segment, Segment]> => {
  const lines = [...cell].sort((a, b) => a.baseline - b.baseline)
  return lines.slice(1).flatMap((below, at) => {
    const above = lines[at]
    const apart = above === undefined || below.baseline - above.baseline < OFF || above.hyphenated
    return !apart && WORD.test(segmentText(above).trim()) && GOES_ON.test(segmentText(below).trim())
      ? [[above, below] as const]
      : []
  })
}

/**
 * Words that are broken without a hyphen in a column of a grid between `from` and `to`, since they are wider than it:
 * each is alone on a line, which may be centred, without room for the next letter. A single one may be accidental,
 * unless it leaves one letter.
 */
export const brokenWords = (
  cells: ReadonlyArray<ReadonlyArray<Segment>>,
  from: number,
  to: number
): ReadonlyArray<Segment> => {
  const left = least(cells.flatMap((cell) => cell.map(({ x0 }) => x0)))
  const right = to - (left - from)
  const pairs = cells.flatMap(pairsIn)
  const broken = pairs.filter(([above, below]) => {
    const [start = ""] = GOES_ON.exec(segmentText(below).trim()) ?? []
    return (
      above.x1 < right + OFF &&
      above.x1 - above.x0 + firstLetter(below) > right - left &&
      !TWO_WORDS.test(`${segmentText(above).trim()} ${start}`)
    )
  })
  const words = new Set(broken.map(([above]) => segmentText(above).trim()))
  const isUsual = words.size >= FEWEST && broken.length >= MOSTLY * pairs.length
  const sure = isUsual ? broken : broken.filter(([above, below]) => leavesLetter(above, below))
  return sure.map(([above]) => above)
}
