import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import type { PageContent } from "../../../src/reader/model/page-content.ts"
import type { RecognisedLine, RecognisedText } from "../../../src/reader/model/recognised-text.ts"
import { layoutPages } from "../../../src/reader/pipeline.ts"
import { legibleOf, showsText, withoutSpecks } from "../../../src/reader/recognition/recognised-text.ts"
import { uprightPage } from "../../../src/reader/recognition/upright-page.ts"
import { NO_STATISTICS } from "../../../src/reader/stages/profile/statistics.ts"
import { run } from "../stages/page-builder.ts"

/** Pixels a point. */
const SCALE = 200 / 72

/** A line of words at a place of the upright page, points; each letter is half its size wide. */
const lineOf = (words: string, x: number, y: number, size = 10, confidence = 95): RecognisedLine => {
  let left = x
  return {
    baseline: y * SCALE,
    height: size * 0.92 * SCALE,
    words: words.split(" ").map((text) => {
      const width = text.length * size * 0.5
      const box = {
        x0: left * SCALE,
        y0: (y - 0.7 * size) * SCALE,
        x1: (left + width) * SCALE,
        y1: (y + 0.2 * size) * SCALE
      }
      left += width + size * 0.3
      return { text, confidence, box }
    })
  }
}

const textOf = (
  lines: ReadonlyArray<RecognisedLine>,
  parts: Partial<RecognisedText> = {}
): RecognisedText => ({
  turn: 0,
  skew: 0,
  width: 600 * SCALE,
  height: 800 * SCALE,
  lines,
  ...parts
})

const page = (parts: Partial<PageContent> = {}): PageContent => ({
  index: 0,
  label: "1",
  width: 600,
  height: 800,
  runs: [],
  groups: [],
  drawings: [],
  links: [],
  fields: [],
  structure: [],
  ...parts
})

const laidOut = (upright: PageContent): string =>
  layoutPages({
    facts: {
      pageCount: 1,
      title: undefined,
      author: undefined,
      lang: undefined,
      tagged: false,
      outline: [],
      fonts: []
    },
    fonts: [],
    pages: [upright],
    others: NO_STATISTICS
  })[0]?.html ?? ""

const PROSE = [
  "The keeper of the light went up the narrow stairs each evening before",
  "the sun was down, and wrote in his book what he had seen of ships, of",
  "weather and of birds; his wife kept the garden, which the wind visi-",
  "ted more often than the rain did."
]
const prose = (x: number, y: number) => PROSE.map((words, at) => lineOf(words, x, y + at * 13))

