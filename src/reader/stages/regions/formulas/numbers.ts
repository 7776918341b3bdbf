import { greatest, least } from "../../../model/lists.ts"
import type { Line } from "../../lines/line.ts"
import { type Segment, segmentText } from "../../lines/segment.ts"
import { EQUATION_NUMBER } from "./mathematical.ts"
import type { Numbered } from "./systems.ts"
import type { Zone } from "./zones.ts"

/**
 * Least distance of an equation number from its formula, in sizes of the text: TeX leaves half of one, and signs are
 * nearer to each other.
 */
const NUMBER_GAP = 0.45
/** Greatest distance of a tag from the column's edge, in sizes of the text. */
const AT_EDGE = 2.5
/** Distance from the column's edge for a tag that nothing else distinguishes from the signs before it. */
const AT_VERY_EDGE = 0.3
const MAX_SEGMENTS = 600
/** Greatest number of pieces of an equation number: its prime and the bracket behind it are in other faces. */
const MAX_PIECES = 4

/**
 * Moves a number at the column's right edge into a separate segment where it is so near to the formula that it was part
 * of its segment.
 */
export const withNumberApart = (line: Line, right: number, bodySize: number): Line => {
  const segment = line.segments.at(-1)
  if (
    segment === undefined ||
    Math.abs(right - segment.x1) > AT_VERY_EDGE * bodySize ||
    !/[)\]]\s*$/.test(line.text)
  )
    return line
  const { pieces } = segment
  for (let at = pieces.length - 1; at > 0 && at >= pieces.length - MAX_PIECES; at--) {
    const [before, first] = [pieces[at - 1], pieces[at]]
    if (before === undefined || first === undefined || first.x0 - before.x1 < NUMBER_GAP * bodySize) continue
    const [formula, number] = [
      { ...segment, pieces: pieces.slice(0, at), x1: before.x1 },
      { ...segment, pieces: pieces.slice(at), x0: first.x0 }
    ]
    return EQUATION_NUMBER.test(segmentText(number))
      ? { ...line, segments: [...line.segments.slice(0, -1), formula, number] }
      : line
  }
  return line
}

/** A zone's number, and the rest of the zone. */
export const numberedOf = (zone: Zone, left: number, right: number, bodySize: number): Numbered => {
  const segments = zone.lines.flatMap((line) => line.segments)
  if (segments.length > MAX_SEGMENTS) return { number: undefined, body: [] }
  const isTag = (segment: Segment): boolean => {
    if (!EQUATION_NUMBER.test(segmentText(segment))) return false
    const others = segments.filter((other) => other !== segment)
    if (others.length === 0) return false
    const atRight = right - segment.x1 < AT_EDGE * bodySize
    const atLeft = segment.x0 - left < 0.5 * bodySize
    const gap = atRight
      ? segment.x0 - greatest(others.map(({ x1 }) => x1))
      : least(others.map(({ x0 }) => x0)) - segment.x1
    return (atRight || atLeft) && gap > NUMBER_GAP * bodySize
  }
  const tag = segments.find(isTag)
  return tag === undefined
    ? { number: undefined, body: segments }
    : {
        number: {
          label: segmentText(tag).trim(),
          baseline: tag.baseline,
          leads: right - tag.x1 > AT_EDGE * bodySize
        },
        body: segments.filter((segment) => segment !== tag)
      }
}
