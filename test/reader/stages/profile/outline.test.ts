/** What a document's bookmarks say of its headings. */
import { assert, describe, it } from "vitest"

import type { OutlineEntry, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

const bold = { font: FONT.bold }
const text = (y: number, seed: number): ReadonlyArray<TextRun> => lines(prose(40, seed), 60, y, 90)
const entry = (title: string, level: number): OutlineEntry => ({ title, level, page: 0 })

const headings = (runs: ReadonlyArray<TextRun>, outline: ReadonlyArray<OutlineEntry>) =>
  layoutPages({ facts: { ...FACTS, outline }, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .flatMap(({ html }) => [...html.matchAll(/<h(\d)>(.*?)<\/h\d>/g)])
    .map(([, level, words = ""]) => `${level} ${words.replaceAll(/<[^>]+>/g, "")}`)

const RUNS = [
  run("Rivers", 60, 60, { ...bold, size: 18 }),
  ...text(90, 1),
  run("Cold water", 60, 170, bold),
  ...text(195, 2),
  run("Example", 60, 275, bold),
  ...text(300, 3),
  run("References", 60, 380, bold),
  ...text(405, 4)
]

describe("bookmarks", () => {
  it("that name sections say which bold lines of the text's size are headings, and their levels", () => {
    const outline = [entry("Rivers", 1), entry("Cold water", 3)]
    assert.deepStrictEqual(headings(RUNS, outline), ["2 Rivers", "4 Cold water", "3 References"])
  })

  it("say nothing of other bold lines where they name chapters alone, or what is not printed", () => {
    const all = ["Rivers", "Cold water", "Example", "References"]
    const words = (outline: ReadonlyArray<OutlineEntry>) => headings(RUNS, outline).map((one) => one.slice(2))
    assert.deepStrictEqual(words([entry("Rivers", 1)]), all)
    assert.deepStrictEqual(words([entry("Slide 1", 1), entry("Slide 2", 2), entry("Slide 3", 2)]), all)
  })
})

describe("reference pages that bookmarks name", () => {
  const outline = [entry("Rivers", 1), entry("Cold water", 2)]
  const pageOf = (words: string, below: number): ReadonlyArray<TextRun> => [
    run("Rivers", 60, 60, { ...bold, size: 18 }),
    ...text(90, 1),
    run("Cold water", 60, 170, { ...bold, size: 12 }),
    ...text(195, 2),
    run(words, 60, 275, { ...bold, size: 9 }),
    ...text(275 + below, 3)
  ]

  it("have sections of well-known names, smaller than their text", () => {
    assert.deepStrictEqual(headings(pageOf("See also", 25), outline), [
      "2 Rivers",
      "3 Cold water",
      "4 See also"
    ])
  })

  it("have no other ones, and none where text follows at once", () => {
    assert.deepStrictEqual(headings(pageOf("Wet feet", 25), outline), ["2 Rivers", "3 Cold water"])
    assert.deepStrictEqual(headings(pageOf("See also", 12), outline), ["2 Rivers", "3 Cold water"])
  })

  it("have all that is set like several of well-known names, other than labels", () => {
    const sections = (...names: ReadonlyArray<string>) =>
      headings(
        [
          ...pageOf("Synopsis", 25),

          ...names.flatMap((words, at) => [
            run(words, 60, 370 + 80 * at, { ...bold, size: 9 }),
            ...text(395 + 80 * at, at + 4)
          ])
        ],
        outline
      ).slice(2)
    assert.deepStrictEqual(sections("Description", "Wet feet", "See also", "Note"), [
      "4 Synopsis",
      "4 Description",
      "4 Wet feet",
      "4 See also"
    ])
    assert.deepStrictEqual(sections("Wet feet", "See also"), ["4 Synopsis", "4 See also"])
  })
})

describe("what bookmarks leave out", () => {
  const large = { ...bold, size: 14 }
  const section = (words: string, y: number, set: object) => [run(words, 60, y, set), ...text(y + 25, y)]
  const runs = [
    ...section("1 Rivers", 60, { ...bold, size: 18 }),
    ...section("1.1 Cold water", 170, large),
    ...section("1.2 Warm water", 270, large),
    ...section("Stones", 370, large),
    ...section("1.2.1 Round stones", 470, { ...bold, size: 12 })
  ]

  it("ranks with what looks like it, and by its number below what it is a part of", () => {
    const outline = [entry("Rivers", 1), entry("Cold water", 2), entry("Warm water", 2)]
    assert.deepStrictEqual(headings(runs, outline), [
      "2 1 Rivers",
      "3 1.1 Cold water",
      "3 1.2 Warm water",
      "3 Stones",
      "4 1.2.1 Round stones"
    ])
  })

  it("is a heading at the text's size where its number goes deeper than the outline does", () => {
    const deep = [...runs.slice(0, -1 - text(0, 1).length), ...section("1.2.1 Round stones", 470, bold)]
    const outline = [entry("Rivers", 1), entry("Cold water", 2), entry("Warm water", 2)]
    assert.include(headings(deep, outline), "4 1.2.1 Round stones")
    const third = { title: "1.1.1 Flat stones", level: 3, page: 0 }
    const flat = [...section("1.1.1 Flat stones", 570, bold), ...section("1.2.1 Round stones", 670, bold)]
    assert.notInclude(
      headings([...runs.slice(0, -1 - text(0, 1).length), ...flat], [...outline, third]).join(),
      "Round"
    )
  })

  it("is not moved by a second, torn list of the same titles", () => {
    const torn = [entry("Cold water", 7), entry("Warm water", 8)]
    const outline = [entry("Rivers", 1), entry("Cold water", 2), entry("Warm water", 2), ...torn]
    assert.strictEqual(headings(runs, outline)[2], "3 1.2 Warm water")
  })
})

describe("a title at the head of a page", () => {
  const outline = [
    { title: "Rivers", level: 1, page: 0 },
    { title: "Cold water", level: 2, page: 0 },
    { title: "Stones", level: 2, page: 1 }
  ]
  const of = (pages: ReadonlyArray<ReadonlyArray<TextRun>>) =>
    layoutPages({
      facts: { ...FACTS, pageCount: 2, outline },
      fonts: FONTS,
      pages: pages.map((runs, index) => page(runs, index)),
      others: NO_STATISTICS
    })
      .flatMap(({ html }) => [...html.matchAll(/<h(\d)>(.*?)<\/h\d>/g)])
      .map(([, , words = ""]) => words)
  const first = [run("Rivers", 60, 90, { ...bold, size: 18 }), ...text(120, 1)]
  const cold = [run("Cold water", 60, 200, { ...bold, size: 14 }), ...text(225, 2)]

  it("that says which section the page is in is no heading again", () => {
    const second = [run("Cold water", 300, 50), ...text(90, 3), run("Stones", 60, 200, { ...bold, size: 14 })]
    assert.deepStrictEqual(
      of([
        [...first, ...cold],
        [...second, ...text(225, 4)]
      ]),
      ["Rivers", "Cold water", "Stones"]
    )
    // Its own section begins below on the same page.
    const below = [run("Stones", 300, 50), ...text(90, 3), run("Stones", 60, 200, { ...bold, size: 14 })]
    assert.deepStrictEqual(
      of([
        [...first, ...cold],
        [...below, ...text(225, 4)]
      ]),
      ["Rivers", "Cold water", "Stones"]
    )
  })

  it("is the section's heading where the section begins there", () => {
    const second = [run("Stones", 60, 60, bold), ...text(85, 3)]
    assert.deepStrictEqual(of([[...first, ...cold], second]), ["Rivers", "Cold water", "Stones"])
    // What lists the sections, and what repeats the heading's words below it, is no heading.
    const listed = [...first, run("Stones", 60, 300), run("Cold water", 60, 312), ...text(340, 4)]
    assert.include(of([listed, [...second, run("Stones", 60, 300), ...text(325, 5)]]), "Stones")
    // A bookmark may stand a little above what it names: on the page before.
    const moved = [run("Cold water", 60, 60, bold), ...text(85, 3)]
    assert.deepStrictEqual(of([first, moved]), ["Rivers", "Cold water"])
  })
})

describe("a title that the outline names", () => {
  const laidOut = (outline: ReadonlyArray<OutlineEntry>, ...pages: ReadonlyArray<ReadonlyArray<TextRun>>) =>
    layoutPages({
      facts: { ...FACTS, pageCount: pages.length, outline },
      fonts: FONTS,
      pages: pages.map((runs, index) => page(runs, index)),
      others: NO_STATISTICS
    })
  const of = (...document: Parameters<typeof laidOut>) =>
    laidOut(...document).flatMap(({ html }) =>
      [...html.matchAll(/<h(\d)[^>]*>(.*?)<\/h\d>/g)].map(([, level = "", words = ""]) => `${level} ${words}`)
    )

  it("is no heading where a list has it as an item", () => {
    const outline = [entry("Rivers", 1), entry("Cold water", 2)]
    const list = (mark: string) => [
      run("Rivers", 60, 60, { ...bold, size: 18 }),
      ...text(90, 1),
      run(`${mark}Cold water`, 60, 165),
      ...text(250, 2),
      run("Cold water", 60, 350, { ...bold, size: 14 }),
      ...text(375, 3)
    ]
    assert.deepStrictEqual(of(outline, list("• ")), ["2 Rivers", "3 Cold water"])
    assert.deepStrictEqual(of(outline, list("")), ["2 Rivers", "3 Cold water", "3 Cold water"])
  })

  it("is a heading in typewriter, near the text, where it is bold, and code where it is not", () => {
    const outline = [entry("Rivers", 1), entry("river.flow(): void", 2)]
    const set = (command: object) => [
      run("Rivers", 60, 60, { ...bold, size: 18 }),
      ...text(90, 1),
      run("river.flow(): void", 60, 165, command),
      ...text(185, 2)
    ]
    const found = ["2 Rivers", "3 <code>river.flow(): void</code>"]
    assert.deepStrictEqual(of(outline, set({ font: FONT.boldCode, size: 14 })), found)
    assert.deepStrictEqual(of(outline, set({ font: FONT.code })), ["2 Rivers"])
    assert.deepStrictEqual(of([entry("Rivers", 1)], set({ font: FONT.boldCode, size: 14 })), ["2 Rivers"])
  })

  it("repeats at the head of a page, larger than text, what is printed in two lines", () => {
    const outline = [
      { title: "Waters that are cold all year", level: 1, page: 0 },
      { title: "Stones", level: 1, page: 2 }
    ]
    const large = { ...bold, size: 20 }
    const first = [
      run("Waters that are cold", 60, 90, large),
      run("all year", 60, 114, large),
      ...text(150, 1)
    ]
    const head = (words: string) => [run(words, 300, 50, { ...bold, size: 14 }), ...text(90, 2)]
    const other = [run("Stones", 60, 90, large), ...text(150, 3)]
    const all = of(outline, first, head("Waters that are cold all year"), other)
    assert.deepStrictEqual(all, ["2 Waters that are cold all year", "2 Stones"])
    // A section of that name begins there.
    const named = [...outline, { title: "Waters that are cold all year", level: 2, page: 1 }]
    assert.strictEqual(of(named, first, head("Waters that are cold all year"), other).length, 3)
  })

  it("repeats at the head of a page in two lines, broken within a word", () => {
    const outline = [
      { title: "Chapter 2. Waters that are cold all year", level: 1, page: 0 },
      { title: "Stones", level: 1, page: 2 }
    ]
    const large = { ...bold, size: 20 }
    const first = [run("Chapter 2. Waters that", 60, 90, large), run("are cold all year", 60, 114, large)]
    const head = [run("Waters that are co", 300, 50), run("ld all year", 300, 62), ...text(90, 2)]
    const other = [run("Stones", 60, 90, large), ...text(150, 3)]
    const [, second] = laidOut(outline, [...first, ...text(150, 1)], head, other)
    assert.match(second?.html ?? "", /^<p>over margin/)
    // A heading of two lines that begins there.
    const named = [...outline, { title: "Cold all year", level: 2, page: 1 }]
    const two = [
      run("Cold", 60, 50, { ...bold, size: 12 }),
      run("all year", 60, 64, { ...bold, size: 12 }),
      ...text(90, 2)
    ]
    assert.include(of(named, [...first, ...text(150, 1)], two, other), "3 Cold all year")
  })

  it("ranks above smaller headings that it does not name, alone as it is, and beside those of its size", () => {
    const section = (words: string, y: number, size: number) => [
      run(words, 60, y, { ...bold, size }),
      ...text(y + 25, y)
    ]
    const runs = [...section("Rivers", 60, 18), ...section("Cold water", 170, 14)]
    const found = of([entry("Rivers", 1)], runs, section("Stones", 60, 18))
    assert.deepStrictEqual(found, ["2 Rivers", "3 Cold water", "2 Stones"])
  })

  it("does not lift numbered sections that have its words to the level of what they are parts of", () => {
    const section = (words: string, y: number, size: number) => [
      run(words, 60, y, { ...bold, size }),
      ...text(y + 25, y)
    ]
    const runs = [
      ...section("7 Rivers", 60, 18),
      ...section("7.1 Water", 170, 14),
      ...section("7.1.1 Cold", 280, 12),
      ...section("7.1.2 Warm", 390, 12)
    ]
    const outline = [entry("Rivers", 1), entry("Water", 2), entry("Cold", 2)]
    assert.deepStrictEqual(of(outline, runs).at(-1), "4 7.1.2 Warm")
  })
})

describe("a heading of two lines", () => {
  const two = (first: string, second: string, x: number) =>
    headings(
      [run(first, 60, 60, { ...bold, size: 12 }), run(second, x, 74, { ...bold, size: 12 }), ...text(110, 1)],
      []
    )

  it("is one, whether its second line is indented below its words or ended early", () => {
    assert.deepStrictEqual(two("Appendix B Differences from", "the river", 118), [
      "1 Appendix B Differences from the river"
    ])
    assert.deepStrictEqual(two("4.4 Rivers,", "and stones of them", 60), ["1 4.4 Rivers, and stones of them"])
  })

  it("is two where the second has a number of its own", () => {
    assert.strictEqual(two("4 Rivers of the whole land", "4.1 Stones", 70).length, 2)
  })
})
