/**
 * Detects words with separated letters. Listings in a proportional face centre each letter in a cell of a grid; those
 * in typewriter set letters slightly further apart than their width; titles use an equal gap between letters. In all of
 * them each letter seems to be followed by a space.
 */
const SPACE = 0x20

/** Fewest letters that show a grid. */
const LEAST_LETTERS = 6
/** Greatest number of letters for each space in a text that may be on a grid: words have more. */
const LETTERS_TO_SPACE = 3
/** How far middles may be from the grid, as a part of its step. */
const OFF_GRID = 0.04
/** Least ratio between widths of letters on a grid: digits of one width with spaces between them are as even. */
const UNEVEN = 1.3
/**
 * Greatest ratio between widths of typewriter letters. The space has the same width: less than `LEAST_SPACE` of it is
 * not a space.
 */
const EVEN = 1.05
const LEAST_SPACE = 0.4

/** Gaps between letters that are set apart, in font sizes: less is kerning, and spaces of text are wider. */
export const LEAST_GAP = 0.05
const MOST_GAP = 0.2
/** Wider ones set letters apart where most of them are alike, and others, wider by this factor, end words. */
const MOSTLY = 0.7
const ENDS_WORD = 2
/** Tolerance of equal gaps, in font sizes; some pairs are kerned. */
const ALIKE = 0.02
/** Least ratio between a space between such words and the gap between letters. */
const WIDER = 1.5

/** True when a text of this length may have spaces that separate letters, not words. */
export const mayBeOnGrid = (spaces: number, length: number, typewriter: boolean): boolean =>
  spaces > 0 && (typewriter || (spaces + 1) * LETTERS_TO_SPACE >= length - spaces)

/** Units of a text with where they begin and end. */
interface Text {
  readonly units: Uint16Array
  readonly edges: Float64Array
  readonly ends: Float64Array
  readonly length: number
}

const middle = ({ edges, ends }: Text, at: number): number => ((edges[at] ?? 0) + (ends[at] ?? 0)) / 2

/** The step of the letter grid; undefined where letters are not on a grid. */
const stepOf = (text: Text): number | undefined => {
  const letters: Array<number> = []
  for (let at = 0; at < text.length; at++) if (text.units[at] !== SPACE) letters.push(middle(text, at))
  const steps = letters.slice(1).map((place, at) => place - (letters[at] ?? 0))
  const step = steps.reduce((least, one) => Math.min(least, one), Infinity)
  const isOn = (one: number): boolean => Math.abs(one / step - Math.round(one / step)) <= OFF_GRID
  return letters.length >= LEAST_LETTERS && step > 0 && steps.every(isOn) ? step : undefined
}

/** Removes spaces that separate letters of a word, and returns the new length of the arrays' beginnings. */
const withoutSpaces = (
  { edges, ends, length, units }: Text,
  isNone: (before: number, after: number) => boolean
): number => {
  let kept = 0
  let last = -1
  for (let at = 0; at < length; at++) {
    if (units[at] === SPACE && last >= 0 && at + 1 < length && isNone(last, at + 1)) continue
    units[kept] = units[at] ?? 0
    edges[kept] = edges[at] ?? 0
    ends[kept] = ends[at] ?? 0
    if (units[kept] !== SPACE) last = kept
    kept += 1
  }
  return kept
}

const gapBetween = ({ edges, ends }: Text, before: number, after: number): number =>
  (edges[after] ?? 0) - (ends[before] ?? 0)

/** Removes the spaces of a letter grid, and returns the new length of the arrays' beginnings. */
export const withoutGridSpaces = (text: Text, typewriter: boolean): number => {
  const { edges, ends, length, units } = text
  let [narrow, broad] = [Infinity, 0]
  for (let at = 0; at < length; at++)
    if (units[at] !== SPACE) {
      const width = (ends[at] ?? 0) - (edges[at] ?? 0)
      narrow = Math.min(narrow, width)
      broad = Math.max(broad, width)
    }
  const even = broad <= EVEN * narrow
  const step = even || broad < UNEVEN * narrow ? undefined : stepOf(text)
  if (!(narrow > 0) || (step === undefined && !(even && typewriter))) return length
  return withoutSpaces(text, (before, after) =>
    step === undefined
      ? gapBetween(text, before, after) < LEAST_SPACE * narrow
      : middle(text, after) - middle(text, before) < 1.5 * step
  )
}

/** The gap by which a text's letters are spaced; undefined where most are close together, or separated by spaces. */
const trackingOf = (text: Text, size: number): number | undefined => {
  const gaps: Array<number> = []
  let [letters, last] = [0, -1]
  for (let at = 0; at < text.length; at++) {
    if (text.units[at] === SPACE) continue
    const gap = last < 0 ? 0 : gapBetween(text, last, at)
    if (gap > LEAST_GAP * size) gaps.push(gap)
    letters += 1
    last = at
  }
  if (letters < LEAST_LETTERS || 2 * gaps.length <= letters) return undefined
  const gap = gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0
  const alike = gaps.filter((one) => Math.abs(one - gap) <= ALIKE * size).length
  const isNarrow = gap < MOST_GAP * size
  const hasWords = alike > MOSTLY * gaps.length && gaps.some((one) => one > ENDS_WORD * gap)
  return hasWords || (isNarrow && 2 * alike > letters) ? gap : undefined
}

/** Leaves out the spaces between letters that are set apart, and returns the new length of the arrays' beginnings. */
export const withoutTracking = (text: Text, size: number): number => {
  const tracking = trackingOf(text, size)
  return tracking === undefined
    ? text.length
    : withoutSpaces(text, (before, after) => gapBetween(text, before, after) < WIDER * tracking)
}
