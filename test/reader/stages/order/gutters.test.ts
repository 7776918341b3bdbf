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

it("verses in two narrow columns below a title in the middle are columns, where they are drawn one after the other", () => {
  const verse = (words: string, x: number) =>
    Array.from({ length: 9 }, (_, at) => run(at % 2 === 0 ? words : "of the river", x, 150 + 14 * at))
  const [left, right] = [
    verse("Left of the river there are stones.", 56),
    verse("right of it there are lakes", 243)
  ]
  const html = (runs: ReadonlyArray<ReturnType<typeof run>>): string =>
    layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })[0]?.html ?? ""
  const title = ["Of rivers and of stones", "To the tune of the lake", "In two parts, for all"].map(
    (words, at) => run(words, 170, 100 + 15 * at)
  )
  assert.notInclude(html([...title, ...left, ...right]), "stones. right")
  const rows = left.flatMap((one, at) => [one, ...right.slice(at, at + 1)])
  assert.match(html([...title, ...rows]), /lakes.*stones\./s)
})

it("tables side by side are read from the left, each below its title, however long they are", () => {
  const table = (name: string, x: number, rows: number) => [
    run(`Class ${name}`, x, 150),
    ...Array.from({ length: rows }, (_, at) =>
      ["Pos", "Crew", "Pts"].map((word, column) =>
        run(at === 0 ? word : `${name}${at}${column}`, x + 50 * column, 170 + 16 * at, {
          font: at === 0 ? 1 : 0
        })
      )
    ).flat()
  ]
  const runs = [
    run("Results", 60, 100, { size: 16 }),
    ...table("A", 60, 8),
    ...table("B", 230, 6),
    ...table("C", 400, 4)
  ]
  const html =
    layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })[0]?.html ?? ""
  assert.match(html, /Class A.*A20.*Class B.*B20.*Class C.*C20/s)
  const bare = layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [page(runs.filter(({ text }) => !text.startsWith("Class")))],
    others: NO_STATISTICS
  })
  assert.match(bare[0]?.html ?? "", /A20.*B20.*C20/s)
})
