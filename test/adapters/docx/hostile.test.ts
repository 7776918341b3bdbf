import { randomBytes } from "node:crypto"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import readDocument from "../../../src/adapters/docx/docx-reader.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { pngOf } from "../../support/files/picture-files.ts"
import {
  NAMESPACES,
  paragraph,
  pictureOf,
  wordOf,
  wordParts,
  type WordSpec
} from "../../support/files/word-files.ts"
import { zipOf } from "../../support/files/zip-files.ts"
import { htmlOf, htmlOfBytes, p, text } from "./word-html.ts"

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const relation = (id: string, kind: string, target: string, more = "") =>
  `<Relationship Id="${id}" Type="${OFFICE}/${kind}" Target="${target}" ${more}/>`

const written = (name: string, spec: string | WordSpec, html: string) =>
  it.effect(name, () =>
    Effect.map(htmlOf(typeof spec === "string" ? { body: spec } : spec), (found) =>
      assert.strictEqual(found, html)
    )
  )

/** Why a document is not read, with words for its owner. */
const whyNot = (bytes: Buffer) =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(bytes)
    const answer = yield* Effect.promise(() =>
      readDocument({ kind: "convert", path, pictureBytes: 0, onePictureBytes: 0 })
    )
    return answer.kind === "unreadable" ? answer.why : answer.kind
  }).pipe(Effect.scoped)

const MANY = 20_000
const many = (count: number, one: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => one(at)).join("")

const part = (name: string, root: string, inside: string) => ({
  name,
  data: `<w:${root} ${NAMESPACES}>${inside}</w:${root}>`
})
const numPr = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
const reference = '<w:r><w:footnoteReference w:id="1"/></w:r>'
const noted = (inside: string) =>
  `<p><sup><a role="doc-noteref" href="#footnote-1" id="footnote-ref-1">[1]</a></sup></p><ol><li id="footnote-1"><p>${inside} <a href="#footnote-ref-1">↑</a></p></li></ol>`

describe("what a Word document names and does not have", () => {
  written("a note", p(text("a") + reference), "<p>a</p>")
  written(
    "a note that is a line between notes",
    {
      body: p(text("a") + reference),
      more: [part("word/footnotes.xml", "footnotes", '<w:footnote w:type="separator" w:id="1"/>')]
    },
    "<p>a</p>"
  )
  written(
    "pictures",
    pictureOf("no", "A cat") +
      pictureOf("no", "", "link") +
      p('<w:r><w:pict><v:shape><v:imagedata r:id="no"/></v:shape></w:pict></w:r>'),
    '<p><img alt="A cat" src="" /></p><p><img src="" alt="A picture that is not in the document" /></p>' +
      '<img src="" alt="A picture that is not in the document" />'
  )
  written(
    "addresses of links",
    `<w:p><w:hyperlink r:id="no">${text("a")}</w:hyperlink><w:hyperlink r:id="no" w:anchor="b">${text("b")}</w:hyperlink></w:p>`,
    '<p>a<a href="#b">b</a></p>'
  )
  written(
    "what a list is",
    { body: p(text("a"), numPr), more: [part("word/numbering.xml", "numbering", '<w:num w:numId="1"/>')] },
    "<p>a</p>"
  )
  it.effect("styles at all, where a table has one", () =>
    Effect.gen(function* () {
      const body = `<w:tbl><w:tblPr><w:tblStyle w:val="Grid"/></w:tblPr><w:tr><w:tc>${paragraph("a")}</w:tc></w:tr></w:tbl>`
      const parts = wordParts({ body }).filter(({ name }) => name !== "word/styles.xml")
      assert.strictEqual(yield* htmlOfBytes(zipOf(parts)), "<table><tr><td><p>a</p></td></tr></table>")
    })
  )
  written(
    "comments are not read, whatever they are",
    {
      body: p(text("a") + '<w:r><w:commentReference w:id="1"/></w:r>'),
      more: [{ name: "word/comments.xml", data: "<" }]
    },
    "<p>a</p>"
  )
})

describe("relations of a Word document", () => {
  written(
    "of kinds that no program writes are none",
    {
      body: p(text("a")),
      relations: ["__proto__", "constructor", "toString"]
        .map((kind, at) => relation(`r${at}`, kind, "document.xml"))
        .join("")
    },
    "<p>a</p>"
  )
})

