/** White stripes between columns. */
import { assert, it } from "vitest"

import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, rule, run } from "../page-builder.ts"

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
    Array.from({ length: 9 }, (_, at) => run(words, x, 150 + 14 * at))
  const [left, right] = [
    verse("Left of the river there are stones.", 56),
    verse("right of it there are lakes", 243)
  ]
  const html = (runs: ReadonlyArray<ReturnType<typeof run>>): string =>
    layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })[0]?.html ?? ""
  const title = [
    "Of rivers and of stones",
    "To the tune of the lake",
    "In two parts, for all",
    "Slowly, with force"
  ].map((words, at) => run(words, 170, 86 + 15 * at))
  assert.notInclude(html([...title, ...left, ...right]), "stones. right")
  // A few lines may be rows of cells.
  const few = [left, right].flatMap((side) => side.slice(0, 4))
  assert.include(html([...title, ...few]), "stones. right")
  const rows = left.flatMap((one, at) => [one, ...right.slice(at, at + 1)])
  assert.match(html([...title, ...rows]), /stones\. right/)
})

it("tables side by side are read from the left, each below its title, however long they are", () => {
  const rows = (length: number) => Array.from({ length }, (_, at) => at)
  const words = (name: string, x: number, length: number) => [
    run(`Class ${name}`, x, 140),
    ...rows(length).flatMap((at) =>
      ["Pos", "Crew", "Pts"].map((word, column) =>
        run(at === 0 ? word : `${name}${at}${column}`, x + 50 * column, 170 + 16 * at)
      )
    )
  ]
  const rules = (x: number, length: number) => [
    ...rows(length + 1).map((at) => rule(x - 4, 158 + 16 * at, x + 146, 158.4 + 16 * at)),
    ...rows(4).map((at) => rule(x - 4 + 50 * at, 158, x - 3.6 + 50 * at, 158 + 16 * length))
  ]
  const html = (titled: boolean): string => {
    const runs = [...words("A", 60, 8), ...words("B", 230, 6), ...words("C", 400, 4)]
    const drawings = [...rules(60, 8), ...rules(230, 6), ...rules(400, 4)]
    const own = runs.filter(({ text }) => titled || !text.startsWith("Class"))
    const pages = [page([run("Results", 60, 100, { size: 16 }), ...own], 0, { drawings })]
    return layoutPages({ facts: FACTS, fonts: FONTS, pages, others: NO_STATISTICS })[0]?.html ?? ""
  }
  assert.match(html(true), /Class A.*A20.*Class B.*B20.*Class C.*C20/s)
  assert.match(html(false), /A20.*B20.*C20/s)
})
