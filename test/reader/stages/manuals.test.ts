/** What manuals printed from a browser look like: sections named by code, bars of navigation, tables cut off by the page. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, type Rest, rule, run } from "./page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>, rest: Rest = {}): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs, 0, rest)], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")

const bold = { font: FONT.bold }
const text = (y: number, seed: number): ReadonlyArray<TextRun> => lines(prose(40, seed), 60, y, 90)

describe("headings of manuals", () => {
  it("may be of bold code, which browsers set smaller than the text around it", () => {
    const html = htmlOf([
      run("Class: Console", 60, 80, { ...bold, size: 14 }),
      ...text(110, 1),
      run("console.log(data)", 60, 180, { font: FONT.boldCode, size: 8 }),
      ...text(205, 2),
      run("int main(void)", 60, 275, { font: FONT.code, size: 8 }),
      ...text(300, 3)
    ])
    assert.match(html, /<h2>(<code>)?console\.log\(data\)/)
    assert.include(html, "<pre><code>int main(void)</code></pre>")
  })

  it("of bold code rank by the size that its words would have in the text's face", () => {
    const html = htmlOf([
      run("Words", 60, 80, { ...bold, size: 14 }),
      ...text(110, 1),
      run("console", 60, 180, { font: FONT.boldCode, size: 11.2 }),
      ...text(205, 2),
      run("x = one + two + three", 60, 275, { font: FONT.code, size: 8 }),
      ...text(300, 3)
    ])
    assert.match(html, /<h1>Words<\/h1>/)
    assert.match(html, /<h1>(<code>)?console/)
  })

  it("are no examples: code that a colon announces, or that goes on in the next line", () => {
    const html = htmlOf([
      run("Title", 60, 60, { ...bold, size: 14 }),
      ...text(90, 1),
      run("Then type the command:", 60, 160),
      run("gpsbabel -i garmin", 60, 184, { font: FONT.boldCode, size: 8 }),
      ...text(210, 2),
      run("first line of a listing", 60, 280, { font: FONT.boldCode, size: 8 }),
      run("second line of a listing", 60, 290, { font: FONT.boldCode, size: 8 }),
      run("third line of a listing", 60, 300, { font: FONT.boldCode, size: 8 }),
      ...text(330, 3)
    ])
    assert.strictEqual(html.match(/<h\d/g)?.length, 1)
  })

  it("are not recognized by bold code where all text is code", () => {
    const code = (y: number): ReadonlyArray<TextRun> => lines(prose(40, 1), 60, y, 80, { font: FONT.code })
    const html = htmlOf([...code(60), run("tag-stack", 60, 160, { font: FONT.boldCode }), ...code(190)])
    assert.notInclude(html, "<h")
  })

  it("are no text that begins with a long word of code", () => {
    const html = htmlOf([
      ...text(60, 1),
      run("int one_longer_line_of_code = another_long_line(1)", 60, 130, { font: FONT.code, size: 8 }),
      run("Title", 60, 160, { ...bold, size: 11.2 }),
      ...text(185, 2),
      run("average_structure", 60, 255, { font: FONT.code, size: 9 }),
      run("is one of", 157, 255),
      run("the values", 207, 255),
      ...text(285, 3)
    ])
    assert.strictEqual(html.match(/<h\d/g)?.length, 1)
  })

  it("may begin with a small letter where they stand alone, not where text follows at once", () => {
    const html = htmlOf([
      run("Title", 60, 60, { ...bold, size: 14 }),
      ...text(90, 1),
      run("eng", 60, 165, bold),
      ...text(190, 2),
      run("run-in words", 60, 265, bold),
      ...text(277, 3)
    ])
    assert.include(html, "<h2>eng</h2>")
    assert.notInclude(html, "run-in words</h2>")
  })

  it("may be in a list item, without its bullet", () => {
    const html = htmlOf([
      ...text(60, 1),
      run("• Method Summary", 60, 130, { ...bold, size: 14 }),
      ...text(160, 2),
      run("• Bold words of an item", 60, 230, bold),
      ...text(260, 3)
    ])
    assert.include(html, "<h1>Method Summary</h1>")
    assert.notMatch(html, /<h\d>[^<]*Bold words/)
  })

  it("are no rows of a table's head, but may stand off their number", () => {
    const html = htmlOf([
      run("Title", 60, 60, { ...bold, size: 14 }),
      ...text(90, 1),
      run("Feature", 60, 165, bold),
      run("Sample", 150, 165, bold),
      ...text(190, 2),
      run("1.2", 60, 265, bold),
      run("Sample", 95, 265, bold),
      ...text(290, 3),
      run("Wide", 60, 360, bold),
      run("and justified", 445, 360, bold),
      run("words", 60, 372, bold),
      ...text(400, 1)
    ])
    assert.notInclude(html, "<h2>Feature")
    assert.include(html, "<h2>1.2 Sample</h2>")
    assert.include(html, "<h2>Wide and justified words</h2>")
  })

  it("have code in them where their words are bold; without such words it is a command", () => {
    const headings = (words: string, looks: object): number =>
      htmlOf([
        run("Title", 60, 60, { ...bold, size: 20 }),
        ...text(90, 1),
        run(words, 60, 165, { ...looks, size: 14 }),
        run("wateroption", 64 + 7 * words.length, 165, { font: FONT.code, size: 14 }),
        ...text(190, 2)
      ]).match(/<h\d/g)?.length ?? 0
    assert.strictEqual(headings("Option", bold), 2)
    assert.strictEqual(headings("option", {}), 1)
  })

  it("are no captions, in other languages either", () => {
    const captions = ["表 4.2. 二项的内容", "Tabel 3.1 Informații", "Таблица 2. Ключи", "図 3 画面"]
    for (const caption of captions) {
      const html = htmlOf([
        run("Title", 60, 60, { ...bold, size: 14 }),
        ...text(90, 1),
        run(caption, 60, 165, bold),
        ...text(190, 2)
      ])
      assert.strictEqual(html.match(/<h\d/g)?.length, 1, caption)
    }
  })

  it("are no kinds of notes, however large, nor a chapter's number in words above its title", () => {
    const large = { ...bold, size: 13 }
    const html = htmlOf([
      run("CHAPTER", 460, 60, bold),
      run("NINE", 470, 84, { ...bold, size: 14 }),
      run("Questions", 400, 130, { ...bold, size: 14 }),
      ...text(170, 1),
      run("Note", 60, 245, large),
      ...text(270, 2),
      run("Note on rivers", 60, 345, large),
      ...text(370, 3),
      run("Notes", 60, 445, large),
      ...text(470, 4)
    ])
    assert.deepStrictEqual(
      [...html.matchAll(/<h\d>(.*?)<\/h\d>/g)].map(([, words]) => words),
      ["Questions", "Note on rivers", "Notes"]
    )
    assert.match(html, /CHAPTER[^]*NINE[^]*Questions/)
  })

  it("are no prototypes of functions, set larger than the text", () => {
    const code = { font: FONT.code, size: 12 }
    const html = htmlOf([
      run("Functions", 60, 60, { ...bold, size: 14 }),
      ...text(90, 1),
      run("OM_uint32", 60, 165, code),
      run("release (name_t name)", 130, 165, { size: 12 }),
      ...text(190, 2),
      run("The", 60, 265, { size: 12 }),
      run("release", 90, 265, code),
      run("of names and of buffers", 145, 265, { size: 12 }),
      ...text(290, 3)
    ])
    assert.notMatch(html, /<h\d>[^<]*(<code>)?OM_uint32/)
    assert.match(html, /<h\d>The <code>release/)
  })

  it("are not repeated by the bar of navigation above them", () => {
    const html = htmlOf([
      run("17.4. Builders", 200, 60, bold),
      run("Chapter 17. Extending", 190, 80, bold),
      run("17.4. Builders", 60, 120, { ...bold, size: 14 }),
      ...text(150, 1)
    ])
    assert.strictEqual(html.match(/<h\d/g)?.length, 1)
    assert.include(html, "<h1>17.4. Builders</h1>")
    const below = htmlOf([
      run("Title", 60, 60, { ...bold, size: 14 }),
      ...text(90, 1),
      run("Section", 60, 165, bold),
      ...text(190, 2)
    ])
    assert.strictEqual(below.match(/<h\d/g)?.length, 2)
  })

  it("are recognized by the text's size, however much code there is", () => {
    const entries = Array.from({ length: 30 }, (_, at) => [
      run(`SomeFunctionWithALongName${at}`, 60, 120 + 16 * at, { font: FONT.code, size: 8 }),
      run("1.6", 230, 120 + 16 * at)
    ]).flat()
    const html = htmlOf([
      run("Index", 60, 80, { ...bold, size: 14 }),
      run("Some words.", 60, 100),
      ...entries
    ])
    assert.strictEqual(html.match(/<h\d/g)?.length, 1)
    assert.include(html, "<h1>Index</h1>")
  })
})

describe("text that is larger than most of a document", () => {
  /** Two pages of text in ten points, and an appendix in eight that has most of the letters. */
  const headings = (words: (y: number, seed: number) => ReadonlyArray<TextRun>): ReadonlyArray<string> => {
    const appendix = (seed: number) => lines(prose(900, seed), 60, 60, 100, { size: 8 })
    const first = [1, 2, 3, 4, 5, 6].flatMap((seed) => [
      run(`Release ${seed}`, 60, 110 * seed - 30, { ...bold, size: 14 }),
      ...words(110 * seed, seed)
    ])
    const pages = [first, appendix(1), appendix(2), appendix(3), appendix(4), appendix(5)]
    return layoutPages({
      facts: { ...FACTS, pageCount: pages.length },
      fonts: FONTS,
      pages: pages.map((runs, index) => page(runs, index)),
      others: NO_STATISTICS
    }).flatMap(({ html }) => html.match(/<h\d>.*?<\/h\d>/g) ?? [])
  }

  it("is prose where its lines are as many and as long as those of paragraphs", () => {
    const release = (y: number, seed: number) => [
      ...text(y, seed),
      run(`Number ${seed} mends what was wrong in the one before it, and has no new words`, 60, y + 76)
    ]
    assert.lengthOf(headings(release), 6)
  })

  it("has bold terms of its own size, which are no headings where what explains them is set in at once", () => {
    const release = (step: number) => (y: number, seed: number) => [
      ...text(y, seed),
      run(`Word${seed}`, 60, y + 44, bold),
      run(`set in below number ${seed}`, 80, y + 44 + step)
    ]
    assert.lengthOf(headings(release(12)), 6)
    assert.lengthOf(headings(release(16)), 12)
  })

  it("is a heading where its lines are short", () => {
    assert.lengthOf(
      headings((y, seed) => [
        run(`Stones of kind ${seed}`, 60, y),
        ...lines(prose(30, seed), 60, y + 20, 100, { size: 8 })
      ]),
      12
    )
  })
})