describe("where the parts of a Word document are", () => {
  const styles = `<w:style w:type="paragraph" w:styleId="Kopf"><w:name w:val="Kopf"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>`
  const list =
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
  const note = `<w:footnote w:id="1">${p("<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>")}</w:footnote>`
  const named: WordSpec = {
    body: p(text("One"), '<w:pStyle w:val="Kopf"/>') + p(text("item"), numPr) + p(reference),
    relations:
      relation("no", "styles", "nowhere.xml") +
      relation("s", "styles", "styles2.xml") +
      relation("n", "numbering", "/word/numbering2.xml") +
      relation("f", "footnotes", "footnotes2.xml"),
    more: [
      part("word/styles2.xml", "styles", styles),
      part("word/numbering2.xml", "numbering", list),
      part("word/footnotes2.xml", "footnotes", note)
    ]
  }
  const html = `<h1>One</h1><ol><li>item</li></ol>${noted("<math><mi>x</mi></math>")}`

  written("as its relations name them", named, html)
  it.effect("in a strict document, too", () =>
    Effect.gen(function* () {
      const strict = wordParts({ ...named, main: "word/other.xml" }).map(({ data, name }) => ({
        name,
        data: String(data)
          .replaceAll(
            "http://schemas.openxmlformats.org/wordprocessingml/2006/",
            "http://purl.oclc.org/ooxml/wordprocessingml/"
          )
          .replaceAll(OFFICE, "http://purl.oclc.org/ooxml/officeDocument/relationships")
      }))
      assert.strictEqual(yield* htmlOfBytes(zipOf(strict)), html)
    })
  )
  written(
    "pictures, from the folder of their part or from the top, and none outside",
    {
      pictures: [["a.png", pngOf()]],
      relations:
        relation("up", "image", "../word/media/a.png") +
        relation("top", "image", "/word/media/a.png") +
        relation("out", "image", "../../../../etc/a.png") +
        relation("far", "image", "http://localhost:9/a.png", 'TargetMode="External"'),
      body:
        ["up", "top", "out", "far"].map((id) => pictureOf(id, id)).join("") + pictureOf("far", "link", "link")
    },
    '<p><img alt="up" src="#" /></p><p><img alt="top" src="#" /></p><p><img alt="out" src="" /></p><p><img alt="far" src="" /></p><p><img alt="link" src="" /></p>'
  )
  for (const encoding of ["utf-16le", "utf-16be"] as const)
    it.effect(`written in ${encoding}`, () =>
      Effect.gen(function* () {
        const parts = wordParts({ ...named, body: p(text("Über"), '<w:pStyle w:val="Kopf"/>') }).map(
          ({ data, name }) => {
            const bytes = Buffer.from(`\ufeff${String(data)}`, "utf16le")
            return { name, data: encoding === "utf-16le" ? bytes : bytes.swap16() }
          }
        )
        assert.strictEqual(yield* htmlOfBytes(zipOf(parts)), "<h1>Über</h1>")
      })
    )
})

