/** Terms in code, each above or beside what it means. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { definitionsIn } from "../../../../src/reader/stages/blocks/definitions.ts"
import { linesOf } from "../../../../src/reader/stages/lines/line.ts"
import { segmentsOf } from "../../../../src/reader/stages/lines/segment.ts"
import { FONT, FONTS, htmlBelowText, run } from "../page-builder.ts"

/** Pieces of lines, each at its place; a line is so far below the one above. */
type Row = readonly [
  step: number,
  ...pieces: ReadonlyArray<readonly [text: string, x: number, font?: number]>
]

const SENTENCE = "the river of the wide and quiet stone, which is under the letter and the margin of it"

const htmlOf = (...rows: ReadonlyArray<Row>): string => {
  let y = 400
  const runs: Array<TextRun> = []
  for (const [step, ...pieces] of rows) {
    y += step
    for (const [text, x, font = FONT.plain] of pieces) runs.push(run(text, x, y, { font }))
  }
  return htmlBelowText(runs).replaceAll(/ data-(?:open|cut)=""/g, "")
}

const term = (text: string, step = 18, x = 60): Row => [step, [text, x, FONT.code]]
const words = (text: string, step = 12, x = 100): Row => [step, [text, x]]

describe("terms in code", () => {
  it("with their words set in below are a list of definitions, which may have paragraphs, code and lists", () => {
    assert.include(
      htmlOf(
        term("--river"),
        words(SENTENCE),
        words("and more of it."),
        term("--stone"),
        words("The stone:"),
        term("stone 1", 14, 120),
        words("and what is below it.", 14),
        term("--letter"),
        words("• one"),
        words("• two"),
        [24, ["Another paragraph of the text begins here and ends.", 60]]
      ),
      `<dl><dt><code>--river</code></dt><dd>${SENTENCE} and more of it.</dd>` +
        "<dt><code>--stone</code></dt><dd><p>The stone:</p><pre><code>stone 1</code></pre><p>and what is below it.</p></dd>" +
        "<dt><code>--letter</code></dt><dd><ul><li>one</li><li>two</li></ul></dd></dl><p>Another paragraph"
    )
  })

  it("may stand beside their words, and below each other", () => {
    assert.include(
      htmlOf(
        [18, ["-a", 60, FONT.code], ["All of it.", 100]],
        [18, ["-b", 60, FONT.code], [SENTENCE, 100]],
        words("and more of it."),
        term("--letter"),
        term("--letters", 12),
        words("The letters."),
        [18, ["-c", 60, FONT.code], ["The rest.", 100]],
        [24, ["The text.", 60]]
      ),
      `<dl><dt><code>-a</code></dt><dd>All of it.</dd><dt><code>-b</code></dt><dd>${SENTENCE} and more of it.</dd>` +
        "<dt><code>--letter</code><br><code>--letters</code></dt><dd>The letters.</dd><dt><code>-c</code></dt><dd>The rest.</dd></dl>" +
        "<p>The text.</p>"
    )
  })

  it("end above a term that nothing explains, and where code stands further left", () => {
    const list = [
      term("--river", 18, 80),
      words("The river.", 12, 120),
      term("--stone", 18, 80),
      words("It.", 12, 120)
    ]
    const after: Row = [24, ["The text goes on below.", 60]]
    assert.include(
      htmlOf(...list, term("--last", 18, 80), after),
      "<dd>It.</dd></dl><pre><code>--last</code></pre>"
    )
    assert.include(
      htmlOf(...list, term("river"), words("And.", 12, 120), after),
      "<dd>It.</dd></dl><pre><code>river</code></pre>"
    )
  })

  it("may have labels in their words, but no headings with numbers", () => {
    const label = (text: string): ReadonlyArray<Row> => [
      term("--river"),
      words("The river."),
      [24, [text, 100, FONT.bold]],
      words(SENTENCE, 20),
      term("--stone"),
      words("The stone.")
    ]
    const html = htmlOf(...label("Parameters"))
    assert.include(html, "<p><strong>Parameters</strong></p>")
    assert.include(html, "<dt><code>--stone</code></dt>")
    assert.notInclude(htmlOf(...label("3.1 Parameters")), "<dl>")
  })

  it("may say what kind of thing they are, and may then be one alone", () => {
    const one: Row = [18, ["river", 60, FONT.code], ["[Function]", 480]]
    assert.include(
      htmlOf(one, words("Returns the river."), [30, ["The text.", 60]]),
      "<dl><dt><code>river </code>[Function]</dt><dd>Returns the river.</dd></dl><p>The text.</p>"
    )
  })

  it("may have white space below them where all lines of their words are set in", () => {
    const more = words("and more of it.")
    const list = (...rows: ReadonlyArray<Row>) => htmlOf(term("--river"), ...rows, term("--stone"), ...rows)
    assert.include(list(words(SENTENCE, 20), more), "<dl>")
    assert.notInclude(list(words("The river.", 20)), "<dl>")
    assert.notInclude(list(words(SENTENCE, 24), more), "<dl>")
  })

  it("are lists within lists, in three levels at most", () => {
    const stairs = Array.from({ length: 12 }, (_, at): ReadonlyArray<Row> => {
      const x = 60 + 24 * at
      return [
        term("--river", 18, x),
        words("The river.", 12, x + 24),
        term("--stone", 18, x),
        words("It is:", 12, x + 24)
      ]
    }).flat()
    assert.lengthOf(htmlOf(...stairs).match(/<dl>/g) ?? [], 3)
  })

  it("are looked for in time where each line is set in further than the one above", () => {
    const size = 0.08
    const stairs = Array.from({ length: 12_000 }, (_, at) => [
      run("--river", 60 + 0.09 * at, 400 + 0.09 * at, { font: FONT.code, size }),
      run("The river", 60.4 + 0.09 * at, 400 + 0.09 * at, { size })
    ]).flat()
    const column = linesOf(segmentsOf([run("river", 60, 399.92, { size }), ...stairs]), FONTS)
    assert.lengthOf(column, 12_001)
    assert.deepStrictEqual(definitionsIn(column, 9_999, FONTS), [])
  })
})

