import type { Box, PageContent } from "../../../model/page-content.ts"
import type { Placed } from "../../../model/placed.ts"

/** Room around a figure, points. */
const MARGIN = 2

/** A part of a page as a figure, its words, and how its caption begins. */
export const placedFigure = (
  box: Box,
  { height, width }: PageContent,
  labels: ReadonlyArray<string>,
  captionStart?: string
): Placed => {
  const shown: Box = {
    x0: Math.max(0, box.x0 - MARGIN),
    y0: Math.max(0, box.y0 - MARGIN),
    x1: Math.min(width, box.x1 + MARGIN),
    y1: Math.min(height, box.y1 + MARGIN)
  }
  return {
    block: {
      kind: "figure",
      image: undefined,
      region: shown,
      alt: undefined,
      labels,
      caption: [],
      captionStart
    },
    ...shown
  }
}
