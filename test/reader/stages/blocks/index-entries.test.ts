/** The index at a book's end. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { FONT, htmlOf, run } from "../page-builder.ts"

/** Lines below each other; one that begins with blanks is set in by as many half ems. */
const column = (texts: ReadonlyArray<string>, x = 60, y = 100): ReadonlyArray<TextRun> =>
  texts.map((text, at) => {
    const words = text.trimStart()
    const bold = words.startsWith("*")
    return run(words.replaceAll("*", ""), x + 5 * (text.length - words.length), y + 12 * at, {
      font: bold ? FONT.bold : FONT.plain
    })
  })

const items = (html: string): ReadonlyArray<string> =>
  Array.from(html.matchAll(/<li>(.*?)(?=<ul|<\/?li)/gs), ([, words = ""]) => words.replaceAll(/<[^>]+>/g, ""))

const ENTRIES = ["river, 12, 40", "stone, 7", "letter, 31–33, 90", "margin, 2", "quiet, 18f."]

describe("the entries of an index", () => {
  it("are items, each on its line", () => {
    assert.deepStrictEqual(items(htmlOf(column(ENTRIES))), ENTRIES)
  })

  it("have leaders or a comma before their pages, and go on below a full line or with pages alone", () => {
    const html = htmlOf(
      column([
        "river . . . . . 12, 40",
        "stone . . . . .",
        "     . . . . 7, 9",
        "margin of the river under the",
        "     quiet stone, 31",
        ...ENTRIES.slice(2)
      ])
    )
    assert.deepStrictEqual(items(html).slice(1, 3), [
      "stone … 7, 9",
      "margin of the river under the quiet stone, 31"
    ])
  })

  it("that are set in are items of the entry above, but in no more than four levels", () => {
    const html = htmlOf(
      column([
        ...ENTRIES,
        "under",
        "   river, 4",
        "   stone, 1",
        "zinc and other metals . . . . 3",
        "   ore, 1"
      ])
    )
    assert.include(html, "<li>under<ul><li>river, 4</li><li>stone, 1</li></ul></li>")
    assert.include(html, "3<ul><li>ore, 1</li></ul></li>")
    const stairs = ENTRIES.flatMap((entry) => [entry, entry]).map((entry, at) => " ".repeat(3 * at) + entry)
    assert.lengthOf(htmlOf(column(stairs)).match(/<ul>/g) ?? [], 4)
  })

  it("may all be set in below words that have no pages", () => {
    const wide = ENTRIES.map((entry) => entry.replace(",", " of the wide and the quiet margin,"))
    const html = htmlOf(column(wide.flatMap((entry) => [entry.slice(0, 4), `   ${entry}`])))
    assert.match(html, /^<ul>(?:<li>\w+<ul><li>[^<]+<\/li><\/ul><\/li>){5}<\/ul>$/)
    assert.notMatch(htmlOf(column(wide.flatMap((entry) => [entry.slice(0, 4), entry]))), /<li>/)
  })

  it("go on below a word that is cut", () => {
    const wide = "margin of the wide and quiet river, 31"
    const entries = column([wide, "let", "   ters, 9", ...ENTRIES])
    const cut = entries.map((one) => (one.text === "let" ? { ...one, hyphenated: true } : one))
    assert.deepStrictEqual(items(htmlOf(cut)).slice(0, 2), [wide, "letters, 9"])
  })

  it("stand below their letter of the alphabet", () => {
    const html = htmlOf(column(["*L", ...ENTRIES, "S", "sand, 3", "*Signs", "tide, 1"]))
    assert.lengthOf(html.match(/<ul>/g) ?? [], 3)
    assert.notInclude(items(html).join(), "S")
    assert.include(html, "Signs")
    const letters = ENTRIES.flatMap((entry) => [entry.slice(0, 1).toUpperCase(), entry])
    assert.deepStrictEqual(items(htmlOf(column(letters))), ENTRIES)
  })

  it("are no lines whose numbers ascend, as years and chapters do, nor those that end in numbers now and then", () => {
    const years = ENTRIES.map((_, at) => `Over the river, ${1990 + at}`)
    assert.notMatch(htmlOf(column(years)), /<li>/)
    const seldom = ENTRIES.flatMap((entry) => [entry, "over the river", "and under it"])
    assert.notMatch(htmlOf(column(seldom)), /<li>/)
    const between = ["over", "the river", "and under", "the stone", "again"]
    assert.notMatch(htmlOf(column([...ENTRIES, ...between, ...ENTRIES])), /<li>the river/)
  })

  it("name pages that ascend, and are some", () => {
    const colours = ENTRIES.map((_, at) => `colour, ${255 - at}, 12, 99`)
    assert.notMatch(htmlOf(column(colours)), /<li>/)
    assert.notMatch(htmlOf(column([...ENTRIES.slice(0, 4), "     44, 50"])), /<li>/)
  })
})
