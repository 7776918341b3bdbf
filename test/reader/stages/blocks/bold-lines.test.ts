/** Bold lines of the text's own size: which of them head a section, and which are words of the text. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { isLabel } from "../../../../src/reader/stages/lines/heading-words.ts"
import { linesOf } from "../../../../src/reader/stages/lines/line.ts"
import { paragraphStep } from "../../../../src/reader/stages/lines/paragraph-step.ts"
import { segmentsOf } from "../../../../src/reader/stages/lines/segment.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

const bold = { font: FONT.bold }
/** Steps between paragraphs, points: text of ten points, lines twelve apart. */
const STEP = 22

const htmlOf = (...pages: ReadonlyArray<ReadonlyArray<TextRun>>): string =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: pages.map((runs, index) => page(runs, index)),
    others: NO_STATISTICS
  })
    .map(({ html }) => html)
    .join("")
const headings = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<h(\d)>(.*?)<\/h\d>/g)].map(([, level, words]) => `${level} ${words}`)

/** Paragraphs of two lines; `words` stands between them with so much white above and below. */
const between = (words: string, above: number, below: number, title = true): string => {
  const runs = title ? [run("A title", 60, 50, { ...bold, size: 14 })] : []
  let y = 80
  const paragraph = (seed: number) => {
    runs.push(...lines(prose(22, seed), 60, y, 90))
    y += 12
  }
  for (let seed = 1; seed <= 4; seed++) {
    paragraph(seed)
    y += STEP
  }
  y += above - STEP
  runs.push(run(words, 60, y, bold))
  y += below
  paragraph(5)
  return htmlOf(runs)
}

describe("a bold line of the text's size", () => {
  it("heads a section where it stands further apart than paragraphs, whatever their distance", () => {
    fc.assert(
      fc.property(fc.integer({ min: 26, max: 34 }), fc.integer({ min: 13, max: 34 }), (above, below) => {
        assert.deepStrictEqual(headings(between("Details", above, below)), ["1 A title", "2 Details"])
      }),
      { numRuns: 30 }
    )
  })

  it("may begin with a quotation mark of any language, but not with a small letter", () => {
    for (const words of ["«Bode» alone", "„Bode“ alone", "‹Bode› alone", "‚Bode‘ alone"])
      assert.deepStrictEqual(headings(between(words, 28, 14)), ["1 A title", `2 ${words}`])
    assert.deepStrictEqual(headings(between("bode alone", 28, 14)), ["1 A title"])
  })

  it("is a paragraph where it stands as far apart as they do and the document has larger headings", () => {
    assert.deepStrictEqual(headings(between("Network", STEP, STEP)), ["1 A title"])
    assert.deepStrictEqual(headings(between("Network", STEP, STEP, false)), ["1 Network"])
    assert.deepStrictEqual(headings(between("1.2 Network", STEP, STEP)), ["1 A title", "2 1.2 Network"])
  })

  it("heads nothing where words stand beside it, or where a part of it is not bold", () => {
    assert.deepStrictEqual(headings(between("Description", 30, 8)), ["1 A title"])
    const mixed = htmlOf([
      run("A title", 60, 50, { ...bold, size: 14 }),
      ...lines(prose(30), 60, 80, 90),
      run("Revision: ", 60, 130, bold),
      run("9103", 110, 130),
      ...lines(prose(30), 60, 160, 90),
      run("Details", 60, 210, bold),
      ...lines(prose(30), 60, 240, 90)
    ])
    assert.deepStrictEqual(headings(mixed), ["1 A title", "2 Details"])
  })

  it("heads nothing where the lines at once below it are set in: it is a term that they explain", () => {
    const above = (words: string, first: number, others: number): string =>
      htmlOf([
        run("A title", 60, 50, { ...bold, size: 14 }),
        ...lines(prose(30), 60, 80, 90),
        run(words, 60, 140, bold),
        ...lines(prose(30), first, 152, 80).map((line, at) =>
          at === 0 ? line : run(line.text, others, line.baseline)
        ),
        ...lines(prose(30, 2), 60, 230, 90)
      ])
    assert.deepStrictEqual(headings(above("Network", 85, 85)), ["1 A title"])
    assert.deepStrictEqual(headings(above("Network", 60, 60)), ["1 A title", "2 Network"])
    // A paragraph's first line alone is set in; the text of manual pages is, below headings.
    assert.deepStrictEqual(headings(above("Network", 75, 60)), ["1 A title", "2 Network"])
    assert.deepStrictEqual(headings(above("NETWORK", 85, 85)), ["1 A title", "2 NETWORK"])
    assert.deepStrictEqual(headings(above("Synopsis", 85, 85)), ["1 A title", "2 Synopsis"])
  })

  it("heads nothing where it names a box, a list of contents, an example or a letter of an index", () => {
    for (const label of [
      "Note",
      "Achtung!",
      "注意",
      "Table of Contents",
      "Содержание",
      "Example 5.2. Words",
      "B"
    ])
      assert.deepStrictEqual(headings(between(label, 30, 30)), ["1 A title"], label)
    assert.deepStrictEqual(headings(between("Notes of travellers", 30, 30)), [
      "1 A title",
      "2 Notes of travellers"
    ])
  })

  it("heads nothing where it ends in a colon and the document has larger headings", () => {
    assert.deepStrictEqual(headings(between("Parameters:", 34, 34)), ["1 A title"])
    assert.deepStrictEqual(headings(between("Parameters", 34, 34)), ["1 A title", "2 Parameters"])
    assert.deepStrictEqual(headings(between("Parameters:", 34, 34, false)), ["1 Parameters:"])
  })

  it("is no label with any other words before or after it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("Note", "Contents", "B"),
        fc.stringMatching(/^[a-z]{3,9}$/),
        (label, word) => {
          assert.isFalse(isLabel(`${label} ${word}`))
          assert.isFalse(isLabel(`${word} ${label}`))
        }
      )
    )
  })
})

