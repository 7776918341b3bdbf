import { least } from "../../../../model/lists.ts"
import { type KnownWords, WORDS } from "../../../lines/inline.ts"
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

/** The first word of a line. */
const startOf = (line: Segment): string => GOES_ON.exec(segmentText(line).trim())?.[0] ?? ""

const firstLetter = ({ pieces: [piece] }: Segment): number => {
  const edges = piece?.run.edges ?? []
  const at = edges.findIndex((edge) => edge > (piece?.x0 ?? 0) - OFF / 2)
  return (edges[at + 1] ?? Infinity) - (edges[at] ?? 0)
}

/** True when a lower-case letter is alone below another one: "Ke" and "y". */
const leavesLetter = (above: Segment, below: Segment): boolean =>
  /\p{Ll}\s*$/u.test(segmentText(above)) && /^\s*\p{Ll}\s*$/u.test(segmentText(below))

/** Lines of one segment, each with the one below it, where the upper one is a word and the lower one begins with a letter. */
const pairsIn = (cell: ReadonlyArray<Segment>): ReadonlyArray<Pair> => {
  const lines = [...cell].sort((a, b) => a.baseline - b.baseline)
  return lines.slice(1).flatMap((below, at) => {
    const above = lines[at]
    const apart = above === undefined || below.baseline - above.baseline < OFF || above.hyphenated
    return !apart && WORD.test(segmentText(above).trim()) && GOES_ON.test(segmentText(below).trim())
      ? [[above, below] as const]
      : []
  })
}

/** A line and the one below it. */
type Pair = readonly [above: Segment, below: Segment]

/** A name in a program, with an underscore or a capital inside, and its fewest characters. */
const NAME = /[\p{L}\p{N}]_[\p{L}\p{N}]|\p{Ll}\p{Lu}/u
const LONG_NAME = 10
/** White behind a name that its column was not made to fit, in points; the most of it, in letters. */
const UNFITTED = 0.5
const MOST_WHITE = 2

/** The end of one line and the beginning of the next, as words. */
const partsOf = ([above, below]: Pair): readonly [before: string, after: string] => [
  segmentText(above).trim().match(WORDS)?.at(-1) ?? "",
  startOf(below).match(WORDS)?.[0] ?? ""
]

/** Whether a single word was broken: the document has it as one elsewhere, or it is a name of a program whose rest is no other word. */
const isBroken = (pair: Pair, right: number, words: KnownWords): boolean => {
  const [before, after] = partsOf(pair)
  const { all, inside } = words
  if (all.has((before + after).toLowerCase())) return true
  return (
    NAME.test(before) &&
    before.length >= LONG_NAME &&
    right - pair[0].x1 > UNFITTED &&
    !/\p{Lu} \p{Ll}/u.test(`${before} ${after}`) &&
    !inside.has(after)
  )
}

/** As many letters may be missing for a word that is perhaps broken: right margins are a little wider than left ones. */
const NEARLY = 1.25
/** Letters that go on in the case of those before, and a part that is spoken: units are not. */
const MAY_BE_ONE = /\p{Ll}{4} \p{Ll}|\p{Lu}{4} \p{Lu}/u
const SPOKEN = /[^bcdfghjklmnpqrstvwxz]/i

/** Whether two lines may be one word: no other line has either as a word of its own. */
const mayBeOne = (pair: Pair, words: KnownWords): boolean => {
  const parts = partsOf(pair)
  const isKnown = (part: string) => words.inside.has(part) || words.inside.has(part.toLowerCase())
  return MAY_BE_ONE.test(parts.join(" ")) && SPOKEN.test(parts[1]) && !parts.some(isKnown)
}

/** The broken words of a column, and the doubtful ones. */
interface BrokenWords {
  readonly broken: ReadonlyArray<Segment>
  readonly unsure: ReadonlyArray<string>
}

/**
 * Words that are broken without a hyphen in a column of a grid between `from` and `to`, since they are wider than it:
 * each is alone on a line, which may be centred, without room for the next letter. A single one may be accidental,
 * unless it leaves one letter, the document has the word elsewhere, or it is a name of a program. `words`: those of the document, as far as they are known.
 */
export const brokenWords = (
  cells: ReadonlyArray<ReadonlyArray<Segment>>,
  from: number,
  to: number,
  words: KnownWords
): BrokenWords => {
  const left = least(cells.flatMap((cell) => cell.map(({ x0 }) => x0)))
  const right = to - (left - from)
  const pairs = cells.flatMap(pairsIn)
  /** Pairs whose upper word would leave its column, or nearly so, with this many letters more. */
  const without = (letters: number) =>
    pairs.filter(
      ([above, below]) =>
        above.x1 < right + OFF &&
        above.x1 - above.x0 + letters * firstLetter(below) > right - left &&
        !TWO_WORDS.test(`${segmentText(above).trim()} ${startOf(below)}`)
    )
  const wide = without(1)
  const different = new Set(wide.map(([above]) => segmentText(above).trim()))
  const isUsual = different.size >= FEWEST && wide.length >= MOSTLY * pairs.length
  const single = isUsual ? wide : wide.filter(([above, below]) => leavesLetter(above, below))
  const known = without(MOST_WHITE).filter((pair) => isBroken(pair, right, words))
  const broken = new Set([...single, ...known].map(([above]) => above))
  const unsure = without(NEARLY).filter((pair) => !broken.has(pair[0]) && mayBeOne(pair, words))
  return { broken: [...broken], unsure: unsure.map((pair) => partsOf(pair).join("")) }
}
