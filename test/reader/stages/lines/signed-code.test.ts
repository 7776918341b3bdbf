import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { linesOf } from "../../../../src/reader/stages/lines/line.ts"
import { segmentsOf } from "../../../../src/reader/stages/lines/segment.ts"
import { withSignedCode } from "../../../../src/reader/stages/lines/signed-code.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, htmlBelowText, page, run, tag } from "../page-builder.ts"

const set = (rows: ReadonlyArray<string>, step = 13, mcid?: number) =>
  rows.flatMap((row, at) => {
    const text = row.trimStart()
    const more = mcid === undefined ? {} : { mcid: mcid + at }
    return text === "" ? [] : [run(text, 60 + 6 * (row.length - text.length), 400 + step * at, more)]
  })

const CODE = [
  "//Fill the river",
  "river_t river;",
  "river.depth = 0; //metres",
  "if (fill(river) != 0)",
  "  throw away",
  "",
  "return river->depth;"
]

describe("code in a face of a text", () => {
  it("is a listing with its indents, where most of its lines say so", () => {
    assert.include(
      htmlBelowText(set([...CODE, "", "The river is full."])).replaceAll("&gt;", ">"),
      `<pre><code>${CODE.join("\n")}</code></pre><p>The river is full.`
    )
  })

  it("may be tagged as a paragraph a line", () => {
    const rows = CODE.filter((row) => row !== "")
    const html = layoutPages({
      facts: { ...FACTS, tagged: true },
      fonts: FONTS,
      pages: [
        page(set([...rows, "The river is full."], 13, 0), 0, {
          structure: [...rows, ""].map((_, at) => tag("P", [at]))
        })
      ],
      others: NO_STATISTICS
    })[0]?.html
    assert.include(html?.replaceAll("&gt;", ">"), `<pre><code>${rows.join("\n")}</code></pre><p`)
  })

  it("is no prose whose parts end in semicolons, no single statement, and ends above a sentence", () => {
    for (const rows of [
      ["the first of the rivers (in the north);", "the second of the rivers, and more;", "the third one;"],
      ["river_t river;", "river.depth = 0;"],
      ["river_t river;", "This fills the river.", "river.depth = 0;", "It is full.", "fill(river);"],
      [
        "river_t river;",
        "one of the rivers",
        "or of a sea",
        "fill(river);",
        "or none",
        "of them",
        "fill(sea);"
      ]
    ])
      assert.notInclude(htmlBelowText(set(rows)), "<pre>", rows[1])
    const five = Array.from({ length: 5 }, (_, at) => `fill(river_${at});`)
    const apart = set([...five, "one of the rivers", "or of the seas", "or of none", "fill(sea);"])
    assert.include(htmlBelowText(apart), `<pre><code>${five.join("\n")}</code></pre>`)
    // Words among lines in typewriter are what they were.
    const between = set(["fill(river);", "fill(sea);", "and then", "leave(sea);"])
    const typed = between.map((one, at) => (at === 2 ? one : { ...one, font: FONT.code }))
    assert.include(htmlBelowText(typed), "<p>and then</p>")
  })

  it("changes no line but in whether it is code", () => {
    const line = fc.oneof(fc.constantFrom(...CODE), fc.string({ maxLength: 30 }))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (rows) => {
        const lines = linesOf(segmentsOf(set(rows)), FONTS)
        const read = withSignedCode(lines)
        assert.deepStrictEqual(
          read.map((one, at) => ({ ...one, monospace: lines[at]?.monospace })),
          lines.map((one) => ({ ...one }))
        )
      })
    )
  })
})

it("a listing has blank lines where a step is larger than its others, however far apart its lines stand", () => {
  const rows = ["river river", "fill river", "", "leave river"]
  for (const step of [12, 21])
    assert.include(
      htmlBelowText(set(rows, step).map((one) => ({ ...one, font: FONT.code }))),
      `<pre><code>${rows.join("\n")}</code></pre>`,
      String(step)
    )
})