describe("tables of manuals", () => {
  const cells = (right: number) => [
    rule(60, 100, right, 100),
    rule(60, 120, right, 120),
    rule(60, 140, right, 140),
    rule(60, 160, right, 160),
    rule(60, 100, 60, 160),
    rule(160, 100, 160, 160),
    rule(300, 100, 300, 160)
  ]
  const words = ["Action", "About", "Align"].flatMap((name, at) => [
    run(name, 66, 114 + 20 * at),
    run(`what ${name} does`, 166, 114 + 20 * at),
    run(`${name}(all, the, rest)`, 306, 114 + 20 * at)
  ])

  it("keep the column that the page's edge cuts off", () => {
    const html = htmlOf(words, { drawings: cells(700) })
    assert.include(html, "<td>About</td><td>what About does</td><td>About(all, the, rest)</td>")
  })

  it("have no border where a link in a cell is underlined", () => {
    const html = htmlOf(words, {
      drawings: [...cells(595), rule(595, 100, 595, 160), rule(61, 133, 90, 133)]
    })
    assert.notInclude(html, "rowspan")
    assert.strictEqual(html.match(/<tr>/g)?.length, 3)
  })

  it("keep the last line of a cell that is taller than its neighbours", () => {
    const html = htmlOf([
      ...text(40, 1),
      run("Feature", 60, 100, bold),
      run("Sample", 160, 100, bold),
      run("Setting", 420, 100, bold),
      ...["standard", "double", "single"].flatMap((name, at) => [
        run(`the letters of ${name} that`, 160, 118 + 30 * at),
        run(name, 60, 124 + 30 * at),
        run(`ss0${at}`, 420, 124 + 30 * at),
        run("go on", 160, 130 + 30 * at)
      ])
    ])
    assert.include(html, "the letters of single that go on</td>")
    assert.strictEqual(html.match(/<p>/g)?.length, 1)
  })
})
