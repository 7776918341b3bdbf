import { CAPTION, captionStart } from "../../lines/markers.ts"
import { type Segment, segmentText } from "../../lines/segment.ts"

/** Lines from a caption's number to its title below, in font sizes. */
const TITLE_STEP = 3

/** Whether a line is a caption of a figure, or begins one. */
export const isCaption = (segment: Segment): boolean => {
  const text = segmentText(segment)
  return captionStart(text)?.table === false && !/^listing/i.test(text)
}

/** The title line below a caption that is only a number. */
export const titleOf = (caption: Segment, segments: ReadonlyArray<Segment>): Segment | undefined =>
  CAPTION.exec(segmentText(caption))?.[0].trimEnd() === segmentText(caption).trimEnd()
    ? segments.find(
        ({ baseline, x0 }) =>
          baseline > caption.baseline + 0.5 * caption.size &&
          baseline < caption.baseline + TITLE_STEP * caption.size &&
          Math.abs(x0 - caption.x0) < caption.size
      )
    : undefined