describe("no terms are", () => {
  const below = [words("The river."), [24, ["The text goes on.", 60]]] as const
  const isList = (...rows: ReadonlyArray<Row>): boolean => htmlOf(...rows).includes("<dl>")

  it("a line of code alone, above a paragraph whose first line is set in", () => {
    assert.isFalse(isList(term("river = 1"), ...below))
    assert.isFalse(isList(term("(river)"), ...below))
    assert.isFalse(
      isList(
        term("river"),
        words(SENTENCE, 12, 72),
        [12, ["and more of it.", 60]],
        term("stone"),
        words(SENTENCE, 12, 72)
      )
    )
  })

  it("the last line of a paragraph, a full line, one that ends a sentence, and an item", () => {
    const last: Row = [12, ["river", 60, FONT.code], ["and stone", 95]]
    const ended = htmlOf(
      [18, [SENTENCE, 60]],
      last,
      words("The river."),
      term("--stone"),
      words("The stone.")
    )
    assert.notInclude(ended, "<dt><code>river")
    const full: Row = [18, ["river", 60, FONT.code], [SENTENCE, 95]]
    assert.isFalse(isList(full, words(SENTENCE), full, words(SENTENCE)))
    const sentence: Row = [18, ["river", 60, FONT.code], ["is wide.", 95]]
    assert.isFalse(isList(sentence, words(SENTENCE), sentence, words(SENTENCE)))
    assert.isFalse(isList(term("1. river"), words(SENTENCE), term("2. stone"), words(SENTENCE)))
  })

  it("code with code set in or beside it, and what is set in below words", () => {
    const inner: Row = [12, ["stone", 100, FONT.code]]
    assert.isFalse(isList(term("river {"), inner, term("letter {"), inner))
    const columns: Row = [12, ["river", 60, FONT.code], ["stone", 100, FONT.code]]
    assert.notInclude(htmlOf(columns, columns, term("--river"), words("The river.")), "<dt><code>river")
    assert.isFalse(isList(columns, ...below))
    assert.isFalse(
      isList(words("The river", 18, 60), words(SENTENCE), words("The stone", 18, 60), words(SENTENCE))
    )
  })

  it("code far left of its words, or hardly left of them, and entries of a table of contents", () => {
    assert.isFalse(
      isList(term("river"), words("The river.", 12, 190), term("stone"), words("The stone.", 12, 190))
    )
    assert.isFalse(
      isList(term("river"), words("The river.", 12, 67), term("stone"), words("The stone.", 12, 67))
    )
    const entry = (text: string): Row => [18, [text, 60, FONT.code], [". . . . . . . . . 12", 300]]
    assert.isFalse(isList(entry("river"), words("The river."), entry("stone"), words("The stone.")))
  })
})
