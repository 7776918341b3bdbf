/** Lists, listings and formulas that stand in columns: none is a table. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, htmlOf as htmlOfPage, lines, page, prose, run } from "../../../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>): string => htmlOfPage(runs)
const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1
const text = lines(prose(60), 60, 60, 90)

describe("what a page lists of the document beside or below another column", () => {
  /** Titles and the numbers of their pages, without leaders, below text that fills the page. */
  const listed = (numbers: ReadonlyArray<number>): ReadonlyArray<TextRun> =>
    ["Rivers", "Lakes of the land", "Mountains", "Stones"].flatMap((title, at) => [
      run(title, 60, 240 + 16 * at),
      run(String(numbers[at]), 300, 240 + 16 * at)
    ])
  const title = run("Contents", 60, 30)

  it("is no table on a page that has the title of it", () => {
    const html = htmlOf([title, ...text, ...listed([7, 9, 9, 12])])
    assert.strictEqual(count(html, "table"), 0)
    assert.include(html, "Mountains")
  })

  it("is a table without that title, and where the numbers fall", () => {
    assert.strictEqual(count(htmlOf([...text, ...listed([7, 9, 9, 12])]), "tr"), 4)
    assert.strictEqual(count(htmlOf([title, ...text, ...listed([7, 3, 12, 9])]), "tr"), 4)
  })

  it("is no table that the order of drawing shows beside text: numbers, titles and pages", () => {
    const entries = (last: ReadonlyArray<number>) =>
      ["Rivers", "Lakes", "Mountains", "Stones"].flatMap((words, at) => [
        run(String(at + 1), 60, 240 + 24 * at),
        run(words, 90, 240 + 24 * at),
        run(String(last[at]), 260, 240 + 24 * at)
      ])
    const beside = lines(prose(60), 300, 240, 45)
    assert.strictEqual(count(htmlOf([title, ...text, ...entries([7, 9, 9, 12]), ...beside]), "table"), 0)
    assert.strictEqual(count(htmlOf([title, ...text, ...entries([7, 3, 9, 2]), ...beside]), "tr"), 4)
  })
})

describe("lines of a listing", () => {
  const code = ["a river", "ProvidesFile{words}", "that goes on here", "and goes on with it", "end{words}"]
  /** Numbers before lines of code, the first of which names it in another face. */
  const numbered = (numbers: ReadonlyArray<number>, font: number): ReadonlyArray<TextRun> =>
    numbers.flatMap((number, at) => [
      run(String(number), 72 - 3.5 * String(number).length, 240 + 12 * at, { size: 7 }),
      run(code[at] ?? "", 92, 240 + 12 * at, { font: at === 0 ? FONT.italic : font })
    ])

  it("are no rows where their numbers count on, though not all of it is code", () => {
    const html = htmlOf([...text, ...numbered([8, 9, 10, 11, 12], FONT.code)])
    assert.deepEqual([count(html, "table"), count(html, "pre")], [0, 1])
  })

  it("are rows where numbers do not count on", () => {
    assert.strictEqual(count(htmlOf([...text, ...numbered([8, 30, 10, 9, 12], FONT.code)]), "tr"), 5)
  })

  it("are no rows where each is one for C's preprocessor", () => {
    const defined = (word: string) =>
      ["RIVER", "LAKE", "STONE"].flatMap((name, at) => [
        run(`${word} ${name}`, 60, 240 + 12 * at),
        run(`0x00${at}`, 220, 240 + 12 * at)
      ])
    assert.strictEqual(count(htmlOf([...text, ...defined("#define")]), "table"), 0)
    assert.strictEqual(count(htmlOf([...text, ...defined("defined")]), "tr"), 3)
  })
})

