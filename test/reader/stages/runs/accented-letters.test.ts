import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { withAccentedLetters } from "../../../../src/reader/stages/runs/accented-letters.ts"
import { FACTS, FONTS, lines, MATH_FACE, page, run } from "../page-builder.ts"

const MATH = { font: FONTS.length }
const texts = (...runs: ReadonlyArray<TextRun>): ReadonlyArray<string> =>
  withAccentedLetters(runs).map(({ text }) => text.normalize("NFD").replaceAll(/\p{M}/gu, "^"))

/** A run that does not say where its characters are. */
const bare = (one: TextRun): TextRun => ({ ...one, edges: [] })

describe("accents that are drawn over letters", () => {
  it("are theirs, whether drawn before or behind them, on their line or raised", () => {
    assert.deepStrictEqual(texts(run("of ˆ", 60, 100), run("g is", 75.5, 100, MATH)), ["of ", "g^ is"])
    assert.deepStrictEqual(texts(run("fx", 60, 100, MATH), run("¯) (", 65, 100)), ["fx^", ") ("])
    assert.deepStrictEqual(texts(run("K", 60, 100, MATH), run("¯ ", 60, 97)), ["K^"])
    assert.deepStrictEqual(texts(run("K", 60, 100, MATH), run("x", 90, 100), run("¯", 60, 97)), ["K^", "x"])
    assert.deepStrictEqual(texts(run("a\u20d7", 60, 100, MATH)), ["a\u20d7".replace("\u20d7", "^")])
  })

  it("make one letter where there is one, which keeps its place", () => {
    const [before, letter] = withAccentedLetters([run("xˆ", 60, 100), run("ıb", 65, 100, MATH)])
    assert.deepStrictEqual([before?.text, before?.box.x1], ["x", 65])
    assert.deepStrictEqual([letter?.text, letter?.edges], ["îb", [65, 70, 75]])
    const [, hat] = withAccentedLetters([run("ˆx", 60, 100), run("φ𝑥y", 60, 100, MATH)])
    assert.deepStrictEqual([hat?.text, hat?.edges], ["φ\u0302𝑥y", [60, 65, 65, 70, 75, 80]])
    const [pair] = withAccentedLetters([
      run("ˆ", 60, 100),
      { ...run("𝑥y", 60, 100, MATH), edges: [60, 65, 65, 70] }
    ])
    assert.deepStrictEqual([pair?.text, pair?.edges], ["𝑥\u0302y", [60, 65, 65, 65, 70]])
  })

  it("are theirs where runs do not say where their characters are", () => {
    const [letter] = withAccentedLetters([
      run("ˆ", 61, 100),
      { ...bare(run("g", 60, 100, MATH)), text: "g " }
    ])
    assert.deepStrictEqual(
      [letter?.text, letter?.edges, letter?.box.x1],
      ["g\u0302 ".normalize("NFC"), [60, 65, 65], 65]
    )
    assert.deepStrictEqual(texts(bare(run("fx", 60, 100, MATH)), run("¯", 65, 100)), ["fx^"])
  })

  it("are the nearest one's of two that reach into each other", () => {
    assert.deepStrictEqual(texts(run("g", 60, 100, MATH), run("ˆ", 60, 100), run("f", 61, 100, MATH)), [
      "g^",
      "f"
    ])
  })

  it("are theirs where they are of a face whose boxes are those of the ink", () => {
    const wide = run("ˆ", 60, 95)
    const high = { ...wide, box: { ...wide.box, y0: 90, y1: 92 } }
    assert.deepStrictEqual(texts(high, run("φ", 60, 100, MATH)), ["φ^"])
    const low = { ...wide, box: { ...wide.box, y0: 98, y1: 100 } }
    assert.deepStrictEqual(texts(low, run("φ", 60, 100, MATH)), ["ˆ", "φ"])
  })

  it("stay apart beside a letter, over a sign, on another line, and of another size or direction", () => {
    const stay = (...runs: ReadonlyArray<TextRun>): void =>
      assert.deepStrictEqual(
        texts(...runs),
        runs.map(({ text }) => text)
      )
    stay(run("ˆ", 60, 100), run("gx", 66, 100, MATH))
    stay(run("ˆ", 60, 100), run("=", 60, 100))
    stay(run("ˆ", 60, 100), run("g", 60, 112, MATH))
    stay(run("ˆ", 60, 112), run("g", 60, 100, MATH))
    stay(run("ˆ", 60, 100), run("g", 60, 100, { ...MATH, size: 6 }))
    stay(run("abcdefg", 60, 100, MATH), run("ˆ", 60, 100))
    stay(run("ˆ", 60, 100), run("g", 60, 100, { ...MATH, angle: 90 }))
    stay(run("ˆ", 60, 100), run("a", 90, 100), run("b", 96, 100), run("g", 60, 100, MATH))
    stay(run("ˆ", 80, 100), run("ab cdg", 60, 100, MATH))
    stay(run("x˜y ´ ¨", 60, 100))
  })

  it("do not tear the lines of a text, and stand over their letters in a formula", () => {
    const fonts = [...FONTS, MATH_FACE]
    const words = lines(
      "words of a paragraph that are long enough for a line and more of them here",
      60,
      100,
      40
    )
    const estimate = [
      run("and the estimate", 60, 124),
      run("ˆ", 145, 120),
      run("ϕ", 145, 124, MATH),
      run("of it all, which is", 155, 124)
    ]
    const display = [
      run("ˆ", 150, 150),
      run("g", 150, 150, MATH),
      run("=", 158, 150),
      run("x", 168, 150, MATH)
    ]
    const [made] = layoutPages({
      facts: FACTS,
      fonts,
      pages: [page([...words, ...estimate, ...display])],
      others: NO_STATISTICS
    })
    assert.match(
      made?.html ?? "",
      /<p[^>]*>words of [^<]* and the estimate (?:<em>)?ϕ\u0302 ?(?:<\/em>)? ?of it all, which is<\/p>/
    )
    assert.match(made?.html ?? "", /<mover accent="true"><mi>g<\/mi><mo>\^<\/mo><\/mover><mo>=<\/mo>/)
  })
})
