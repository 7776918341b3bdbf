import type { LayoutPlan } from "../../../reader/model/layout-page.ts"

/** Pages of a long document that are counted. */
const SAMPLE = 40

/** Pages to count before a long document is laid out in chunks: pairs of neighbours, spread evenly. */
export const samplePages = (pageCount: number): ReadonlyArray<number> => {
  if (pageCount <= SAMPLE) return Array.from({ length: pageCount }, (_, index) => index)
  const pairs = SAMPLE / 2
  return Array.from({ length: pairs }, (_, pair) =>
    Math.floor((pair * (pageCount - 2)) / (pairs - 1))
  ).flatMap((first) => [first, first + 1])
}

/** How a PDF is laid out: the same for every chunk of its pages. */
export const LAYOUT_PLAN: LayoutPlan = {
  counted: samplePages,
  // Those of real samples come to a quarter of it.
  keptCharacters: 400_000,
  together: 64,
  // A reader has to load them all.
  pictureBytes: 3 * 1024 * 1024
}