describe("bold lines smaller than the text", () => {
  /** A page of so many, each with so much white above it. */
  const small = (words: ReadonlyArray<string>, white: number) =>
    headings(
      htmlOf([
        run("A title", 60, 50, { ...bold, size: 14 }),
        ...words.flatMap((one, at) => [
          ...lines(prose(22, at), 60, 80 + 90 * at, 90),
          run(one, 60, 92 + 90 * at + white, { ...bold, size: 8 }),
          ...lines(prose(12, at + 5), 60, 110 + 90 * at + white, 90)
        ])
      ])
    )
  const names = ["Buffer", "Encoding", "Strategy", "Threshold", "Level"]

  it("are headings of the deepest level where they are short, stand alone and are met often", () => {
    assert.deepStrictEqual(small(names, 20), ["1 A title", ...names.map((name) => `2 ${name}`)])
  })

  it("are none where there are a few, where they are long, or stand at the text above", () => {
    assert.deepStrictEqual(small(names.slice(0, 3), 20), ["1 A title"])
    const long = names.map((name) => `${name} of streams that are read from files on a disk`)
    assert.deepStrictEqual(small(long, 20), ["1 A title"])
    assert.deepStrictEqual(small(names, 11), ["1 A title"])
  })
})

describe("headings of larger sizes", () => {
  const larger = (words: string, set: { readonly font?: number; readonly size?: number }) =>
    headings(
      htmlOf([
        ...lines(prose(60, 1), 60, 60, 90),
        run(words, 60, 200, { size: 12, ...set }),
        ...lines(prose(60, 2), 60, 222, 90)
      ])
    )

  it("are no captions of examples and procedures, whose number ends in a full stop before their title", () => {
    for (const caption of [
      "Example D.1. Records of a file",
      "Procedure 2. To install it",
      "Beispiel 3.2. Ein Satz"
    ])
      assert.deepStrictEqual(larger(caption, bold), [], caption)
    for (const title of [
      "Example 1: Records of a file",
      "Example files",
      "Procedure",
      "Example usage. Files"
    ])
      assert.deepStrictEqual(larger(title, bold), [`1 ${title}`])
  })

  it("are no prototypes: slanted parameters", () => {
    const italic = { font: FONT.italic }
    assert.deepStrictEqual(larger("group. . . [body. . .]", { ...italic, size: 11 }), [])
    assert.deepStrictEqual(larger("name=value", { ...italic, size: 11 }), [])
    // Much larger words, and those without signs of parameters, are titles.
    for (const [words, size] of [
      ["Of rivers (and stones)", 14],
      ["Of rivers and stones", 11]
    ] as const)
      assert.deepStrictEqual(larger(words, { ...italic, size }), [`1 <em>${words}</em>`])
  })

  it("are no long sentences, unless they are bold", () => {
    const sentence = "For easier reference the content of the file is repeated as a whole here."
    assert.deepStrictEqual(larger(sentence, {}), [])
    assert.deepStrictEqual(larger(sentence, bold), [`1 ${sentence}`])
    assert.deepStrictEqual(larger("A short answer.", {}), ["1 A short answer."])
  })

  it("rank below one another though one page alone has the smaller", () => {
    const filled = (seed: number) => lines(prose(60, seed), 60, 110, 90)
    const pages = Array.from({ length: 6 }, (_, at) => [
      run(`Part ${at}`, 60, 60, { ...bold, size: 18 }),
      ...filled(at),
      ...(at === 3
        ? [run("Only here", 60, 220, { ...bold, size: 14 }), ...lines(prose(30), 60, 240, 90)]
        : [])
    ])
    const found = headings(htmlOf(...pages))
    assert.include(found, "1 Part 3")
    assert.include(found, "2 Only here")
  })

  it("may stand between dashes, which are no bullets", () => {
    const html = htmlOf([
      run("A list of all members:", 60, 60),
      run("- m -", 60, 90, { ...bold, size: 14 }),
      ...lines(prose(60), 60, 110, 90)
    ])
    assert.deepStrictEqual(headings(html), ["1 - m -"])
  })
})

