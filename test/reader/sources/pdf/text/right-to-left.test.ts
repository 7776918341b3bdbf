import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { signsAsMeant, turnedSigns } from "../../../../../src/reader/sources/pdf/text/mirrored-signs.ts"
import { inReadingOrder, type Letter } from "../../../../../src/reader/sources/pdf/text/right-to-left.ts"
import { hasFromRight, isLetterFromRight } from "../../../../../src/reader/stages/lines/script-direction.ts"

const HEIGHT = 10

/** Letters of pdfium's, each with its origin and the box that begins there unless it says otherwise. */
const letters = (
  all: ReadonlyArray<readonly [text: string, origin: number, start?: number, end?: number]>
): ReadonlyArray<Letter> =>
  all.map(([text, origin, start = origin, end = start + 5], at) => ({
    at,
    code: text.codePointAt(0) ?? 0,
    origin,
    start,
    end,
    height: HEIGHT
  }))

/** What is read of a line that looks so from left to right, in whatever order pdfium has it. */
const read = (look: string): string =>
  inReadingOrder(letters(Array.from(look, (letter, at) => [letter, 5 * at] as const)))
    .map(({ code }) => String.fromCodePoint(code))
    .join("")

const readLetters = (...all: Parameters<typeof letters>[0]): string =>
  inReadingOrder(letters(all))
    .map(({ code }) => String.fromCodePoint(code))
    .join("")

describe("a line from right to left", () => {
  it("is read from its right end, words of another script and numbers from their left", () => {
    assert.strictEqual(read("גב Program Files אב"), "בא Program Files בג")
    assert.strictEqual(read("גב UTF-8־אב"), "בא־UTF-8 בג")
    assert.strictEqual(read(",12/05/2024 אב"), "בא 12/05/2024,")
    assert.strictEqual(read("17:00–08:00 אב"), "בא 08:00–17:00")
    assert.strictEqual(read("אב .1"), "1. בא")
  })

  it("has sums and amounts in one piece in Hebrew, and in Arabic none", () => {
    assert.strictEqual(read("17% 03-1234567 אב"), "בא 03-1234567 17%")
    assert.strictEqual(read("%17 1234567-03 وه"), "هو 03-1234567 17%")
    assert.strictEqual(read("٤٩٫٩٠ وه"), "هو ٤٩٫٩٠")
  })

  it("has the letters of one glyph in the order in which they are written", () => {
    // Each has a part of the glyph's box, or all of it; a document that names the glyph by one character has them in order.
    assert.strictEqual(readLetters(["ص", 30], ["إ", 20, 20, 25], ["ل", 20, 25, 30]), "صلإ")
    assert.strictEqual(readLetters(["ص", 30], ["ا", 20, 20, 30], ["ل", 20, 20, 30]), "صلا")
    assert.strictEqual(readLetters(["ص", 30], ["ل", 20, 20, 30], ["ا", 20, 20, 30]), "صلا")
    // A mark that begins where its letter does is a glyph of its own.
    assert.strictEqual(readLetters(["ع", 30], ["ا", 20, 20, 23], ["\u064b", 20, 19.7, 22.5]), "عا\u064b")
  })

  it("has marks behind the letter that they are set over, wherever they are drawn", () => {
    assert.strictEqual(readLetters(["ش", 30], ["ك", 20], ["ر", 10], ["\u064f", 31], ["\u0652", 22]), "شُكْر")
    assert.strictEqual(readLetters(["ש", 30], ["\u05c1", 28], ["ל", 20]), "ש\u05c1ל")
  })

  it("loses no character, and many marks take no longer", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.constantFrom("א", "ل", "ا", "\u064f", "a", "7", ".", " ", "("),
            fc.integer({ min: 0, max: 40 })
          )
        ),
        (all) => {
          const line = letters(all)
          assert.deepStrictEqual(
            inReadingOrder(line)
              .map(({ at }) => at)
              .sort((a, b) => a - b),
            line.map(({ at }) => at)
          )
        }
      )
    )
    const many = letters(
      Array.from({ length: 50_000 }, (_, at) => [at % 2 === 0 ? "\u064f" : "1", 7] as const)
    )
    assert.lengthOf(inReadingOrder(many), 50_000)
  })
})

describe("signs in pairs", () => {
  const signs = (text: string) => letters(Array.from(text, (letter, at) => [letter, at] as const))
  /** What is made of a text that pdfium has turned the signs of. */
  const meant = (text: string): string => {
    const line = signs(text)
    const codes = signsAsMeant(line, new Set(turnedSigns(line)))
    return line.map(({ at, code }) => String.fromCodePoint(codes.get(at) ?? code)).join("")
  }

  it("are turned back where they were written as they are meant, behind letters from right to left", () => {
    assert.strictEqual(meant("אב )גד( ab (c) «אב«"), "אב (גד) ab (c) «אב»")
    assert.strictEqual(meant("אב )17(."), "אב (17).")
    assert.strictEqual(meant("ab (אב( גד"), "ab (אב) גד")
  })

  it("are left alone where they match", () => {
    for (const text of ["אב (גד) ab (c)", "א) אב (גד) ב) אב", "ab )c( אב", "אב"])
      assert.strictEqual(meant(text), text)
  })
})

it("tells letters from right to left by number as it does in a text", () => {
  const differ = Array.from({ length: 0x1_00_00 }, (_, code) => code).filter(
    (code) => isLetterFromRight(code) !== hasFromRight(String.fromCharCode(code))
  )
  assert.deepStrictEqual(differ, [])
})
