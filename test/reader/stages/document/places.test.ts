/** What links within a document lead to. */
import { assert, describe, it } from "vitest"

import { PageFold } from "../../../../src/reader/html/fold.ts"
import { planOf, Surveyor } from "../../../../src/reader/html/survey.ts"
import type { PageLink, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

const link = (words: TextRun, to: number, y: number | undefined): PageLink => ({
  box: words.box,
  target: { kind: "page", page: to, y }
})
const htmlOf = (links: (words: TextRun) => PageLink): ReadonlyArray<string> => {
  const words = run("2", 60, 700)
  const first = [run("Rivers", 60, 60, { font: FONT.bold, size: 14 }), ...lines(prose(40), 60, 90, 80), words]
  const second = [
    run("1 Stones", 60, 300, { font: FONT.bold, size: 14 }),
    ...lines(prose(40, 2), 60, 330, 80),
    run("2 Cold water", 60, 420, { font: FONT.bold, size: 14 }),
    ...lines(prose(40, 3), 60, 450, 80)
  ]
  return layoutPages({
    facts: { ...FACTS, pageCount: 2 },
    fonts: FONTS,
    pages: [page(first, 0, { links: [links(words)] }), page(second, 1)],
    others: NO_STATISTICS
  }).map(({ html }) => html)
}

describe("a link to a place", () => {
  it("leads to what stands below it, first to what begins with its words", () => {
    const [from = "", to = ""] = htmlOf((words) => link(words, 1, 400))
    assert.include(from, '<a href="#at-2-1">2</a>')
    assert.match(to, /<h\d id="at-2-1">2 Cold water/)
  })

  it("leads to the page where nothing stands there, or the place is not known", () => {
    for (const y of [undefined, 800]) {
      const [from = "", to = ""] = htmlOf((words) => link(words, 1, y))
      assert.include(from, '<a href="#page-2">2</a>')
      assert.notInclude(to, "id=")
    }
  })

  it("leads there in the assembled document, and to the page where that was written anew", () => {
    const assembled = (pages: ReadonlyArray<string>): string => {
      const surveyor = new Surveyor()
      for (const html of pages) surveyor.skips(html)
      const survey = { ...surveyor.survey(), pages: 2 }
      const fold = new PageFold(
        planOf(survey, { lang: undefined, title: undefined }, { detect: () => "en", name: undefined })
      )
      const anchor = { name: "a", attributes: { href: "#at-2-1" }, children: ["2"] }
      const target = { name: "p", attributes: { id: "at-2-1" }, children: ["Cold water."] }
      return [
        fold.add({ index: 0, label: "1", nodes: [{ name: "p", attributes: {}, children: [anchor] }] }),
        fold.add({ index: 1, label: "2", nodes: pages.length < 2 ? [] : [target] }),
        fold.end()
      ].join("")
    }
    const html = assembled(['<a href="#at-2-1">', '<p id="at-2-1">'])
    assert.include(html, '<a href="#p2-at-2-1">2</a>')
    assert.include(html, '<p id="p2-at-2-1">Cold water.</p>')
    assert.include(assembled(['<a href="#at-2-1">']), '<a href="#page-2">2</a>')
  })
})