describe("a recognised page", () => {
  it("DOC-23: reads as one with text does: a heading, a paragraph, words cut at the end of a line", () => {
    const html = laidOut(
      uprightPage(page(), textOf([lineOf("Harbour Lights", 60, 80, 18), ...prose(60, 120)]), false)
    )
    assert.include(html, "<h1>Harbour Lights</h1>")
    assert.include(html, "which the wind visited more often")
    assert.strictEqual(html.match(/<p/g)?.length, 1)
  })

  it("lines that are nearly of one size are of one: none is a heading for its tall letters", () => {
    const lines = prose(60, 120).map((line, at) => ({ ...line, height: line.height * (at === 2 ? 1.1 : 1) }))
    assert.notInclude(laidOut(uprightPage(page(), textOf(lines), false)), "<h")
    // A bracket on a line of its own is as high as a capital of a larger size.
    const rest = lineOf("s)", 60, 240, 15)
    assert.notInclude(laidOut(uprightPage(page(), textOf([...lines, rest]), false)), "<h")
  })

  it("DOC-23: boxes go between the page as it lies and the page as it reads", () => {
    const turns = fc.constantFrom<0 | 90 | 180 | 270>(0, 90, 180, 270)
    fc.assert(
      fc.property(turns, fc.double({ min: -0.05, max: 0.05, noNaN: true }), (turn, skew) => {
        const sideways = turn % 180 !== 0
        const [width, height] = sideways ? [800, 600] : [600, 800]
        const size = { width: width * SCALE, height: height * SCALE }
        // A link over a word of the page as it lies: turned by hand, and slanted by hand.
        const [x, y] = [width / 2 - 100, height / 2 - 150]
        const [cos, sin] = [Math.cos(skew), Math.sin(skew)]
        const [dx, dy] = [x - width / 2, y - height / 2]
        const [sx, sy] = [width / 2 + dx * cos - dy * sin, height / 2 + dx * sin + dy * cos]
        const [px, py] =
          turn === 90
            ? [sy, 800 - sx]
            : turn === 180
              ? [600 - sx, 800 - sy]
              : turn === 270
                ? [600 - sy, sx]
                : [sx, sy]
        const lying = page({
          links: [
            {
              box: { x0: px - 2, y0: py - 2, x1: px + 2, y1: py + 2 },
              target: { kind: "uri", uri: "https://example.org/" }
            }
          ]
        })
        const upright = uprightPage(lying, textOf([], { turn, skew, ...size }), false)
        assert.deepStrictEqual([upright.width, upright.height], [width, height])
        const [link] = upright.links
        assert.closeTo(((link?.box.x0 ?? 0) + (link?.box.x1 ?? 0)) / 2, x, 0.01)
        assert.closeTo(((link?.box.y0 ?? 0) + (link?.box.y1 ?? 0)) / 2, y, 0.01)
      })
    )
  })

  it("no word of the page's own gets lost, and none is there twice", () => {
    const own = run("Received 12 May", 60, 80)
    const hidden = run("Rcvd I2 Mav", 60, 80, { invisible: true })
    const text = textOf([lineOf("Receiued 12 Mav", 60, 80), ...prose(60, 120)])
    const html = laidOut(uprightPage(page({ runs: [own, hidden] }), text, true))
    assert.include(html, "Received 12 May")
    assert.notInclude(html, "Mav")
    assert.include(laidOut(uprightPage(page({ runs: [own] }), text, false)), "Receiued 12 Mav")
  })

  it("a link over recognised words leads where it led", () => {
    const box = { x0: 58, y0: 110, x1: 78, y1: 124 }
    const links = [{ box, target: { kind: "uri", uri: "https://example.org/" } }] as const
    const html = laidOut(uprightPage(page({ links }), textOf(prose(60, 120)), false))
    assert.include(html, '<a href="https://example.org/">The</a>')
  })

  it("DOC-23: how well it was read", () => {
    const sure = textOf(prose(60, 120))
    const unsure = (confidence: number) =>
      textOf([lineOf("what was this word once upon a time", 60, 80, 10, confidence)])
    assert.deepStrictEqual(
      [sure, unsure(59), unsure(31), unsure(29), textOf([])].map((text) => legibleOf(withoutSpecks(text))),
      ["good", "poor", "poor", "nothing", "nothing"]
    )
    assert.deepStrictEqual(
      [sure, unsure(40), textOf([lineOf("~ |", 1, 1, 10, 40)]), textOf([])].map(showsText),
      [true, false, false, false]
    )
    const specked = textOf([lineOf("~ word |", 60, 80, 10, 70)])
    assert.deepStrictEqual(
      withoutSpecks(specked).lines.flatMap(({ words }) => words.map(({ text }) => text)),
      ["word"]
    )
  })

  it("takes time that grows with its words, whatever lies over them", () => {
    const lines = Array.from({ length: 400 }, (_, at) => lineOf("a b c d e f g h i j", 10, 2 * at))
    const runs = Array.from({ length: 20_000 }, (_, at) => run("x", at % 600, (at * 7) % 800))
    const upright = uprightPage(page({ runs }), textOf(lines), true)
    assert.isAtLeast(upright.runs.length, 20_000)
  })
})
