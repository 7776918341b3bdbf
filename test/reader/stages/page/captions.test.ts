/** What belongs to a figure's caption, and which figure it belongs to. */
import { assert, describe, it } from "vitest"

import type { Drawing } from "../../../../src/reader/model/page-content.ts"
import { FONT, htmlOf, lines, picture, prose, rule, run } from "../page-builder.ts"

const captions = (html: string): ReadonlyArray<string | undefined> =>
  [...html.matchAll(/<figcaption>(.*?)<\/figcaption>/g)].map(([, words]) => words)

const body = lines(prose(60), 60, 500, 80)
/** Boxes and arrows from `y` down. */
const boxes = (y: number, x = 200): ReadonlyArray<Drawing> =>
  Array.from({ length: 8 }, (_, at) => ({
    ...rule(0, 0, 0, 0),
    curved: true,
    box: { x0: x + 15 * at, y0: y + 8 * at, x1: x + 10 + 15 * at, y1: y + 60 + 8 * at }
  }))
const frame = (x0: number, y0: number, x1: number, y1: number): ReadonlyArray<Drawing> => [
  rule(x0, y0, x0 + 0.4, y1),
  rule(x1 - 0.4, y0, x1, y1),
  rule(x0, y0, x1, y0 + 0.4),
  rule(x0, y1 - 0.4, x1, y1)
]

describe("a figure's caption", () => {
  it("is found behind labels that stand far out, which stay with the figure", () => {
    const runs = [run("Upper and lower", 330, 190), run("Figure 2: A chip", 200, 262), ...body]
    const html = htmlOf(runs, [...boxes(120), rule(318, 186, 328, 186.4)])
    assert.deepStrictEqual(captions(html), ["Figure 2: A chip"])
    assert.include(html, 'alt="Upper and lower"')
    assert.notInclude(html, "<p>Upper")
  })

  it("may be a number with a title below it, above the figure", () => {
    const title = [run("Figure 1", 200, 90), run("Pins of a chip", 200, 106)]
    const html = htmlOf([...title, ...body], boxes(120))
    assert.deepStrictEqual(captions(html), ["Figure 1 Pins of a chip"])
    // A paragraph is no title.
    const long = htmlOf([run("Figure 1", 60, 60), ...lines(prose(60), 60, 84, 80), ...body], boxes(250))
    assert.deepStrictEqual(captions(long), [])
  })

  it("stands above every figure of a page where it stands above the first one", () => {
    const pictures = [picture(0, 60, 120, 300, 200), picture(1, 60, 260, 300, 340)]
    const above = [run("Figure 1: First", 60, 110), run("Figure 2: Second", 60, 250), ...body]
    assert.deepStrictEqual(captions(htmlOf(above, pictures)), ["Figure 1: First", "Figure 2: Second"])
    const below = [run("Figure 1: First", 60, 215), run("Figure 2: Second", 60, 355), ...body]
    assert.deepStrictEqual(captions(htmlOf(below, pictures)), ["Figure 1: First", "Figure 2: Second"])
  })

  it("makes a figure of a frame with a few words, not of one with text or a table", () => {
    const caption = run("FIG. 1. An example", 100, 262)
    const empty = htmlOf([run("Picture here", 180, 190), caption, ...body], frame(100, 120, 400, 240))
    assert.deepStrictEqual(captions(empty), ["FIG. 1. An example"])
    assert.include(empty, 'alt="Picture here"')
    const framed = [...lines(prose(60), 105, 135, 55), caption, ...body]
    assert.notInclude(htmlOf(framed, frame(100, 120, 400, 240)), "<figure")
    const listing = [run("x = 1", 110, 140, { font: FONT.code }), run("y = 2", 110, 152, { font: FONT.code })]
    const coded = htmlOf([...listing, caption, ...body], frame(100, 120, 400, 240))
    assert.include(coded, "<pre><code>x = 1\ny = 2</code></pre>")
    assert.notInclude(coded, "<figure")
    const uncaptioned = [run("Picture here", 180, 190), ...body]
    assert.notInclude(htmlOf(uncaptioned, frame(100, 120, 400, 240)), "<figure")
  })

  it("may be long where its number ends with a mark; else what is long is text", () => {
    const long = (first: string) => [...lines(`${first} ${prose(150)}`, 60, 262, 80), ...body]
    assert.strictEqual(captions(htmlOf(long("Figure 3. The"), boxes(120))).length, 1)
    assert.strictEqual(captions(htmlOf(long("Figure 3 The"), boxes(120))).length, 0)
  })
  it("of two short lines in the middle of the page is one paragraph, unless the first ends a sentence", () => {
    const above = [...lines("x = 1 y = 2", 60, 60, 5, { font: FONT.code }), ...body]
    const second = run("for the second edition", 203, 142)
    const html = (first: string) => htmlOf([...above, run(first, 200, 130), second])
    assert.include(html("Figure 1 The file of"), "<p>Figure 1 The file of for the second edition</p>")
    assert.notInclude(html("Figure 1 The file it is."), "is. for the")
    assert.notInclude(html("Here is the file it is"), "is for the")
  })
})