const rowsOf = (firsts: ReadonlyArray<string>, lasts: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  firsts.flatMap((first, at) => [run(first, 60, 240 + 16 * at), run(lasts[at] ?? "", 220, 240 + 16 * at)])

describe("what is behind or before room or numbers", () => {
  it("are no rows: titles behind the numbers of sections that count on", () => {
    const titles = ["What are rivers", "Where lakes are", "How stones roll"]
    assert.strictEqual(count(htmlOf([...text, ...rowsOf(["1.9", "1.10", "1.11"], titles)]), "table"), 0)
    assert.strictEqual(count(htmlOf([...text, ...rowsOf(["1.9", "2.4", "3.1"], titles)]), "tr"), 3)
  })

  it("are no rows: questions with brackets behind them", () => {
    const questions = ["What are rivers", "Where lakes are", "How stones roll"]
    assert.strictEqual(count(htmlOf([...text, ...rowsOf(questions, [")", ")", ")"])]), "table"), 0)
    assert.strictEqual(count(htmlOf([...text, ...rowsOf(questions, ["7)", "8)", "4)"])]), "tr"), 3)
  })
})

describe("lines of a session at a console", () => {
  const lasts = ["river(x)", "stone(x,", "y)"]
  const html = (...prompts: ReadonlyArray<string>) => htmlOf([...text, ...rowsOf(prompts, lasts)])

  it("are a listing behind the prompts of R, Python and shells", () => {
    for (const prompts of [
      [">", ">", "+"],
      [">>>", ">>>", "..."],
      ["$", "$", "$"],
      ["%", "%", "%"],
      ["#", "#", "#"]
    ]) {
      assert.deepEqual([count(html(...prompts), "table"), count(html(...prompts), "pre")], [0, 1], prompts[0])
    }
  })

  it("are rows where different signs stand before them", () => {
    assert.strictEqual(count(html("$", "%", "#"), "tr"), 3)
    assert.strictEqual(count(html(">", "<", "+"), "tr"), 3)
  })
})

describe("words behind small numbers that stand apart", () => {
  const titles = ["What are rivers", "Where lakes are", "How stones roll", "Why ponds are"]
  const html = (numbers: ReadonlyArray<number>, size: number, words = titles, last = "") =>
    htmlOf([
      ...text,
      ...numbers.flatMap((number, at) => [
        run(String(number), 60, 240 + 24 * at, { size }),
        run(words[at] ?? "", 90, 240 + 24 * at),
        ...(last === "" || at !== 1 ? [] : [run(last, 260, 240 + 24 * at)])
      ])
    ])

  it("are items of a numbered list where they count from one", () => {
    assert.match(html([1, 2, 3], 8), /<ol[^>]*><li>What are rivers<\/li>.*<li>How stones roll<\/li><\/ol>/)
  })

  it("are rows where the numbers are as large, do not count, or stand before values or more columns", () => {
    assert.strictEqual(count(html([1, 2, 3], 10), "tr"), 3)
    assert.strictEqual(count(html([1, 2, 4], 8), "tr"), 3)
    assert.strictEqual(count(html([1, 2, 3], 8, ["4", "5", "6"]), "tr"), 3)
    assert.strictEqual(count(html([1, 2, 3, 4], 8, titles, "few"), "tr"), 4)
  })
})

describe("lines of code in a face of text", () => {
  const code = ["clrl r3", "movl r4, r5", "insv r3, r4"]
  const behind = (words: ReadonlyArray<string>): string => htmlOf([...text, ...rowsOf(code, words)])

  it("are a listing where comments stand behind them", () => {
    const html = behind(["; source", "; position", "; should fault"])
    assert.deepEqual([count(html, "table"), count(html, "pre")], [0, 1])
    assert.match(html, /movl r4, r5 +; position/)
  })

  it("are rows where words do", () => {
    const html = behind(["; source", "position", "; should fault"])
    assert.strictEqual(count(html, "tr"), 3)
  })
})

it("faces of TeX's are code that only their names show to be slanted typewriter", () => {
  const made = (name: string) => {
    const fonts = [...FONTS, { ...FONTS[0], name } as (typeof FONTS)[number]]
    const code = ["x = river(y)", "stone(x)"].map((line, at) =>
      run(line, 60, 240 + 12 * at, { font: FONTS.length })
    )
    return layoutPages({ facts: FACTS, fonts, pages: [page([...text, ...code])], others: NO_STATISTICS })
      .map(({ html }) => html)
      .join("")
  }
  for (const name of ["CMSLTT10", "SFST1095", "ECIT1000", "SFTC1000"])
    assert.strictEqual(count(made(name), "pre"), 1, name)
  for (const name of ["SFSL1095", "ECTI1000", "SFSTONE"])
    assert.strictEqual(count(made(name), "pre"), 0, name)
})

describe("lines of formulas", () => {
  const MATH = FONTS.length
  const fonts = [...FONTS, { ...FONTS[0], name: "CMMI10" } as (typeof FONTS)[number]]
  const rows = (font: number) =>
    ["abcde", "efgdh", "hijka"].flatMap((words, at) => [
      run(words, 100, 240 + 16 * at, { font }),
      run("kdfma", 220, 240 + 16 * at, { font })
    ])
  const made = (font: number) =>
    layoutPages({ facts: FACTS, fonts, pages: [page([...text, ...rows(font)])], others: NO_STATISTICS })
      .map(({ html }) => html)
      .join("")

  it("are no rows where most of their letters are mathematics", () => {
    assert.strictEqual(count(made(MATH), "table"), 0)
    assert.strictEqual(count(made(FONT.plain), "tr"), 3)
  })
})