describe("the step from paragraph to paragraph", () => {
  const stepOf = (runs: ReadonlyArray<TextRun>) => paragraphStep(linesOf(segmentsOf(runs), FONTS), 10)

  it("is recognized by white space between paragraphs of any size, and by nothing else", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 17, max: 29 }),
        fc.integer({ min: 3, max: 8 }),
        fc.integer({ min: 2, max: 4 }),
        (step, count, rows) => {
          const runs = Array.from({ length: count }, (_, at) =>
            Array.from({ length: rows }, (__, row) =>
              run("some words of a line", 60, 60 + row * 12 + at * ((rows - 1) * 12 + step))
            )
          ).flat()
          assert.approximately(stepOf(runs) ?? 0, step / 10, 0.04)
        }
      )
    )
    assert.isUndefined(stepOf(lines(prose(200), 60, 60, 90)))
  })

  it("is recognized where most paragraphs have one line", () => {
    const runs = [
      run("some words", 60, 60),
      run("of a line", 60, 72),
      run("some words", 60, 94),
      run("of a line", 60, 106),
      ...Array.from({ length: 6 }, (_, at) => run("a line alone", 60, 128 + 22 * at))
    ]
    assert.approximately(stepOf(runs) ?? 0, 2.2, 0.04)
  })

  it("is not that of lines which are set wide", () => {
    const wide = Array.from({ length: 20 }, (_, at) => run("some words of a line", 60, 60 + at * 20))
    assert.isUndefined(stepOf(wide))
  })

  it("heads a section of a leaflet, too, where there is one above every few lines, but no line of much bold text", () => {
    const leaflet = (words: (at: number) => string): string => {
      const runs: Array<ReturnType<typeof run>> = []
      for (let at = 0; at < 7; at++) {
        runs.push(run(words(at), 60, 80 + 60 * at, bold))
        runs.push(...lines(prose(13, at), 60, 98 + 60 * at, 46))
      }
      return htmlOf(runs)
    }
    assert.lengthOf(headings(leaflet((at) => `${at + 1}. What you need to know`)), 7)
    assert.lengthOf(headings(leaflet(() => "All that you need to know before you take it at home")), 0)
  })
})
