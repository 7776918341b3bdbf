import { describe, expect, it } from "vitest"

import { ResultChecker } from "../../../src/reader/html/result-check.ts"
import { documentStart } from "../../../src/reader/html/shell.ts"
import { planOf } from "../../../src/reader/html/survey.ts"

const start = (title = "Rivers & lakes", lang = "de") =>
  documentStart(
    planOf(
      { headings: [], pages: 5, sample: "", places: new Set(), named: new Map(), repeated: new Set() },
      { title, lang },
      { detect: () => undefined, name: "rivers.pdf" }
    )
  )
const page = (number: number, html: string) =>
  `<div role="doc-pagebreak" class="page" id="page-${number}">Seite ${number}</div>${html}`
const picture = (alt: string) =>
  `<img width="9" src="data:image/png;base64,${"A".repeat(20_000)}" alt="${alt}">`
/** A picture that the document stores once. */
const drawing = (said: string) =>
  `<svg class="store" aria-hidden="true" width="0" height="0"><image id="picture-1" href="data:image/png;base64,AAAA"></image></svg>` +
  `<svg viewBox="0 0 1 1" width="1" ${said}><use href="#picture-1"></use></svg>`

/** The report of a document that comes in parts of so many characters. */
const reportOf = (html: string, size = 100_000) => {
  const checker = new ResultChecker()
  for (let at = 0; at < html.length; at += size) checker.add(html.slice(at, at + size))
  return checker.report("rivers")
}
const of = (html: string, check: string) => reportOf(html).checks.find((one) => one.check === check)

describe("what can be said of a result's accessibility (DOC-25)", () => {
  const document = [
    start(),
    page(1, `<h1 id="section-1">Rivers</h1>${picture("The river in spring")}<a href="#page-2">two</a>`),
    page(
      2,
      `${picture("Bild ohne Beschreibung")}${drawing('aria-hidden="true"')}<details class="scan">${picture("Bild ohne Beschreibung")}</details>`
    ),
    page(
      3,
      `<table><thead><tr><th>a</th></tr></thead></table><table><tr><td>b<table><tr><th>c</th></tr></table></td></tr></table>`
    ),
    page(
      4,
      `<label>Name <input type="text" disabled=""></label><input type="text" disabled="" aria-label="Formularfeld">`
    ),
    page(
      4,
      `<math><mi>x</mi></math><h2 id="section-2">Lakes</h2>${drawing('role="img" aria-label="Bild ohne Beschreibung"')}`
    ),
    "</main></body></html>"
  ].join("")

  it("counts what is there, and names the pages where a person has to look", () => {
    expect(reportOf(document)).toEqual({
      lang: "de",
      title: "Rivers & lakes",
      checks: [
        { check: "title", count: 1, flagged: 0, pages: [] },
        { check: "headings", count: 3, flagged: 0, pages: [] },
        { check: "pictures", count: 4, flagged: 2, pages: [2, 4] },
        { check: "tables", count: 3, flagged: 1, pages: [3] },
        { check: "fields", count: 2, flagged: 1, pages: [4] },
        { check: "formulas", count: 1, flagged: 0, pages: [] },
        { check: "links", count: 1, flagged: 0, pages: [] }
      ]
    })
  })

  it("says the same however the document is cut into parts", () => {
    for (const size of [1, 7, 4_096, 30_011]) expect(reportOf(document, size)).toEqual(reportOf(document))
  })

  it("flags a title that is the file's name, and a long document without headings", () => {
    expect(of(start("rivers"), "title")?.flagged).toBe(1)
    const words = (pages: number) =>
      start("Rivers").replace(/<h1>.*<\/h1>/, "") +
      Array.from({ length: pages }, (_, at) => page(at + 1, "<p>words</p>")).join("")
    expect([of(words(3), "headings")?.flagged, of(words(4), "headings")?.flagged]).toEqual([0, 1])
  })

  it("is linear, and keeps little, whatever it reads", () => {
    const checker = new ResultChecker()
    const part = "x".repeat(65_536)
    checker.add('<img src="data:')
    for (let at = 0; at < 2_000; at++) checker.add(part)
    checker.add('" alt="Picture without a description">')
    for (let at = 0; at < 200; at++) checker.add("<table>".repeat(1_000))
    for (const wrong of ["</table></table>", "<", "<>", "< / >", '<div role="doc-pagebreak" id="page-x">'])
      checker.add(wrong)
    const { checks } = checker.report("")
    expect(checks.find(({ check }) => check === "pictures")).toMatchObject({ count: 1, flagged: 1 })
  })
})
