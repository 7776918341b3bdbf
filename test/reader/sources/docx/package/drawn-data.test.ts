import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { htmlOf, p } from "../../../../adapters/docx/word-html.ts"
import { paragraph, type WordSpec } from "../../../../support/files/word-files.ts"

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const cache = (name: string, values: ReadonlyArray<string>) =>
  `<c:${name}><c:strRef><c:strCache>${values.map((value, at) => (value === "" ? "" : `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`)).join("")}</c:strCache></c:strRef></c:${name}>`
const title = (words: string) =>
  `<c:title><c:tx><c:rich><a:p><a:r><a:t>${words}</a:t></a:r></a:p></c:rich></c:tx></c:title>`

/** A document with a drawing of a part that its relation `rId1` names. */
const drawn = (shown: string, type: string, target: string, data: string): WordSpec => ({
  body: `${p(`<w:r><w:drawing><wp:inline><a:graphic><a:graphicData>${shown}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`)}${paragraph("After")}`,
  relations: `<Relationship Id="rId1" Type="${OFFICE}/${type}" Target="${target}"/>`,
  more: [{ name: "word/drawn/one.xml", data }]
})
const chart = (inside: string, target = "drawn/one.xml") =>
  drawn(
    '<c:chart r:id="rId1"/>',
    "chart",
    target,
    `<c:chartSpace><c:chart>${inside}</c:chart></c:chartSpace>`
  )

const is = (name: string, spec: WordSpec, html: string) =>
  it.effect(name, () => Effect.map(htmlOf(spec), (found) => assert.strictEqual(found, html)))

describe("charts and diagrams of Word documents", () => {
  is(
    "a chart's values are a table under its title, whose axes have titles of their own",
    chart(
      `${title("Sales")}<c:plotArea><c:barChart>` +
        `<c:ser>${cache("tx", ["North"])}${cache("cat", ["2024", "2025"])}${cache("val", ["0.30000000000000004", "2"])}</c:ser>` +
        `<c:ser>${cache("tx", ["South &lt;"])}${cache("cat", ["2024", "2025"])}${cache("val", ["", "n/a"])}</c:ser>` +
        `</c:barChart><c:valAx>${title("Euros")}</c:valAx></c:plotArea>`
    ),
    '<table><caption>Sales</caption><thead><tr><td></td><th scope="col">North</th><th scope="col">South &lt;</th></tr></thead>' +
      '<tbody><tr><th scope="row">2024</th><td>0.3</td><td></td></tr><tr><th scope="row">2025</th><td>2</td><td>n/a</td></tr></tbody></table><p>After</p>'
  )
  is(
    "points without names or categories are numbered",
    chart(`<c:ser>${cache("yVal", ["5", "", "7"])}</c:ser>`, "/word/drawn/one.xml"),
    '<table><tbody><tr><th scope="row">1</th><td>5</td></tr><tr><th scope="row">3</th><td>7</td></tr></tbody></table><p>After</p>'
  )
  is("a chart without values has its title", chart(title("Nothing yet")), "<p>Nothing yet</p><p>After</p>")
  is("or nothing", chart(""), "<p>After</p>")
  is(
    "a diagram's words are a list",
    drawn(
      '<dgm:relIds r:dm="rId1" r:lo="rId2"/>',
      "diagramData",
      "drawn/one.xml",
      "<d><pt><t><p><r><t>Plan</t></r></p></t></pt><pt><t><p><r><t>Do</t></r></p><p><r><t>now</t></r></p></t></pt><pt/></d>"
    ),
    "<ul><li>Plan</li><li>Do now</li></ul><p>After</p>"
  )
  is(
    "one that is broken is left out",
    drawn('<c:chart r:id="rId1"/>', "chart", "drawn/one.xml", "<c:chart><c:ser>"),
    "<p>After</p>"
  )
  is("one that is not in the document is left out", chart(title("Gone"), "drawn/other.xml"), "<p>After</p>")

  it.effect("of a chart with values without end some are read", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 50_000 }, (_, at) => String(at + 1))
      const html = yield* htmlOf(chart(`<c:ser>${cache("val", many)}</c:ser>`))
      assert.isAtMost(html.split("<tr>").length, 1_010)
    })
  )
})
