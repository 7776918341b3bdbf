/** Running headers and footers that are set as tables: their borders are no part of the text's tables. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, rule, run } from "../../../page-builder.ts"

const grid = (xs: ReadonlyArray<number>, ys: ReadonlyArray<number>) => [
  ...ys.map((y) => rule(xs[0] ?? 0, y - 0.2, xs.at(-1) ?? 0, y + 0.2)),
  ...xs.map((x) => rule(x - 0.2, ys[0] ?? 0, x + 0.2, ys.at(-1) ?? 0))
]

/** Rows of two cells whose first one is empty, as where a row goes on from the page before. */
const rowsFrom = (y: number, index: number) =>
  [0, 1, 2, 3, 4].flatMap((at) => [
    ...(at === 0 ? [] : [run(`river ${index}${at}`, 86, y + 20 * at)]),
    run(`water of kind ${index}${at}`, 206, y + 20 * at)
  ])

/** Three pages with a header of two rows; right below it stands a table that has its names on every page. */
const pages = (): ReadonlyArray<string> =>
  layoutPages({
    facts: { ...FACTS, pageCount: 3 },
    fonts: FONTS,
    pages: [0, 1, 2].map((index) => ({
      ...page(
        [
          run("Example Ltd", 86, 46),
          run("Rivers", 186, 46),
          run(`Page ${index + 1}`, 346, 46),
          run("No. 1234", 86, 64),
          run("Description", 186, 64),
          run("Issue 2", 346, 64),
          run("Kind", 86, 82),
          run("Meaning", 206, 82),
          ...rowsFrom(102, index),
          ...lines(prose(160, index), 60, 240, 90)
        ],
        index
      ),
      drawings: [
        ...grid([80, 180, 440], [32, 50, 68]),
        ...grid([80, 200, 440], [69, 88, 108, 128, 148, 168, 188])
      ]
    })),
    others: NO_STATISTICS
  }).map(({ html }) => html)

describe("a running header that is set as a table", () => {
  it("is left out with its borders, though three rows are the same on all pages", () => {
    for (const html of pages()) {
      assert.notInclude(html, "Issue 2")
      assert.include(html, "Meaning")
      assert.notInclude(html, "colspan")
    }
  })
})

describe("rules in the margin of a page without running lines", () => {
  it("are those of its table", () => {
    const xs = [80, 200, 440]
    const html = layoutPages({
      facts: { ...FACTS, pageCount: 1 },
      fonts: FONTS,
      pages: [
        {
          ...page([
            run("Kind", 86, 46),
            run("Meaning", 206, 46),
            ...rowsFrom(64, 0),
            ...lines(prose(160), 60, 240, 90)
          ]),
          drawings: grid(xs, [32, 50, 70, 90, 110, 130, 150])
        }
      ],
      others: NO_STATISTICS
    })
      .map(({ html: one }) => one)
      .join("")
    assert.match(html, /<th scope="col">Kind<\/th><th scope="col">Meaning<\/th>/)
  })
})
