import { least } from "../../../../model/lists.ts"
import { type Segment, segmentText } from "../../../lines/segment.ts"

/** How far words may stand off a cell's left or right margin, points. */
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

/** Whether a lower-case letter stands alone below another one: "Ke" and "y". */
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
 * Words that are broken in a column of a grid between `from` and `to` because they are wider than it, without a hyphen: each stands
 * alone on a line, be that centred, on which the letter after it has no room. One of a column may be there by chance, unless it leaves one letter.
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
