import type { Line } from "./line.ts"
import { LEADER_LINE } from "./markers.ts"
import { segmentText } from "./segment.ts"

/** White before the page number of a table of contents, in font sizes. */
const PAGE_GAP = 1.5

/** Whether a line is an entry of a table of contents: words, white or leaders, a page number. */
export const endsInPageNumber = ({ segments, size, text }: Line): boolean => {
  const [before, last] = [segments.at(-2), segments.at(-1)]
  if (LEADER_LINE.test(text)) return true
  return (
    before !== undefined &&
    last !== undefined &&
    last.x0 - before.x1 > PAGE_GAP * size &&
    /^(\d{1,4}|[ivxlc]{1,7})$/.test(segmentText(last).trim())
  )
}
