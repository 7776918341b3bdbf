/** Notes below tables. */
import { assert, describe, it } from "vitest"

import { PageFold } from "../../../../src/reader/html/fold.ts"
import { parseFragment } from "../../../../src/reader/html/parse-fragment.ts"
import { planOf, Surveyor } from "../../../../src/reader/html/survey.ts"
import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, run } from "../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")

const raised = (mark: string, x: number, y: number): TextRun => run(mark, x, y - 4, { size: 6 })
const row = (y: number, ...cells: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  cells.flatMap((cell, at) => {
    const [words = "", mark] = cell.split("^")
    const x = 60 + 140 * at
    return [run(words, x, y), ...(mark === undefined ? [] : [raised(mark, x + 5 * words.length, y)])]
  })
const TABLE = [
  ...row(100, "Item", "Count", "Sum"),
  ...row(114, "Paper", "c", "4.50"),
  ...row(128, "Stone^a", "13", "5.50"),
  ...row(142, "River", "14^b", "6.50")
]
const note = (mark: string, words: string, y: number): ReadonlyArray<TextRun> => [
  raised(mark, 60, y),
  run(words, 64, y, { size: 8 })
]
const made = (...notes: ReadonlyArray<TextRun>): string =>
  htmlOf([...lines(prose(40), 60, 40, 90), ...TABLE, ...notes, ...lines(prose(90, 3), 60, 220, 90)])
const refersTo = (at: number, mark: string): string =>
  `<a role="doc-noteref" href="#table-note-${at}"><sup>${mark}</sup></a>`

describe("notes below a table", () => {
  it("are what the marks in its cells lead to, each a paragraph right below", () => {
    const html = made(...note("a", "Of last year.", 160), ...note("b", "Bridges are among them.", 170))
    assert.include(html, `Stone${refersTo(1, "a")}</th>`)
    assert.include(html, `<td>14${refersTo(2, "b")}</td>`)
    assert.match(
      html,
      /<\/table><p id="table-note-1"><sup>a<\/sup> ?Of last year\.\s*<\/p><p id="table-note-2"><sup>b<\/sup> ?Bridges are among them\.<\/p><\/div><p>/
    )
  })

  it("are only those whose marks the table has, raised, right below it", () => {
    for (const other of [
      note("c", "Of last year.", 160),
      [run("a Of last year.", 60, 160, { size: 8 })],
      [...lines(prose(30, 2), 60, 160, 90), ...note("a", "Of last year.", 200)]
    ])
      assert.notMatch(made(...other), /doc-noteref|table-note/)
  })
})

describe("notes below a table that went on over pages", () => {
  const content = (index: number, ...runs: ReadonlyArray<TextRun>) => page(runs, index)
  const rows = (y: number, ...marks: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
    ["Paper", "Stone", "River", "Letter", "Margin"].flatMap((word, at) =>
      row(y + 14 * at, `${word}${marks[at] ?? ""}`, String(12 + at), `${at}.50`)
    )
  const head = row(60, "Item", "Count", "Sum")
  const assembled = (...contents: ReadonlyArray<ReturnType<typeof page>>): string => {
    // Each page is laid out alone, as those are that twenty pages part.
    const fragments = contents.map((one) =>
      layoutPages({
        facts: { ...FACTS, pageCount: contents.length },
        fonts: FONTS,
        pages: [one],
        others: NO_STATISTICS
      })
        .map(({ html }) => html)
        .join("")
    )
    const surveyor = new Surveyor()
    for (const html of fragments) surveyor.add(parseFragment(html))
    const plan = planOf(
      surveyor.survey(),
      { lang: "en", title: "Rivers" },
      { detect: () => undefined, name: "" }
    )
    const fold = new PageFold(plan)
    return (
      fragments
        .map((html, index) => fold.add({ index, label: String(index + 1), nodes: parseFragment(html) }))
        .join("") + fold.end()
    )
  }
  const refers = (id: string, mark: string): string =>
    `<a role="doc-noteref" href="#${id}"><sup>${mark}</sup></a>`
  const first = content(
    0,
    ...lines(prose(300), 60, 60, 90),
    ...row(690, "Item", "Count", "Sum"),
    ...rows(704, "^a", "", "^b")
  )
  const text = lines(prose(90, 3), 60, 260, 90)

  it("are what the marks of the pages before lead to, and those of their own page", () => {
    const html = assembled(
      first,
      content(
        1,
        ...head,
        ...rows(74, "", "^b"),
        ...note("a", "Of last year.", 148),
        ...note("b", "Bridges.", 158),
        ...text
      )
    )
    assert.strictEqual(html.match(/<table/g)?.length, 1)
    assert.include(html, `Paper${refers("p2-table-note-1", "a")}`)
    assert.include(html, `River${refers("p2-table-note-2", "b")}`)
    assert.include(html, `<p id="p2-table-note-1"><sup>a</sup>`)
    assert.notMatch(html, /<a [^>]*><a /)
  })

  it("are the page's last notes, too, where nothing on that page refers to them", () => {
    const signs = content(
      0,
      ...lines(prose(300), 60, 60, 90),
      ...row(690, "Item", "Count", "Sum"),
      ...rows(704, "^*")
    )
    const html = assembled(
      signs,
      content(1, ...head, ...rows(74), ...text, ...note("*", "Of last year.", 700))
    )
    assert.match(html, /Paper<a role="doc-noteref" href="#p2-fn-1"><sup>\*<\/sup><\/a>/)
  })

  it("are none where a text begins with another mark, or the table is not the page's first", () => {
    for (const second of [
      content(1, ...head, ...rows(74), ...note("c", "Of last year.", 148), ...text),
      content(
        1,
        ...lines(prose(60, 7), 60, 40, 90),
        ...row(120, "Item", "Count", "Sum"),
        ...rows(134),
        ...note("a", "Of last year.", 208),
        ...text
      )
    ])
      assert.notInclude(assembled(first, second), "doc-noteref")
  })
})
