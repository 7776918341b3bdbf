/** Words whose letters are set far apart, as headings and covers have them: one word each. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { withSpacedWords } from "../../../../src/reader/stages/runs/spaced-words.ts"
import { htmlBelowText, run, type Set } from "../page-builder.ts"

/** A letter each, and nothing where the words have a space. */
const spelled = (words: string, y = 200, step = 20, set: Set = {}): ReadonlyArray<TextRun> =>
  Array.from(words, (letter, at) => run(letter, 60 + step * at, y, set)).filter(({ text }) => text !== " ")

const textsOf = (runs: ReadonlyArray<TextRun>): ReadonlyArray<string> =>
  withSpacedWords(runs).map(({ text }) => text)

describe("letters far apart", () => {
  it.each([["CONTENTS"], ["ANNUAL REPORT"], ["Winter Programme"], ["MENU"], ["ÜBERSICHT"], ["СОДЕРЖАНИЕ"]])(
    "are words: %s",
    (words) => {
      assert.deepEqual(textsOf(spelled(words)), [words])
      assert.include(htmlBelowText(spelled(words, 200, 40, { size: 14 })), `>${words}<`)
    }
  )

  it("are a word where a space is written behind each", () => {
    assert.deepEqual(textsOf([run("C O N T E N T S", 60, 200)]), ["CONTENTS"])
    assert.deepEqual(textsOf([run("N O T I ", 60, 200), run("C E", 105, 200)]), ["NOTICE"])
  })

  it.each([
    ["the alphabet", "ABCDEFG"],
    ["days", "SMTWTFS"],
    ["months", "JFMAMJJASOND"],
    ["ways of the wind", "NESW"],
    ["genes", "ATCGGATC"],
    ["results", "WDLWW"],
    ["marks", "XXXXXX"],
    ["variables", "aexy"],
    ["figures", "19402"]
  ])("are letters where they are %s", (_, letters) => {
    assert.deepEqual(textsOf(spelled(letters)), Array.from(letters))
  })

  it("are letters where they name columns, or stand in a grid of letters", () => {
    const heads = spelled("NOTICE", 200, 40)
    const cells = [214, 228].flatMap((y) => heads.map(({ box }, at) => run(`1${at}`, box.x0 - 2, y)))
    assert.lengthOf(withSpacedWords([...heads, ...cells]), heads.length + cells.length)
    const grid = [...spelled("NOTICE"), ...spelled("RIVERS", 214), ...spelled("STONED", 228)]
    assert.lengthOf(withSpacedWords(grid), grid.length)
  })

  it("are letters in another size or line, or too far away", () => {
    const other = spelled("CONTENTS").map((one, at) => ({ ...one, size: 10 + (at % 2) }))
    assert.lengthOf(withSpacedWords(other), other.length)
    assert.lengthOf(withSpacedWords(spelled("CONTENTS", 200, 60)), 8)
  })

  it("leave every other run as it is", () => {
    const others = [run("x ", 60, 200), run("1", 75, 200), run(" a b ", 90, 200), run("the rest ", 140, 200)]
    assert.deepEqual(withSpacedWords(others), others)
  })

  it("lose nothing but spaces", () => {
    const one = fc.tuple(fc.stringMatching(/^[A-Za-z ]{1,6}$/), fc.integer({ min: 0, max: 60 }))
    fc.assert(
      fc.property(fc.array(one, { maxLength: 20 }), (texts) => {
        let x = 0
        const runs = texts.map(([text, gap]) => run(text, (x += gap + 5 * text.length), 100))
        const plain = (of: ReadonlyArray<string>) => of.join("").replaceAll(" ", "")
        assert.strictEqual(plain(textsOf(runs)), plain(texts.map(([text]) => text)))
      })
    )
  })
})
