import type { PageContent } from "../../../model/page-content.ts"
import type { Placed } from "../../../model/placed.ts"

/** Smaller ones are decoration, points. */
const MIN_SIDE = 18

const MIN_AREA = 900

/** A picture that covers more of a page with text is its background, or the scan that the text was read from. */
const BACKGROUND = 0.8

/** More pictures on a page are tiles of one. */
const MAX_FIGURES = 40

/** The page's pictures, without those that carry no information. `hasText`: words were read on the page. */
export const figuresOf = (page: PageContent, hasText: boolean): ReadonlyArray<Placed> => {
  const placed: Array<Placed> = []
  for (const drawing of page.drawings) {
    if (drawing.kind !== "image" || drawing.artifact) continue
    const x0 = Math.max(0, drawing.box.x0)
    const y0 = Math.max(0, drawing.box.y0)
    const x1 = Math.min(page.width, drawing.box.x1)
    const y1 = Math.min(page.height, drawing.box.y1)
    const [width, height] = [x1 - x0, y1 - y0]
    if (width < MIN_SIDE || height < MIN_SIDE || width * height < MIN_AREA) continue
    if (hasText && width * height > BACKGROUND * page.width * page.height) continue
    placed.push({
      block: {
        kind: "figure",
        image: drawing.index,
        region: undefined,
        alt: undefined,
        labels: [],
        caption: []
      },
      x0,
      y0,
      x1,
      y1
    })
  }
  return placed.length > MAX_FIGURES ? [] : placed
}
