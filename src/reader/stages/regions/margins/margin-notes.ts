import { usualPlace } from "../../../model/geometry.ts"
import type { FontFace } from "../../../model/page-content.ts"
import { type Line, linesOf } from "../../lines/line.ts"
import { markerOf } from "../../lines/markers.ts"
import { cutAt, type Segment, segmentText } from "../../lines/segment.ts"

/** Characters of a line of text at least, how many such lines begin at the text's edge, and what share of all of them. */
const LONG = 40
const MIN_LINES = 8
const MIN_SHARE = 0.5
/** Lines of notes that end at one edge at least, and their share of the text's lines at most: more of them are a column. */
const MIN_NOTES = 3
const MAX_SHARE = 0.5
/** Part of the words in the margin that end at that edge: the cells of a column end anywhere. */
const MOSTLY = 0.8
/** White space between notes and text at most, in font sizes. */
const MAX_GAP = 2
/** Step between lines of one note, in font sizes. */
const STEP = 1.6
/** How far edges differ that are the same, points. */
const SAME_EDGE = 1.5

/**
 * A segment in the margin, or the part of one that continues into the text; undefined where the text's edge cuts it
 * elsewhere.
 */
interface Beside {
  readonly segment: Segment
  readonly note: Segment
  readonly text: Segment | undefined
}

const besideText = (segment: Segment, edge: number): Beside | undefined => {
  const [note, text] = cutAt(segment, [edge])
  if (note === undefined || segment.x0 > edge - SAME_EDGE) return undefined
  if (text === undefined) return segment.x1 < edge + SAME_EDGE ? { segment, note, text } : undefined
  return Math.abs(text.x0 - edge) < SAME_EDGE ? { segment, note, text } : undefined
}

/** True when a part in the margin has words, such as a command's name, and is no mark of an item or a reference. */
const hasWords = (part: Segment): boolean => {
  const text = segmentText(part).trim()
  return /\p{L}{2}|^\\\p{L}/u.test(text) && !text.startsWith("[") && markerOf(`${text} x`) === undefined
}

interface MarginNotes {
  /** The lines of each, from top to bottom. */
  readonly notes: ReadonlyArray<ReadonlyArray<Line>>
  /** Everything else. */
  readonly text: ReadonlyArray<Segment>
  /** Left edge of the text, in points. */
  readonly edge: number
}

/**
 * Notes in the left margin that end where the text begins: manuals set the names of commands so. Each begins at the
 * height of a line of the text. Linear but for sorting.
 */
export const marginNotes = (
  segments: ReadonlyArray<Segment>,
  fonts: ReadonlyArray<FontFace>
): MarginNotes => {
  const none: MarginNotes = { notes: [], text: segments, edge: 0 }
  const long = segments.filter(({ characters }) => characters >= LONG)
  const text = usualPlace(long.map(({ x0 }) => x0))
  if (text === undefined || text.count < Math.max(MIN_LINES, MIN_SHARE * long.length)) return none
  const edge = text.place
  const beside = segments.flatMap((segment) => besideText(segment, edge) ?? [])
  const words = beside.filter(({ note }) => hasWords(note))
  const near = words.filter(({ note: { size, x1 } }) => x1 > edge - MAX_GAP * size)
  const right = usualPlace(near.map(({ note }) => note.x1))
  if (right === undefined || right.count < MIN_NOTES || right.place > edge - SAME_EDGE) return none
  const noted = near.filter(({ note }) => note.x1 > right.place - SAME_EDGE)
  if (noted.length < Math.max(MIN_NOTES, MOSTLY * words.length)) return none
  if (noted.length > MAX_SHARE * long.length) return none
  const notes: Array<Array<Line>> = []
  for (const line of linesOf(
    noted.map(({ note }) => note),
    fonts
  )) {
    const above = notes.at(-1)?.at(-1)
    if (above !== undefined && line.baseline - above.baseline < STEP * line.size) notes.at(-1)?.push(line)
    else notes.push([line])
  }
  const cut = new Map(noted.map(({ segment, text: rest }) => [segment, rest]))
  const rest = segments.flatMap((segment) => (cut.has(segment) ? (cut.get(segment) ?? []) : [segment]))
  const inText = new Set(
    rest.flatMap(({ baseline, x0 }) => (x0 > edge - SAME_EDGE ? [Math.round(baseline)] : []))
  )
  // A note begins at the height of a line of the text.
  const meetsText = ({ baseline }: Line): boolean =>
    [-1, 0, 1].some((off) => inText.has(Math.round(baseline) + off))
  return notes.every(([first]) => first !== undefined && meetsText(first))
    ? { notes, text: rest, edge }
    : none
}
