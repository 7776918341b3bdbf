/** What links lead to in the whole document. */
import { assert, describe, it } from "vitest"

import { PageFold } from "../../../src/reader/html/fold.ts"
import { headingsByWords, linkTarget } from "../../../src/reader/html/link-targets.ts"
import { NamedThingsFound } from "../../../src/reader/html/named-things.ts"
import { parseFragment } from "../../../src/reader/html/parse-fragment.ts"
import { pageDocument } from "../../../src/reader/html/shell.ts"
import { planOf, Surveyor } from "../../../src/reader/html/survey.ts"
import type { PageContent } from "../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, picture, prose, run } from "../stages/page-builder.ts"

const headings = headingsByWords([
  { page: 0, text: "1 Stones" },
  { page: 30, text: "2.1 Cold water" },
  { page: 30, text: "Appendix B Words" },
  { page: 31, text: "Notes" },
  { page: 31, text: "Notes" },
  { page: 40, text: "3 Banks" },
  { page: 50, text: "3 Bridges" }
])
const named = new Map([
  ["figure 3", [{ id: "at-41-1-figure-3", page: 40, chapter: 4 }]],
  ["table 1", [1, 2, 2].map((chapter, at) => ({ id: `at-${9 + at}-1-table-1`, page: 8 + at, chapter }))]
])
const to = (id: string, words: string, chapter = 1) =>
  linkTarget({ headings, pageCount: 60, places: new Set(["at-31-2"]), named }, id, words, chapter)

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

describe("a link by the name of a figure, a table or an equation", () => {
  it("leads to the one thing of the document that has it, or to the one of its chapter", () => {
    assert.strictEqual(to("named-figure-3", "Figure 3"), "p41-at-41-1-figure-3")
    assert.strictEqual(to("named-table-1", "Table 1", 1), "p9-at-9-1-table-1")
  })

  it("leads nowhere where a chapter has two, or none while others have some, and nothing has the name", () => {
    assert.isUndefined(to("named-table-1", "Table 1", 2))
    assert.isUndefined(to("named-table-1", "Table 1", 3))
    assert.isUndefined(to("named-equation-3", "Eq. (3)"))
  })
})

const laidOut = (content: PageContent, pageCount: number): string =>
  layoutPages({ facts: { ...FACTS, pageCount }, fonts: FONTS, pages: [content], others: NO_STATISTICS })
    .map(({ html }) => html)
    .join("")
const bold = { font: FONT.bold, size: 14 }

/** Assembles pages, each laid out without the others. */
const assembled = (contents: ReadonlyArray<PageContent>): string => {
  const fragments = contents.map((content) => laidOut(content, contents.length))
  const surveyor = new Surveyor()
  for (const html of fragments) if (!surveyor.skips(html)) surveyor.add(parseFragment(html))
  const facts = { lang: "en", title: "Rivers" }
  const fold = new PageFold(planOf(surveyor.survey(), facts, { detect: () => undefined, name: undefined }))
  const parts = fragments.map((html, index) =>
    fold.add({ index, label: String(index + 1), nodes: parseFragment(html) })
  )
  return parts.join("") + fold.end()
}

describe("a reference to a section that is laid out with other pages", () => {
  const first = page([
    run("1 Stones", 60, 60, bold),
    ...lines(`${prose(20)} See Section 2 and Section 7. ${prose(20)}`, 60, 90, 80)
  ])
  const second = page([run("2 Rivers", 60, 60, bold), ...lines(prose(40, 2), 60, 90, 80)], 1)

  it("is a link where the document has the section, and words where it has not", () => {
    const html = assembled([first, second])
    const id = /href="#([^"]*)">Section 2<\/a> and Section 7\. /.exec(html)?.[1]
    assert.match(html, new RegExp(`<h\\d id="${id}">2 Rivers`))
  })

  it("stays words where there are no other pages", () => {
    assert.include(laidOut(first, 1), " See Section 2 and Section 7. ")
  })
})

describe("a reference to a figure, a table or an equation that is laid out with other pages", () => {
  const captioned = (index: number, caption: string, ...words: ReadonlyArray<string>): PageContent =>
    page(
      [
        ...lines(`${prose(30, index)} ${words.join(" ")} ${prose(20, index + 1)}`, 60, 60, 90),
        run(caption, 60, 420)
      ],
      index,
      { drawings: [picture(0, 60, 200, 400, 400)] }
    )
  const chapter = (title: string, content: PageContent): PageContent => ({
    ...content,
    runs: [run(title, 60, 40, bold), ...content.runs]
  })
  /** Whether the words are a link, and to which page. */
  const leads = (html: string, words: string): string | undefined =>
    new RegExp(`href="#p(\\d+)-at-[^"]*">${words}</a>`).exec(html)?.[1]

  it("leads to the one that the document has, on another page", () => {
    const html = assembled([
      captioned(0, "Figure 1: Stones", "See Figure 2, and Figure 7."),
      captioned(1, "Figure 2: Rivers", "Here is no figure.")
    ])
    assert.strictEqual(leads(html, "Figure 2"), "2")
    assert.include(html, " and Figure 7. ")
    assert.match(html, /<figure id="p2-at-2-1-figure-2">/)
  })

  it("leads to that of its chapter where chapters count anew, and nowhere where a chapter has it twice", () => {
    const html = assembled([
      chapter("1 Stones", captioned(0, "Figure 1: Stones", "As said in Figure 1 before.")),
      chapter("2 Rivers", captioned(1, "Figure 4: Rivers", "Nothing.")),
      captioned(2, "Figure 1: Bridges", "See figure 1 there."),
      chapter("3 Banks", captioned(3, "Figure 1: Banks", "See Fig. 1 or none.")),
      captioned(4, "Figure 9: Waters", "Nothing."),
      captioned(5, "Figure 1: Waters", "Nothing.")
    ])
    assert.deepStrictEqual(
      ["Figure 1", "figure 1", "Fig. 1"].map((words) => leads(html, words)),
      ["1", "3", undefined]
    )
    assert.include(html, " See Fig. 1 or none. ")
  })

  it("is found on pages whose words the survey skips, and one that goes on is one", () => {
    const words = (seed: number) => ({ ...page(lines(prose(900, seed), 30, 30, 130, { size: 7 }), seed) })
    const many = Array.from({ length: 30 }, (_, at) => words(at))
    const html = assembled([
      ...many,
      captioned(30, "Figure 2: Rivers", "Nothing."),
      captioned(31, "Figure 2: Rivers (continued)", "See Figure 2 above.")
    ])
    assert.strictEqual(leads(html, "Figure 2"), "31")
  })

  it("is a link within its page where that is shown alone, and else words", () => {
    const shown = pageDocument({
      lang: "en",
      title: "Page 1",
      html: laidOut(captioned(0, "Figure 1: Stones", "See Figure 1 and Figure 2."), 40)
    })
    assert.include(shown, '<a href="#at-1-1-figure-1">Figure 1</a> and <a>Figure 2</a>')
    assert.include(shown, '<figure id="at-1-1-figure-1">')
  })
})

describe("names that pages give", () => {
  it("are not remembered where a document has too many, or they are none", () => {
    const found = new NamedThingsFound()
    found.add("at-1-1-figure-1", 0)
    for (const id of ["page-1", "at-1-2", "at-1-2-river-1", `at-1-2-figure-${"1".repeat(50)}`])
      found.add(id, 0)
    assert.deepStrictEqual([...found.things().keys()], ["figure 1"])
    for (let at = 0; at < 60_000; at++) found.add(`at-1-${at}-table-${at}`, 0)
    assert.strictEqual(found.things().size, 0)
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
