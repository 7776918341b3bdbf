/** Headings in italics, in capitals, underlined or coloured, and numbers that are counted anew within a section. */
import { assert, describe, it } from "vitest"

import type { Drawing, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, rule, run, type Set as Look } from "../page-builder.ts"

const headings = (
  runs: ReadonlyArray<TextRun>,
  drawings: ReadonlyArray<Drawing> = []
): ReadonlyArray<string> => {
  const pages = [page(runs, 0, { drawings })]
  const html = layoutPages({ facts: FACTS, fonts: FONTS, pages, others: NO_STATISTICS })
    .map((one) => one.html)
    .join("")
  return [...html.matchAll(/<h(\d)>(.*?)<\/h\d>/g)].map(([, level, words]) =>
    `${level} ${words}`.replaceAll(/<[^>]+>/g, "")
  )
}

/** A title, and so many sections of two lines below words in italics. */
const document = (
  words: ReadonlyArray<string>,
  {
    above = 24,
    below = 18,
    font = FONT.italic,
    size = 10,
    ...set
  }: Look & { above?: number; below?: number } = {}
): ReadonlyArray<TextRun> => {
  const runs = [run("Of rivers", 60, 50, { font: FONT.bold, size: 16 }), ...lines(prose(26, 9), 60, 80, 90)]
  let y = 104
  for (const [seed, one] of words.entries()) {
    runs.push(run(one, 60, y - 12 + above, { font, size, ...set }))
    y += above - 12 + below
    runs.push(...lines(prose(28, seed), 60, y, 90))
    y += 24
  }
  return runs
}

describe("lines in italics", () => {
  it("head sections where most of them stand by themselves, above their text", () => {
    assert.deepStrictEqual(headings(document(["Map", "Depth", "Image"])), [
      "1 Of rivers",
      "2 Map",
      "2 Depth",
      "2 Image"
    ])
    // They may be a little smaller than the text.
    assert.lengthOf(headings(document(["Map", "Depth", "Image"], { size: 9 })), 4)
    assert.lengthOf(headings(document(["Map", "Depth", "Image"], { size: 9, font: FONT.boldItalic })), 4)
  })

  it("are text where they are few, sentences, examples, or as near to what is above as to what is below", () => {
    assert.lengthOf(headings(document(["Map", "Depth"])), 1)
    assert.lengthOf(headings(document(["It is a map.", "It is deep.", "It is seen."])), 1)
    assert.lengthOf(headings(document(["Example", "Example", "Examples"])), 1)
    assert.lengthOf(headings(document(["Map", "Depth", "Image"], { above: 20, below: 24 })), 1)
  })

  it("are text where most lines in italics are a paragraph's", () => {
    const note = lines(prose(80, 4), 60, 600, 60, { font: FONT.italic })
    assert.lengthOf(headings([...document(["Map", "Depth", "Image"]), ...note]), 1)
  })
})

const PLAIN = { font: FONT.plain }
const SECTIONS = ["Map of the river", "Depth", "2.1 Image"]

describe("lines of the text's size and weight in capitals", () => {
  const capitals = SECTIONS.map((words) => words.toUpperCase())

  it("head sections where they stand by themselves, also centred, or over another heading", () => {
    assert.deepStrictEqual(headings(document(capitals.slice(0, 2).concat("SOURCES"), PLAIN)), [
      "1 Of rivers",
      "2 MAP OF THE RIVER",
      "2 DEPTH",
      "2 SOURCES"
    ])
    const centred = document(["MAP OF IT", "DEPTH", "SOURCES"], PLAIN).map((one) =>
      /^[A-Z ]+$/.test(one.text) ? run(one.text, 285 - 2.5 * one.text.length, one.baseline) : one
    )
    assert.lengthOf(headings(centred), 4)
  })

  it("are text where they are few, or spaced as text is", () => {
    assert.lengthOf(headings(document(["DEPTH", "SOURCES"], PLAIN)), 1)
    assert.lengthOf(headings(document(["MAP", "DEPTH", "IMAGE"], { ...PLAIN, above: 20, below: 24 })), 1)
    assert.lengthOf(headings(document(["NOTE", "WARNING", "IMPORTANT"], PLAIN)), 1)
  })
})

describe("lines of the text's size and weight that are underlined or coloured", () => {
  const underlined = (runs: ReadonlyArray<TextRun>, longer = 0): ReadonlyArray<Drawing> =>
    runs
      .filter(({ text }) => SECTIONS.includes(text))
      .map(({ baseline, box }) => rule(box.x0, baseline + 1, box.x1 + longer, baseline + 1.6))

  it("head sections, with a number or without", () => {
    const runs = document(SECTIONS, PLAIN)
    assert.lengthOf(headings(runs), 1)
    const found = ["1 Of rivers", ...SECTIONS.map((words) => `2 ${words}`)]
    assert.deepStrictEqual(headings(runs, underlined(runs)), found)
    assert.deepStrictEqual(headings(document(SECTIONS, { ...PLAIN, color: 0x2e74b5 })), found)
  })

  it("may have their numbers apart from them", () => {
    const coloured = { ...PLAIN, color: 0x2e74b5 }
    const words = ["Map of the river", "Depth", "Image"]
    const runs = document(words, coloured).flatMap((one) => {
      const at = words.indexOf(one.text)
      return at < 0
        ? [one]
        : [run(String(at + 1), 60, one.baseline, coloured), run(one.text, 74.9, one.baseline, coloured)]
    })
    assert.deepStrictEqual(
      headings(runs).map((one) => one.replace(/^\d /, "")),
      ["Of rivers", ...words.map((one, at) => `${at + 1} ${one}`)]
    )
  })

  it("are not looked for among thousands of rules", () => {
    const runs = document(SECTIONS, PLAIN)
    const strokes = Array.from({ length: 1000 }, (_, at) => rule(400, 700 + at / 100, 440, 700.4 + at / 100))
    assert.lengthOf(headings(runs, [...underlined(runs), ...strokes]), 1)
  })

  it("are text where the rule is a table's or a page's, where the colour is a grey, and where most such words are links", () => {
    const runs = document(SECTIONS, PLAIN)
    assert.lengthOf(headings(runs, underlined(runs, 200)), 1)
    assert.lengthOf(headings(document(SECTIONS, { ...PLAIN, color: 0x444444 })), 1)
    const blue = { color: 0x0000ff }
    const links = [600, 615, 630].map((y) => run("www.example.org/rivers", 60, y, blue))
    assert.lengthOf(headings([...document(SECTIONS, { ...PLAIN, ...blue }), ...links]), 1)
  })
})

describe("sections that are numbered anew", () => {
  it("rank below the one that they stand in where they are set lower", () => {
    const chapter = { font: FONT.bold, size: 16 }
    const step = { font: FONT.bold, size: 12 }
    const runs = [
      run("1 Rivers", 60, 60, chapter),
      ...lines(prose(28, 1), 60, 90, 90),
      run("2 Stones", 60, 150, chapter),
      ...lines(prose(28, 2), 60, 180, 90),
      run("1. Small ones", 60, 230, step),
      ...lines(prose(28, 3), 60, 254, 90),
      run("2. Large ones", 60, 300, step),
      ...lines(prose(28, 4), 60, 324, 90)
    ]
    assert.deepStrictEqual(headings(runs), ["1 1 Rivers", "1 2 Stones", "2 1. Small ones", "2 2. Large ones"])
  })
})
