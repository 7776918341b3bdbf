import type { Box, PageContent } from "../../page-content.ts"

/** Thickest bar of a fraction or a root, and the shortest and longest, points. */
const THICK = 1.6
const SHORT = 2.5
const LONG = 420
/** A page with more level lines is a form, a grid or a drawing. */
const MAX_BARS = 600

/** The thin level lines of a page that may be bars of fractions and roots. */
export const barsOf = ({ drawings }: PageContent): ReadonlyArray<Box> => {
  const bars = drawings.filter(({ artifact, box, kind }) => {
    const [width, height] = [box.x1 - box.x0, box.y1 - box.y0]
    return (
      kind === "path" && !artifact && height < THICK && width > SHORT && width < LONG && width > 2 * height
    )
  })
  return bars.length > MAX_BARS ? [] : bars.map(({ box }) => box)
}