// None of these would end, or all would end for want of memory, where time or memory grew faster than the document.
describe("what is many times in a Word document", () => {
  const lines = (html: string) => html.split("</p>").length - 1

  it.effect("styles that nobody defined", () =>
    Effect.gen(function* () {
      const body = many(MANY, (at) => p(text("a"), `<w:pStyle w:val="S${at}"/>`))
      assert.strictEqual(lines(yield* htmlOf({ body })), MANY)
    })
  )
  const turn = (to: string) => `<w:r><w:fldChar w:fldCharType="${to}"/></w:r>`
  const link = (at: number) => `<w:r><w:instrText> HYPERLINK "http://a.example/${at}" </w:instrText></w:r>`
  const fields = {
    "begin and never end": (at: number) => turn("begin") + link(at) + turn("separate"),
    "have long instructions and are separated often": (at: number) =>
      (at === 0 ? turn("begin") + `<w:r><w:instrText>DATE ${"x ".repeat(100_000)}</w:instrText></w:r>` : "") +
      turn("separate"),
    "end and never began": () => turn("separate") + turn("end"),
    "begin once and are separated often": (at: number) =>
      (at === 0 ? turn("begin") : "") + link(at) + turn("separate"),
    "stand in an instruction": () => turn("begin") + text("b") + (turn("begin") + turn("end"))
  }
  for (const [name, one] of Object.entries(fields))
    it.effect(`fields that ${name}, whose words are read`, () =>
      Effect.gen(function* () {
        const html = yield* htmlOf({ body: many(MANY, (at) => p(one(at) + text("a"))) })
        assert.strictEqual(html.split(/a(?=<)/).length - 1, MANY)
      })
    )
  it.effect("a field is as before behind one that stands too deep in others", () =>
    Effect.gen(function* () {
      const body = p(
        turn("begin").repeat(60) +
          turn("end").repeat(60) +
          turn("begin") +
          link(1) +
          turn("separate") +
          text("a")
      )
      assert.strictEqual(yield* htmlOf({ body }), '<p><a href="http://a.example/1">a</a></p>')
    })
  )
  it.effect("a label that is repeated in itself", () =>
    Effect.gen(function* () {
      const level = `<w:lvl w:ilvl="0"><w:start w:val="999999999"/><w:numFmt w:val="decimal"/><w:lvlText w:val="${"%1".repeat(3000)}"/></w:lvl>`
      const html = yield* htmlOf({
        body: p(text("a"), numPr),
        more: [
          part(
            "word/numbering.xml",
            "numbering",
            `<w:abstractNum w:abstractNumId="1">${level}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>`
          )
        ]
      })
      assert.strictEqual(html, `<p>${"999999999".repeat(100)} a</p>`)
    })
  )
  const chart = (inside: string) => ({
    name: "word/charts/c.xml",
    data: `<c:chartSpace ${NAMESPACES}><c:chart>${inside}</c:chart></c:chartSpace>`
  })
  it.effect("series of a chart, each with values in a place of its own", () =>
    Effect.gen(function* () {
      const html = yield* htmlOf({
        body: p('<w:r><w:drawing><c:chart r:id="c"/></w:drawing></w:r>'),
        relations: relation("c", "chart", "charts/c.xml"),
        more: [
          chart(many(MANY, (at) => `<c:ser><c:val><c:pt idx="${at}"><c:v>${at}</c:v></c:pt></c:val></c:ser>`))
        ]
      })
      assert.isBelow(html.length, 200_000)
    })
  )
  it.effect("relations to one chart, which is read once", () =>
    Effect.gen(function* () {
      const html = yield* htmlOf({
        body: p('<w:r><w:drawing><c:chart r:id="c199"/></w:drawing></w:r>'),
        relations: many(10_000, (at) => relation(`c${at}`, "chart", "charts/c.xml")),
        more: [chart(`<c:title><t>Sales</t></c:title>${"<x/>".repeat(300_000)}`)]
      })
      assert.strictEqual(html, "<p>Sales</p>")
    })
  )
  it.effect("places of one picture, which is read while there is room for it", () =>
    Effect.gen(function* () {
      const large = pngOf(4, 2, [["teSt", Buffer.alloc(8 * 1024 * 1024, 1)]])
      const html = yield* htmlOf({
        body: pictureOf("rId1", "").repeat(2000),
        pictures: [["a.png", large]],
        // So that it is no bomb.
        more: [{ name: "noise", data: randomBytes(200_000) }]
      })
      assert.strictEqual(html.split("left out for its size").length - 1, 2000)
    })
  )
  it.effect("names of elements and of attributes are refused", () =>
    Effect.gen(function* () {
      const bodies = {
        names: [2000, (count: number) => many(count, (at) => `<w:a${at}/>`)],
        attributes: [1000, (count: number) => `<w:p ${many(count, (at) => `a${at}="" `)}/>`]
      } as const
      for (const [most, bodyOf] of Object.values(bodies)) {
        assert.strictEqual(yield* htmlOf({ body: bodyOf(most - 10) + paragraph("a") }), "<p>a</p>")
        assert.strictEqual(yield* whyNot(wordOf({ body: bodyOf(most + 1) })), "broken")
      }
    })
  )
  it.effect("cells of a matrix, none of which is lost", () =>
    Effect.gen(function* () {
      const row = `<m:mr>${"<m:e><m:r><m:t>x</m:t></m:r></m:e>".repeat(30)}</m:mr>`
      const html = yield* htmlOf({ body: p(`<m:oMath><m:m>${row.repeat(100)}</m:m></m:oMath>`) })
      assert.strictEqual(html.split(">x<").length - 1, 3000)
    })
  )
})

it.effect("a name that a document says twice, and parts outside of it, are refused in words", () =>
  Effect.gen(function* () {
    for (const name of ["word/document.xml", "../a.txt", "/etc/a.txt"])
      assert.strictEqual(yield* whyNot(zipOf([...wordParts(), { name, data: "<w:document/>" }])), "broken")
  })
)
