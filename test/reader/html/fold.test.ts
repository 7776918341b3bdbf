import { assert, it } from "vitest"

import { PageFold } from "../../../src/reader/html/fold.ts"
import { planOf, Surveyor } from "../../../src/reader/html/survey.ts"
import { element, type HtmlNode } from "../../../src/reader/model/html-tree.ts"

const written = (pages: ReadonlyArray<ReadonlyArray<HtmlNode>>, lang: string) => {
  const surveyor = new Surveyor()
  for (const nodes of pages) surveyor.add(nodes)
  const facts = { lang, title: undefined }
  const fold = new PageFold(planOf(surveyor.survey(), facts, { detect: () => undefined, name: undefined }))
  return pages.map((nodes, index) => fold.add({ index, label: `${index + 1}`, nodes })).join("") + fold.end()
}

const scan = (legible: string) =>
  element("details", { "data-scan": legible }, [element("img", { src: "data:image/png;base64,AAAA" })])

it("DOC-23: text goes on over the pictures of recognised pages, which say what they are", () => {
  const pages = [
    [element("p", { "data-open": "" }, ["words that"]), scan("good")],
    [element("p", {}, ["go on"]), scan("good")]
  ]
  const html = written(pages, "en")
  assert.match(html, /<p>words that <span[^>]*>Page 2<\/span>go on<\/p>/)
  assert.strictEqual(
    html.match(/<details class="scan"><summary>Picture of this page<\/summary><img/g)?.length,
    2
  )
  assert.include(html, 'alt="Picture of page 1, whose text stands beside it"')
  assert.notInclude(html, "data-scan")
})

it("DOC-23: a page that was not read well says so, in the document's language, before its words", () => {
  const html = written([[scan("poor"), element("p", {}, ["Wrte"])], [scan("nothing")]], "de")
  assert.match(
    html,
    /<details class="scan" open=""><summary>Diese Seite war schlecht zu lesen[^<]*<\/summary><img[^>]*><\/details><p>Wrte/
  )
  assert.include(html, "Der Text dieser Seite war nicht zu lesen.")
})

it("what a model folds away is shown", () => {
  assert.include(written([[element("details", {}, [element("p", {}, ["more"])])]], "en"), "<p>more</p>")
  assert.notInclude(written([[element("details", {}, ["more"])]], "en"), "<details")
})

it("a page is written whole, however many blocks it has", () => {
  const nodes = Array.from({ length: 250_000 }, (_, at) => element("p", {}, [String(at)]))
  const surveyor = new Surveyor()
  surveyor.add(nodes)
  const facts = { lang: "en", title: undefined }
  const fold = new PageFold(planOf(surveyor.survey(), facts, { detect: () => undefined, name: undefined }))
  const html = fold.add({ index: 0, label: "1", nodes }) + fold.end()
  assert.strictEqual(html.match(/<p>\d+<\/p>/g)?.length, nodes.length)
})

it("printed contents are a landmark that goes on over pages, named apart from the result's own", () => {
  const list = (words: string) => element("ul", {}, [element("li", {}, [words])])
  const title = element("h2", {}, ["Contents"])
  const pages = [
    [element("nav", {}, [title, list("Rivers … 3")])],
    [element("nav", {}, [list("Stones … 4")])],
    [element("nav", {}, [element("h2", {}, ["List of figures"]), list("A river … 3")])]
  ]
  const html = written(pages, "en")
  assert.match(
    html,
    /<nav role="doc-toc" aria-label="Contents, Page 1"><h2[^>]*>Contents<\/h2><ul><li>Rivers … 3<\/li><li><span[^>]*>Page 2<\/span>Stones … 4<\/li><\/ul><\/nav>/
  )
  assert.include(html, '<nav role="doc-toc" aria-label="List of figures, Page 3">')
})

it("no two printed contents of a page have one name", () => {
  const contents = (words: string) =>
    element("nav", {}, [element("ul", {}, [element("li", {}, [`${words} … 3`])])])
  const between = element("p", {}, ["Words between"])
  const html = written([[contents("Rivers"), between, contents("Stones")]], "en")
  const names = [...html.matchAll(/role="doc-toc" aria-label="([^"]*)"/g)].map(([, name]) => name)
  assert.deepStrictEqual(names, ["Contents, Page 1", "Contents, Page 1 (2)"])
})

it("a table whose second page alone needs a frame has one, and one that needs none has none", () => {
  const table = (words: string, open: Record<string, string>) =>
    element("table", open, [
      element("tbody", {}, [element("tr", {}, [element("td", {}, [words]), element("td", {}, ["b"])])])
    ])
  const both = (words: string) =>
    written([[table("short", { "data-open": "" })], [table(words, { "data-open": "" })]], "en")
  assert.match(
    both("Long,".repeat(40)),
    /^.*<div class="wide"[^>]*><table><tbody><tr><td>short.*Long,.*<\/table><\/div>$/
  )
  assert.match(both("words"), /^(?!.*class="wide").*short.*words/)
})

it("running text that a page cuts goes on below it whatever letter is next; lines, captions and whole sentences do not", () => {
  const cut = "A text runs to the end of its page, full to its edge, with the river of the"
  const paragraphs = (above: string, below: string, open: Record<string, string> = { "data-open": "" }) =>
    written([[element("p", open, [above])], [element("p", {}, [below])]], "en").split("<p").length - 1
  const below = "Danube, whose water is low in the month of August and high in that of May."
  assert.strictEqual(paragraphs(cut, below), 1)
  assert.strictEqual(paragraphs(cut, "water, which is low."), 1)
  assert.strictEqual(paragraphs(cut, "Danube"), 2)
  assert.strictEqual(paragraphs("The river of the", below), 2)
  assert.strictEqual(paragraphs(cut, `Figure 3. ${below}`), 2)
  assert.strictEqual(paragraphs(cut, `• ${below}`), 2)
  // A model's page does not tell whether its last line is full.
  assert.strictEqual(paragraphs(cut, below, {}), 2)
  assert.strictEqual(paragraphs(`${cut} Danube.`, below, {}), 2)
})
