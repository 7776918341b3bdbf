/** White stripes between columns. */
import { assert, it } from "vitest"

import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, run } from "../page-builder.ts"

/** Two columns of full lines of 240 points, type of 12, so far apart. */
const columns = (apart: number): string => {
  const column = (words: string, x: number) =>
    Array.from({ length: 12 }, (_, at) => run(words, x, 101 + 14 * at, { size: 12 }))
  const pages = [
    page([
      ...column("Left of the river there are many a lake.", 61),
      ...column("Right of it there are so many more lakes", 301 + apart)
    ])
  ]
  const [only] = layoutPages({ facts: FACTS, fonts: FONTS, pages, others: NO_STATISTICS })
  return only?.html ?? ""
}

it("a stripe that nothing reaches into parts columns also where it is hardly wider than a wide space", () => {
  for (const apart of [6.7, 7.3, 9]) assert.notInclude(columns(apart), "lake. Right")
  assert.include(columns(5), "lake. Right")
})

it("the stripe is as narrow as the print beside it is small, and no wider for being large", () => {
  const html = (apart: number, size: number, usual: number): string => {
    const column = (words: string, x: number) =>
      Array.from({ length: 12 }, (_, at) => run(words, x, 101 + 1.2 * size * at, { size }))
    const pages = [
      page([
        ...column("Left of the river there are many a lake.", 61),
        ...column("Right of it there are so many more lakes", 61 + 20 * size + apart)
      ]),
      page(lines(prose(400), 61, 101, 80, { size: usual }), 1)
    ]
    return layoutPages({ facts: FACTS, fonts: FONTS, pages, others: NO_STATISTICS })[0]?.html ?? ""
  }
  assert.notInclude(html(5, 7, 12), "lake. Right")
  assert.include(html(3, 7, 12), "lake. Right")
  assert.notInclude(html(6.5, 12, 9), "lake. Right")
})
