import { assert, describe, it } from "@effect/vitest"

import type { Drawing, PageContent, TextRun } from "../../../src/reader/model/page-content.ts"
import { textLayerOf } from "../../../src/reader/recognition/text-layer.ts"
import { run } from "../stages/page-builder.ts"

const PROSE =
  "The keeper of the light went up the narrow stairs each evening before the sun was down, and wrote in his book what he had " +
  "seen of ships and of weather, of birds and of the tide."
/** What a subset font without Unicode gives: each letter's code less 29. */
const SHIFTED = PROSE.replaceAll(/\S/g, (sign) => String.fromCodePoint(sign.charCodeAt(0) - 29))

const image = (share: number): Drawing => ({
  kind: "image",
  box: { x0: 0, y0: 0, x1: 600, y1: 800 * share },
  index: 0,
  mcid: undefined,
  artifact: false
})
const outline: Drawing = {
  kind: "path",
  box: { x0: 0, y0: 0, x1: 5, y1: 8 },
  stroked: false,
  filled: true,
  curved: false,
  color: 0,
  mcid: undefined,
  artifact: false
}
const page = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing>): PageContent => ({
  index: 0,
  label: "1",
  width: 600,
  height: 800,
  runs,
  groups: [],
  drawings,
  links: [],
  fields: [],
  structure: []
})
const layerOf = (runs: ReadonlyArray<TextRun>, drawings: ReadonlyArray<Drawing>, mayBeWrong = false) =>
  textLayerOf(page(runs, drawings), () => ({ unnamed: mayBeWrong ? 0.9 : 0, lost: 0 }))
const text = (words: string, invisible = false) => [run(words, 50, 100, { invisible })]

describe("the text layer of a page", () => {
  it("DOC-23: none beside a picture, or drawn as outlines, has to be read", () => {
    assert.strictEqual(layerOf([], [image(1)]), "sparse")
    assert.strictEqual(layerOf([], [image(0.3)]), "sparse")
    assert.strictEqual(
      layerOf(
        [],
        Array.from({ length: 200 }, () => outline)
      ),
      "sparse"
    )
    assert.strictEqual(layerOf(text("Page 3 of 12"), [image(0.9)]), "sparse")
  })

  it("none beside nothing, or beside a small picture, does not", () => {
    assert.strictEqual(layerOf([], []), "usable")
    assert.strictEqual(layerOf([], [image(0.05)]), "usable")
    assert.strictEqual(layerOf(text("Page 3 of 12"), [image(0.3)]), "usable")
    assert.strictEqual(
      layerOf(
        [],
        Array.from({ length: 20 }, () => outline)
      ),
      "usable"
    )
  })

  it("a text is left alone, before a picture and behind it", () => {
    assert.strictEqual(layerOf(text(PROSE), [image(1)], true), "usable")
    assert.strictEqual(layerOf(text(PROSE, true), [image(1)], true), "usable")
  })

  it("DOC-23: glyphs without Unicode have to be read, unless the document means those letters", () => {
    assert.strictEqual(layerOf(text(SHIFTED), [], true), "rubble")
    // Shifted otherwise there are as many vowels as in a language.
    const shifted = PROSE.replaceAll(/[A-Za-z]/g, (sign) => String.fromCodePoint(sign.charCodeAt(0) - 31))
    assert.strictEqual(layerOf(text(shifted), [], true), "rubble")
    assert.strictEqual(layerOf(text(shifted), [], false), "usable")
    // Of most glyphs nothing is left; the rest is signs. A table of numbers has all of its glyphs.
    const signs = page(text("7 % ( -.48 &79) & ! 1 % ' % 3* % ( -./5) & 6"), [])
    assert.strictEqual(
      textLayerOf(signs, () => ({ unnamed: 0.9, lost: 0.8 })),
      "rubble"
    )
    assert.strictEqual(
      textLayerOf(signs, () => ({ unnamed: 0.9, lost: 0 })),
      "usable"
    )
    assert.strictEqual(layerOf(text(SHIFTED), [], false), "usable")
    const privateUse = "\ue001\ue002\ue003 \ue004\ue005 \ue006\ue007\ue008\ue009"
    assert.strictEqual(layerOf(text(privateUse), [], true), "rubble")
    assert.strictEqual(layerOf(text(privateUse), [], false), "usable")
  })

  it("DOC-23: invisible rubbish behind a scan counts as none", () => {
    assert.strictEqual(layerOf(text(SHIFTED, true), [image(1)]), "unusable")
    const specks = "l i . , ~ t - ' i l j : ; f r ' l | i i t f , . - ' l i j ~ ".repeat(4)
    assert.strictEqual(layerOf(text(specks, true), [image(1)]), "unusable")
    // Numbers of one digit are a table.
    assert.strictEqual(layerOf(text("1 2 3 4 5 6 7 8 9 0 ".repeat(12), true), [image(1)]), "usable")
  })

  it("codes that are written with few vowels are judged by the document's own word", () => {
    const codes = "XKCD QWRT BCDF GHJK LMNP QRST VWXZ ".repeat(8)
    assert.strictEqual(layerOf(text(codes), [image(1)], false), "usable")
  })
})
