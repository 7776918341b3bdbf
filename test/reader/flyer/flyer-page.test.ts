import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

import { flyerPage } from "../../../src/reader/flyer/flyer-page.ts"
import { plainWidth } from "../../../src/reader/flyer/lines.ts"
import { wordsFor } from "../../../src/reader/html/words.ts"
import type { PageContent, PageLink, TextRun } from "../../../src/reader/model/page-content.ts"

const words = wordsFor("en")

const run = (text: string, x0: number, baseline: number, angle = 0, mcid?: number): TextRun => {
  const width = text.length * 5
  return {
    text,
    box: { x0, y0: baseline - 8, x1: x0 + width, y1: baseline + 2 },
    baseline,
    edges: Array.from({ length: text.length + 1 }, (_, at) => x0 + at * 5),
    font: 0,
    size: 10,
    angle,
    color: 0,
    mcid,
    artifact: false,
    hyphenated: false,
    invisible: false
  }
}

const pageOf = (runs: ReadonlyArray<TextRun>, parts: Partial<PageContent> = {}): PageContent => ({
  index: 0,
  label: "1",
  width: 600,
  height: 800,
  runs,
  drawings: [],
  groups: [],
  links: [],
  fields: [],
  structure: [],
  ...parts
})

const html = (content: PageContent, picture: string | undefined = "data:image/png;base64,AA==") =>
  flyerPage({ content, picture }, words, 3)

const textIn = (page: string): string => page.replaceAll(/<[^>]*>/g, "")

const link = (target: PageLink["target"], x0: number, x1: number): PageLink => ({
  box: { x0, y0: 90, x1, y1: 104 },
  target
})

it("links take the letters under them; those that are not safe, or lead nowhere, are left out", () => {
  const text = [run("Go to the web or on", 100, 100)]
  const links = [
    link({ kind: "page", page: 2, y: undefined }, 100, 110),
    link({ kind: "uri", uri: "https://example.org/?a=1&b=2" }, 150, 165),
    link({ kind: "uri", uri: "javascript:alert(1)" }, 130, 145),
    link({ kind: "page", page: 3, y: undefined }, 185, 195)
  ]
  const page = html(pageOf(text, { links }))
  assert.deepStrictEqual(page.match(/<a [^>]*>[^<]*<\/a>/g), [
    '<a href="#page-3">Go</a>',
    '<a href="https://example.org/?a=1&amp;b=2">web</a>'
  ])
})

it("a tagged page is read in the order of its tags, an untagged one by its columns", () => {
  const structure = [
    {
      type: "P",
      alt: undefined,
      actualText: undefined,
      lang: undefined,
      attributes: {},
      id: 1,
      children: [{ mcid: 1 }, { mcid: 0 }]
    }
  ]
  const runs = [run("second", 100, 300, 0, 0), run("first", 100, 500, 0, 1), run("last", 100, 20)]
  assert.match(textIn(html(pageOf(runs, { structure }))), /first.*second.*last/)
  assert.match(textIn(html(pageOf(runs))), /last.*second.*first/)
})

it("a page without text says that it is a picture; one without a picture shows its text", () => {
  assert.match(html(pageOf([])), /alt="Page 1 as a picture; it holds no text that can be read"/)
  assert.match(html(pageOf([run("Words", 10, 10)])), /<img [^>]*alt=""/)
  const bare = flyerPage({ content: pageOf([run("Words", 10, 10)]), picture: undefined }, words, 3)
  assert.match(bare, /class="page bare"/)
  assert.notInclude(bare, "<img")
})

it("tells what the document says of its pictures", () => {
  const figure = {
    type: "Figure",
    alt: "A river <at night>",
    actualText: undefined,
    lang: undefined,
    attributes: {},
    id: 1,
    children: []
  }
  const document = { ...figure, type: "Document", alt: undefined, children: [figure] }
  const page = html(pageOf([], { structure: [document] }))
  assert.include(page, '<p class="described">A river &lt;at night&gt;</p>')
  assert.match(page, /<img [^>]*alt=""/)
})

it("tells what fields hold, and in which state boxes are", () => {
  const field = { name: "f", value: "", checked: false, options: [] }
  const box = (y0: number) => ({ x0: 50, y0, x1: 150, y1: y0 + 10 })
  const fields = [
    { ...field, kind: "text" as const, label: "Name", value: "Ada", box: box(10) },
    { ...field, kind: "checkbox" as const, label: "Agreed", checked: true, box: box(30) },
    { ...field, kind: "radio" as const, label: undefined, box: box(50) },
    { ...field, kind: "button" as const, label: "Send", value: "x", box: box(70) },
    { ...field, kind: "text" as const, label: "Empty", box: box(90) }
  ]
  const page = html(pageOf([], { fields }))
  assert.deepStrictEqual(
    [...page.matchAll(/<span[^>]*>([^<]*)<\/span>/g)].map(([, text]) => text),
    ["Name: Ada", "Agreed: ☒", "☐", "Send", "Empty"]
  )
})

it("sets letters as wide as their line, turned as it is, cut words with a soft hyphen", () => {
  // Ten letters of Helvetica are 5.56 sizes wide, the line 5.
  assert.match(html(pageOf([run("nnnnnnnnnn", 60, 100)])), /letter-spacing:-0\.056em"/)
  assert.match(html(pageOf([run("nnnnnnnnnn", 60, 100, 90)])), /;transform:rotate\(90deg\)"/)
  const cut = [{ ...run("hyphen", 60, 100), hyphenated: true }, run("ated", 60, 112)]
  assert.include(textIn(html(pageOf(cut))), "hyphen\u00adated")
})

it("widths are Helvetica's", () => {
  assert.closeTo(plainWidth("See page two, or the web."), 11.618, 0.001)
  assert.closeTo(plainWidth("é"), 0.556, 0.001)
  assert.strictEqual(plainWidth("東京"), 2)
})

const number = Schema.Int.check(Schema.isBetween({ minimum: -50, maximum: 900 }))
const letters = (text: string) => text.replaceAll(/\s/gu, "").split("").sort().join("")

it.prop(
  "every letter of the layer is there, wherever it stands, and none becomes markup",
  {
    runs: Schema.Array(
      Schema.Struct({
        text: Schema.String.check(Schema.isPattern(/^[a-zA-Z0-9<>&"' äß漢-]{1,20}$/)),
        x: number,
        y: number,
        angle: Schema.Literals([0, 0, 90, 180, 270, 33])
      })
    )
  },
  ({ runs }) => {
    const page = html(pageOf(runs.map(({ angle, text, x, y }) => run(text, x, y, angle))))
    const read = textIn(page)
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&")
      .replaceAll("&nbsp;", " ")
    assert.strictEqual(letters(read), letters(runs.map(({ text }) => text).join("")))
    assert.match(
      page,
      /^<section [^<>]*>(<img [^<>]*>)?(<p>(\s*<span style="[\w:;.%()-]*">[^<>]*<\/span>)*<\/p>)*<\/section>$/
    )
  },
  { arbitrary: { runs: 300 } }
)
