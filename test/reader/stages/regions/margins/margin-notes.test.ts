import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../src/reader/pipeline.ts"
import { segmentsOf } from "../../../../../src/reader/stages/lines/segment.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import { marginNotes } from "../../../../../src/reader/stages/regions/margins/margin-notes.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../../page-builder.ts"

const SIZE = 9
/** A run that ends where the margin does. */
const ending = (text: string, right: number, y: number): TextRun =>
  run(text, right - text.length * 0.6 * SIZE, y, { font: FONT.code, size: SIZE })

const EDGE = 144
const [RIGHT, STEP] = [EDGE - 5, 12]
/** Paragraphs of three lines each, one below the other. */
const paragraphs = (count: number): ReadonlyArray<TextRun> =>
  Array.from({ length: count }, (_, at) => lines(prose(24, at), EDGE, 100 + 60 * at, 60)).flat()

const htmlOf = (runs: ReadonlyArray<TextRun>): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs, 0)], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")

describe("notes in the left margin that end where the text begins", () => {
  it("stand before the paragraph that they begin beside, with all of their lines", () => {
    const notes = [
      [ending("\\school{English", RIGHT, 100), ending("name}{Welsh}", RIGHT, 100 + STEP)],
      [ending("\\module{code}", RIGHT, 220)],
      [ending("\\time{hours}", RIGHT, 280)]
    ]
    // Drawn with the line that it stands beside, a note is in one segment with it.
    const text = paragraphs(9)
    const drawn = text.flatMap((one) => [
      ...notes.flat().filter(({ baseline }) => baseline === one.baseline),
      one
    ])
    const html = htmlOf(drawn)
    for (const [at, note] of ["\\school{English name}{Welsh}", "\\module{code}", "\\time{hours}"].entries()) {
      const words = prose(24, [0, 2, 3][at] ?? 0).slice(0, 20)
      assert.include(html, `<p><code>${note}</code></p><p>${words}`)
    }
    assert.notInclude(html, "<table")
    for (let at = 0; at < 5; at++) assert.include(html, `<p>${prose(24, at)}</p>`)
  })

  it("are not numbers of items, names of columns nor what stands beside every line", () => {
    const [two, items, all, apart, cells] = [
      [0, 1].map((at) => ending("\\macro", RIGHT, 100 + 60 * at)),
      [0, 1, 2, 3].map((at) => ending(`${at + 1}.`, RIGHT, 100 + 60 * at)),
      Array.from({ length: 5 }, (_, at) =>
        [0, 1, 2].map((line) => ending("Label", RIGHT, 100 + 60 * at + STEP * line))
      ).flat(),
      // No line of the text stands beside the second.
      [0, 1, 2].map((at) => ending("\\macro", RIGHT, 100 + 46 * at)),
      // Cells of a column begin at one place; some are as wide.
      ["\\macro", "\\river", "\\C", "\\stone", "\\time"].map((one, at) => run(one, RIGHT - 27, 100 + 60 * at))
    ]
    for (const beside of [two, items, all, apart, cells]) {
      const segments = segmentsOf([...beside, ...paragraphs(5)])
      assert.deepStrictEqual(marginNotes(segments, FONTS).notes, [])
      assert.strictEqual(marginNotes(segments, FONTS).text, segments)
    }
  })

  it("are so beside lines that are set in, and where numbers of lines of code stand nearer to the text", () => {
    const notes = ["\\C", "\\macro", "\\time"].map((note, at) => ending(note, RIGHT - 8, 400 + 48 * at))
    const code = ["\\def\\C{", "deep", "}", "", "\\let\\macro\\C", "\\relax", "\\fi", "", "\\deep"].flatMap(
      (line, at) =>
        line === ""
          ? []
          : [
              run(`${at + 11}`, RIGHT - 5, 400 + STEP * at, { size: 5 }),
              run(line, EDGE + 12, 400 + STEP * at, { font: FONT.code, size: SIZE })
            ]
    )
    const setIn = lines(prose(65), EDGE + 12, 620, 60)
    const found = marginNotes(segmentsOf([...paragraphs(5), ...notes, ...code, ...setIn]), FONTS)
    assert.deepEqual(
      found.notes.map(([line]) => line?.text),
      ["\\C", "\\macro", "\\time"]
    )
  })

  it("take nothing away and add nothing", () => {
    const place = fc.tuple(
      fc.constantFrom("\\macro", "12", "a note", "[Knu84]", "words of a line that is long enough to be text"),
      fc.integer({ min: 20, max: 160 }),
      fc.integer({ min: 8, max: 60 })
    )
    fc.assert(
      fc.property(fc.array(place, { maxLength: 40 }), (places) => {
        const runs = [...places.map(([text, x, row]) => run(text, x, row * STEP)), ...paragraphs(6)]
        const segments = segmentsOf(runs)
        const { notes, text } = marginNotes(segments, FONTS)
        const letters = (of: ReadonlyArray<{ readonly pieces: ReadonlyArray<{ readonly text: string }> }>) =>
          of.reduce((sum, { pieces }) => sum + pieces.reduce((all, piece) => all + piece.text.length, 0), 0)
        const noted = notes.flat().flatMap((line) => line.segments)
        assert.strictEqual(letters(noted) + letters(text), letters(segments))
      })
    )
  })
})
