/** What links lead to in the whole document. */
import { assert, describe, it } from "vitest"

import { parseFragment } from "../../../../src/adapters/html/parse-fragment.ts"
import { PageFold } from "../../../../src/domain/conversion/html/fold.ts"
import { headingsByWords, linkTarget } from "../../../../src/domain/conversion/html/link-targets.ts"
import { pageDocument } from "../../../../src/domain/conversion/html/shell.ts"
import { planOf, Surveyor } from "../../../../src/domain/conversion/html/survey.ts"
import { layoutPages } from "../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../src/domain/conversion/layout/statistics.ts"
import type { PageContent } from "../../../../src/domain/conversion/page-content.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../layout/page-builder.ts"

const headings = headingsByWords([
  { page: 0, text: "1 Stones" },
  { page: 30, text: "2.1 Cold water" },
  { page: 30, text: "Appendix B Words" },
  { page: 31, text: "Notes" },
  { page: 31, text: "Notes" },
  { page: 40, text: "3 Banks" },
  { page: 50, text: "3 Bridges" }
])
const to = (id: string, words: string) =>
  linkTarget({ headings, pageCount: 60, places: new Set(["at-31-2"]) }, id, words)

describe("a link to a page", () => {
  it("leads to the heading there that has its words, or its number", () => {
    for (const words of [
      "2.1",
      "Section 2.1",
      "2.1 Cold water",
      "2.1. Cold water . . . . . . 31",
      "Cold water 2.1"
    ])
      assert.strictEqual(to("page-31", words), words === "Cold water 2.1" ? "page-31" : "section-2", words)
    assert.strictEqual(to("page-31", "Appendix B"), "section-3")
    assert.strictEqual(to("page-41", "3"), "section-6")
  })

  it("leads to the page where nothing there has its words, or two have, and nowhere outside of the document", () => {
    for (const [id, words] of [
      ["page-31", "31"],
      ["page-31", "water"],
      ["page-30", "2.1"],
      ["page-32", "Notes"],
      ["page-31", ""]
    ] as const)
      assert.strictEqual(to(id, words), id, words)
    assert.strictEqual(to("at-31-2", "2.1"), "p31-at-31-2")
    for (const id of ["page-0", "page-61", "section-2", "named-figure-2", ""])
      assert.isUndefined(to(id, "2.1"), id)
  })

  it("by a section's name leads to the one section that has it", () => {
    assert.strictEqual(to("named-section-2.1", ""), "section-2")
    assert.strictEqual(to("named-section-B", ""), "section-3")
    for (const name of ["3", "9"]) assert.isUndefined(to(`named-section-${name}`, ""), name)
  })
})

describe("a reference to a section that is laid out with other pages", () => {
  const laidOut = (content: PageContent, pageCount: number): string =>
    layoutPages({ facts: { ...FACTS, pageCount }, fonts: FONTS, pages: [content], others: NO_STATISTICS })
      .map(({ html }) => html)
      .join("")
  const bold = { font: FONT.bold, size: 14 }
  const first = page([
    run("1 Stones", 60, 60, bold),
    ...lines(`${prose(20)} See Section 2 and Section 7. ${prose(20)}`, 60, 90, 80)
  ])
  const second = page([run("2 Rivers", 60, 60, bold), ...lines(prose(40, 2), 60, 90, 80)], 1)

  it("is a link where the document has the section, and words where it has not", () => {
    const pages = [first, second].map((content) => parseFragment(laidOut(content, 2)))
    const surveyor = new Surveyor()
    for (const nodes of pages) surveyor.add(nodes)
    const facts = { lang: "en", title: "Rivers" }
    const fold = new PageFold(planOf(surveyor.survey(), facts, { detect: () => undefined, name: undefined }))
    const html =
      pages.map((nodes, index) => fold.add({ index, label: String(index + 1), nodes })).join("") + fold.end()
    const id = /href="#([^"]*)">Section 2<\/a> and Section 7\. /.exec(html)?.[1]
    assert.match(html, new RegExp(`<h\\d id="${id}">2 Rivers`))
  })

  it("stays words where there are no other pages", () => {
    assert.include(laidOut(first, 1), " See Section 2 and Section 7. ")
  })
})

describe("a page that is shown without the others", () => {
  const shown = (html: string): string =>
    /<main>(.*)<\/main>/s.exec(pageDocument({ lang: "en", title: "Page 2", html }))?.[1] ?? ""

  it("keeps the links to what is on it and to other addresses; those to other pages are words, with their marks", () => {
    const kept =
      '<h2 id="at-2-1">2 Rivers</h2><p><a href="#at-2-1">here</a> <a href="https://example.org/#page-3">there</a></p>' +
      '<p>Note<a role="doc-noteref" href="#fn-1"><sup>1</sup></a></p><div role="doc-footnote" id="fn-1"><p>of it</p></div>'
    assert.strictEqual(shown(kept), kept)
    assert.strictEqual(
      shown(
        '<p>See <a href="#named-section-3">Section <em>3</em></a>, <a href="#page-1">page 1</a>, ' +
          '<a id="own" href="#at-1-4">(4)</a> and <a role="doc-noteref" href="#fn-2"><sup>2</sup></a></p>'
      ),
      '<p>See <a>Section <em>3</em></a>, <a>page 1</a>, <a id="own">(4)</a> and <a><sup>2</sup></a></p>'
    )
  })

  it("takes no words for markup", () => {
    const words = '<p>A link is &lt;a href="#x"&gt;, a place id="page-1": <a href="#page-1">page 1</a></p>'
    assert.strictEqual(shown(words), words.replace(' href="#page-1"', ""))
  })
})
