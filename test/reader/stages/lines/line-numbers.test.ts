/** Numbers of lines in the margin. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, htmlOf, lines, page, prose, run } from "../page-builder.ts"

const numbers = (
  count: number,
  x: number,
  of: (at: number) => number,
  every = 1,
  size = 5
): ReadonlyArray<TextRun> =>
  Array.from({ length: count }, (_, at) => {
    const digits = String(of(at))
    return run(digits, x - (digits.length * size) / 2, 100 + at * 12 * every, { size })
  })

const paragraphs = (html: string): number => (html.match(/<p/g) ?? []).length

describe("numbers of lines", () => {
  const text = lines(prose(120), 60, 100, 80)

  it("are left out on either side of the text, however near they are", () => {
    for (const x of [48, 55, 500]) {
      const html = htmlOf([...numbers(text.length, x, (at) => at + 96), ...text])
      assert.notMatch(html, /\d\d/)
      assert.strictEqual(paragraphs(html), 1)
    }
  })

  it("are left out where lines of another column stand between those that they count", () => {
    const left = lines(prose(120), 60, 100, 40)
    const other = left.map(({ baseline }) => run("stone", 320, baseline + 6))
    assert.notMatch(htmlOf([...numbers(left.length, 48, (at) => at + 96), ...left, ...other]), /\d\d/)
  })

  it("are left out where they stand on every fifth line, and as large as the text", () => {
    const long = lines(prose(240), 60, 100, 80)
    for (const size of [5, 10]) {
      const html = htmlOf([...numbers(4, 50, (at) => 5 * at + 5, 5, size), ...long])
      assert.notMatch(html, /\d/)
      assert.strictEqual(paragraphs(html), 1)
    }
    const beyond = (at: number) => 5 * at + (at < 2 ? 5 : 40)
    assert.notMatch(htmlOf([...numbers(4, 50, beyond, 5), ...long]), /\d/)
  })

  it("are left out between two columns of text, but for large ones and for few that are counted one by one", () => {
    const left = lines(prose(150), 60, 100, 40)
    const right = lines(prose(150, 2), 310, 100, 40)
    const between = (of: ReadonlyArray<TextRun>) => htmlOf([...left, ...of, ...right])
    const { length } = right
    assert.notMatch(between(numbers(length, 300, (at) => at + 20)), /\d/)
    assert.notMatch(between(numbers(4, 300, (at) => at * 5 + 20, 5)), /\d/)
    assert.match(between(numbers(length, 300, (at) => at + 20, 1, 10)), /\d/)
    assert.match(between(numbers(8, 300, (at) => at + 20)), /\d/)
    const across = lines(prose(30), 60, 100 + 12 * 17, 90)
    const above = [left, right].flatMap((column) => column.slice(0, 16))
    assert.match(htmlOf([...above, ...numbers(18, 300, (at) => at + 20), ...across]), /\d/)
  })

  it("are not those of a table's rows, nor numbers that do not count", () => {
    const cells = Array.from({ length: 8 }, (_, at) => [
      run("river", 80, 100 + at * 12),
      run("over the margin", 300, 100 + at * 12)
    ]).flat()
    assert.include(htmlOf([...numbers(8, 60, (at) => at + 51), ...cells]), "58")
    assert.include(htmlOf([...numbers(4, 50, (at) => at + 51), ...text.slice(0, 4)]), "54")
    assert.include(htmlOf([...numbers(8, 48, (at) => (at * 37) % 90), ...text]), "37")
  })

  it("are not those of items and of a listing near to them, nor in more columns than text has", () => {
    const kept = /58|start="51"/
    const items = Array.from({ length: 8 }, (_, at) =>
      run(`River and stone ${"over the margin ".repeat(3)}`, 60, 100 + at * 12)
    )
    assert.match(htmlOf([...numbers(8, 52, (at) => at + 51), ...items]), kept)
    const steps = items.map((item, at) =>
      run(`river ${"over the margin ".repeat(at % 4 === 0 ? 4 : 2)}`, 60, item.baseline)
    )
    assert.match(htmlOf([...numbers(8, 52, (at) => at + 51), ...steps]), kept)
    const code = Array.from({ length: 8 }, (_, at) =>
      run(`const river = ${"stone".repeat(at % 4 === 3 ? 9 : 5)}`, 60, 100 + at * 12, { font: FONT.code })
    )
    assert.match(htmlOf([...numbers(8, 52, (at) => at + 51), ...code]), kept)
    assert.notMatch(htmlOf([...numbers(8, 40, (at) => at + 51), ...code]), /\d/)
    const columns = [10, 20, 30, 40, 50].flatMap((x) => numbers(text.length, x, (at) => at + 51))
    assert.include(htmlOf([...columns, ...text]), "58")
  })

  /** The lines of a court's paper: titles in the middle, paragraphs that begin further in. */
  const filing = (from: number): ReadonlyArray<TextRun> => [
    run("Rivers and stones of the margin", 200, from),
    run("The river, an owner,", 60, from + 24),
    run(`First ${"over the margin ".repeat(5)}of`, 96, from + 36),
    run("the county, and of every stone in it.", 60, from + 48),
    run(`Next ${"over the margin ".repeat(5)}into`, 96, from + 60),
    run("a river and a stone of the margin.", 60, from + 72)
  ]

  it("are left out of paper that numbers them where they begin anywhere, with text beside them or none", () => {
    assert.notMatch(htmlOf([...numbers(7, 53, (at) => at + 31, 1, 10), ...filing(100)]), /3\d/)
    const bare = filing(100).filter(({ text: words }) => !words.startsWith("the county"))
    assert.notMatch(htmlOf([...numbers(28, 50, (at) => at + 31, 1, 10), ...bare]), /[345]\d/)
  })

  it("are left out of a page with few lines where other pages have them at that edge", () => {
    const two = (x: number) =>
      layoutPages({
        facts: FACTS,
        fonts: FONTS,
        pages: [
          page([...numbers(text.length, 50, (at) => at + 51), ...text]),
          page([...numbers(3, x, (at) => at + 91), ...text.slice(0, 3)], 1)
        ],
        others: NO_STATISTICS
      })
        .map(({ html }) => html)
        .join("")
    assert.notMatch(two(50), /9\d/)
    assert.match(two(80), /9\d/)
  })

  it("are not those of a list's or a table's empty rows, nor of rows whose cells begin anywhere", () => {
    const names = ["Heron", "Tern", "Gull", "Wren"].map((name, at) => run(name, 72, 100 + 12 * at))
    assert.match(htmlOf([...numbers(28, 50, (at) => at + 31, 1, 10), ...names]), /5\d/)
    const centred = Array.from({ length: 28 }, (_, at) =>
      run("River ".repeat((at % 4) + 2), 150 - 15 * (at % 4), 100 + at * 12)
    )
    assert.match(htmlOf([...numbers(28, 50, (at) => at + 31, 1, 10), ...centred]), /5\d/)
  })
})
