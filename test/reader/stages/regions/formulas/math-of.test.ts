import { assert, describe, it } from "vitest"

import { serialize } from "../../../../../src/reader/model/html-tree.ts"
import type { Box, TextRun } from "../../../../../src/reader/model/page-content.ts"
import { mathOf } from "../../../../../src/reader/stages/regions/formulas/math-of.ts"
import { MATH_FACE, FONT, FONTS, run } from "../../page-builder.ts"

const fonts = [...FONTS, MATH_FACE]
const MATH = { font: FONTS.length }
const small = { ...MATH, size: 7 }

/** What runs and bars are as MathML, without its outermost element. */
const barred = (bars: ReadonlyArray<Box>, ...runs: ReadonlyArray<TextRun>): string => {
  const pieces = runs.map((one) => ({
    run: one,
    text: one.text,
    x0: one.box.x0,
    x1: one.box.x1,
    raise: undefined
  }))
  const made = mathOf(pieces, bars, fonts)
  return made === undefined ? "" : serialize(made.children)
}

const math = (...runs: ReadonlyArray<TextRun>): string => barred([], ...runs)

/** A thin level line. */
const bar = (x0: number, x1: number, y: number): Box => ({ x0, x1, y0: y - 0.2, y1: y + 0.2 })

describe("MathML by geometry", () => {
  it("has Unicode's letters for mathematics, and italics without a word, as variables", () => {
    assert.include(math(run("𝑑𝑡", 60, 100)), "<mi>𝑑</mi><mi>𝑡</mi>")
    const italic = { font: FONT.italic }
    assert.include(math(run("ia", 60, 100, italic)), "<mi>i</mi><mi>a</mi>")
    assert.include(math(run("on the", 60, 100, italic)), "&nbsp;on&nbsp;")
    assert.include(math(run("on", 60, 100)), "&nbsp;on&nbsp;")
  })

  it("has a letter's accent over it, and several with the letter", () => {
    assert.strictEqual(math(run("ĝ", 60, 100, MATH)), '<mover accent="true"><mi>g</mi><mo>^</mo></mover>')
    assert.strictEqual(math(run("φ\u0304\u0302", 60, 100, MATH)), "<mi>φ\u0304\u0302</mi>")
  })

  it("has one sign for what defines", () => {
    assert.strictEqual(math(run("a:=b", 60, 100, MATH)), "<mrow><mi>a</mi><mo>:=</mo><mi>b</mi></mrow>")
    assert.include(math(run("a", 60, 100, MATH), run("::= b", 66, 100)), "<mo>::=</mo>")
    assert.include(math(run("a::=b", 60, 100, MATH)), "<mo>::=</mo>")
    assert.include(math(run("a: = b", 60, 100, MATH)), "<mo>:</mo><mo>=</mo>")
  })

  it("takes no notice of the shape that a face says it draws", () => {
    const brackets = math(run("(\ufe01", 60, 100), run("x", 70, 100, MATH), run(")\ufe01", 75, 100))
    assert.strictEqual(brackets, "<mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow>")
    const sum = { ...run("∑\ufe01", 60, 100), box: { x0: 60, y0: 90.5, x1: 74, y1: 104.5 } }
    assert.include(math(sum, run("i", 65, 111.5, small), run("x", 76, 100, MATH)), "<munder><mo>∑</mo>")
  })

  it("has numbers whose point is of another face, but no sum of numbers and points", () => {
    assert.include(math(run("30", 60, 100), run(".", 70, 100, MATH), run("2", 75, 100)), "<mn>30.2</mn>")
    const apart = math(run("30", 60, 100), run(".", 70, 100, MATH), run("2", 81, 100))
    assert.include(apart, "<mn>30</mn><mo>.</mo><mn>2</mn>")
  })

  it("says of what a function is, and leaves room where no bracket does", () => {
    const bare = math(run("sin", 60, 100), run("x", 76, 100, MATH))
    assert.include(bare, '<mi>sin</mi><mo rspace="0.167em">\u2061</mo><mi>x</mi>')
    assert.include(
      math(run("sin(", 60, 100), run("x", 80, 100, MATH)),
      "<mi>sin</mi><mo>\u2061</mo><mo>(</mo>"
    )
    assert.notInclude(math(run("sin +", 60, 100), run("x", 90, 100, MATH)), "\u2061")
    assert.notInclude(math(run("mod", 60, 100), run("x", 76, 100, MATH)), "\u2061")
  })

  it("has words over a relation, and scripts beside it", () => {
    const def = math(run("x", 50, 100, MATH), run("=", 60, 100), run("def", 57, 93, { size: 6 }))
    assert.include(def, "<mover><mo>=</mo>")
    const script = math(run("x", 50, 100, MATH), run("2", 55, 95, { size: 6 }), run("=", 60, 100))
    assert.include(script, "<msup><mi>x</mi><mn>2</mn></msup><mo>=</mo>")
  })

  it("has arrows over the letters that they are vectors of, and between those that they relate", () => {
    const vector = math(run("F", 60, 100, MATH), run("=", 70, 100), run("→", 60, 92.5), run("0", 80, 100))
    assert.include(vector, '<mover accent="true"><mi>F</mi><mo>→</mo></mover><mo>=</mo>')
    assert.notInclude(math(run("F", 60, 100, MATH), run("→", 70, 100), run("G", 80, 100, MATH)), "<mover")
    const above = math(run("A → B", 60, 92.5), run("x", 72, 104, MATH))
    assert.notInclude(above, '<mover accent="true">')
  })

  it("has the columns of a matrix where all of its rows are white", () => {
    const tall = (sign: string, x: number) => ({
      ...run(sign, x, 100),
      box: { x0: x, y0: 85, x1: x + 5, y1: 115 }
    })
    const rows = math(
      { ...tall("(", 60), baseline: 102.5 },
      run("10", 70, 94, MATH),
      run("2", 86, 94, MATH),
      run("a", 75, 107, MATH),
      run("b", 86, 107, MATH),
      { ...tall(")", 95), baseline: 102.5 }
    )
    assert.include(rows, "<mtr><mtd><mn>10</mn></mtd><mtd><mn>2</mn></mtd></mtr>")
    assert.include(rows, "<mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr>")
    const signs = math({ ...tall("{", 60), baseline: 102.5 }, run("+ 2", 70, 94), run("+ 3", 70, 107))
    assert.include(signs, "<mtd><mrow><mo>+</mo><mn>2</mn></mrow></mtd></mtr>")
    const cases = math(
      { ...tall("{", 60), baseline: 102.5 },
      run("a=1", 70, 94, MATH),
      run("if b", 100, 94, MATH),
      run("cd=2", 70, 107, MATH)
    )
    assert.include(cases, "<mtd></mtd></mtr></mtable>")
  })

  it("has the line of its letters where an operator is larger than they are", () => {
    const sum = { ...run("∑", 80, 103, { ...MATH, size: 14 }), box: { x0: 80, y0: 91, x1: 90, y1: 105 } }
    assert.strictEqual(
      math(run("y", 60, 100, MATH), run("=", 70, 100), sum, run("x", 92, 100, MATH)),
      "<mrow><mi>y</mi><mo>=</mo><mo>∑</mo><mi>x</mi></mrow>"
    )
    // Its limits change nothing about where it stands.
    assert.include(math(sum, run("i", 83, 113, small), run("x", 92, 100, MATH)), "</munder><mi>x</mi>")
  })

  it("has scripts of scripts with those that they are nearest to, and none of what is larger", () => {
    const tiny = { size: 5 }
    const both = (second: TextRun) =>
      math(run("g", 60, 100, MATH), run("e", 65, 96, small), run("s", 65, 103, small), second)
    assert.include(both(run("2", 68.5, 104, tiny)), "<msub><mi>s</mi><mn>2</mn></msub><mi>e</mi></msubsup>")
    assert.include(both(run("2", 68.5, 95, tiny)), "<mi>s</mi><msup><mi>e</mi><mn>2</mn></msup>")
    // A charge stands where the letters of the line do.
    const ion = (size: number) =>
      math(run("c", 60, 100, MATH), run("K", 65, 102, { size: 7 }), run("2", 68.5, 100, { size }))
    assert.include(ion(5), "<msub><mi>c</mi><msup>")
    assert.include(ion(10), "</msub><mn>2</mn>")
    // TeX's lower scripts are hardly lower than the line.
    assert.include(math(run("x", 60, 100, MATH), run("2", 65, 101, { size: 7 })), "<msub>")
    assert.notInclude(math(run("x", 60, 100, MATH), run("2", 65, 101)), "<msub>")
  })

  it("has the limits of two operators side by side with their own", () => {
    const sum = (x: number) => ({ ...run("∑", x, 100), box: { x0: x, y0: 90.5, x1: x + 14, y1: 104.5 } })
    const limits = (x: number) => [run("i=1", x + 1, 112, small), run("n", x + 5, 88, small)]
    const double = math(sum(60), ...limits(60), sum(75), ...limits(75), run("x", 91, 100, MATH))
    assert.strictEqual(double.split("</mrow><mi>n</mi></munderover>").length, 3)
  })

  it("joins the pieces of a tall bracket, but no brackets of lines below one another or of scripts", () => {
    const cases = math(
      { ...run("⎨", 60, 102.5), box: { x0: 60, y0: 85, x1: 65, y1: 115 } },
      run("f(s)", 70, 94, MATH),
      run("g(s)", 70, 107, MATH)
    )
    assert.include(cases, "<mo>)</mo></mrow></mrow></mtd></mtr><mtr>")
    const script = math(run("(u", 60, 100, MATH), run("(n)", 70, 96, small), run(")", 80.5, 100, MATH))
    assert.include(script, "<mo>)</mo></mrow></msup><mo>)</mo>")
    const piece = (sign: string, y: number) => ({
      ...run(sign, 60, y + 2.5),
      box: { x0: 60, y0: y - 5, x1: 65, y1: y + 5 }
    })
    const tall = math(piece("⎛", 90), piece("⎝", 100), run("x", 70, 97.5, MATH))
    assert.strictEqual(tall, "<mrow><mo>(</mo><mi>x</mi></mrow>")
    // The ends of one that closes reach further to the left than its middle does.
    const part = (sign: string, x: number, y: number) => {
      const one = piece(sign, y)
      return { ...one, box: { ...one.box, x0: x, x1: 65 } }
    }
    const closed = math(part("⎤", 60, 80), part("⎥", 62.5, 90), part("⎦", 60, 100), run("x", 50, 92.5, MATH))
    assert.strictEqual(closed, "<mrow><mi>x</mi><mo>]</mo></mrow>")
  })

  it("has a small fraction without the lines above and below it", () => {
    const half = [run("1", 70, 96, small), run("2", 70, 103, small)]
    const over = run("a =", 60, 88, MATH)
    const made = barred(
      [bar(69, 75, 97.5)],
      ...half,
      run("x", 76, 100, MATH),
      run("0", 70, 113),
      run("z", 90, 113, MATH)
    )
    assert.include(made, "<mfrac><mn>1</mn><mn>2</mn></mfrac><mi>x</mi>")
    assert.include(made, "<mn>0</mn><mi>z</mi>")
    assert.include(barred([bar(69, 75, 97.5)], ...half, over), "<mfrac><mn>1</mn><mn>2</mn></mfrac>")
    // Scripts next to the bar are smaller than the line that they belong to: nothing of it stands beside the bar, or the other half is as large.
    const limit = [run("n", 70, 96, small), run("c", 70, 88, MATH)]
    const under = barred([bar(69, 75, 97.5)], ...limit, run("2", 70, 103, small), run("x", 80, 100, MATH))
    assert.notInclude(under, "<mfrac><mi>n</mi><mn>2</mn></mfrac>")
    const large = barred([bar(69, 75, 97.5)], ...limit, run("d", 70, 106, MATH), run("e", 80, 88, MATH))
    assert.notInclude(large, "<mfrac><mi>n</mi><mi>d</mi></mfrac>")
    // A script that reaches into the height of its letter is of one line with it.
    const raised = [run("i", 74, 96.5, small), run("a", 69, 94, MATH)]
    const scripted = barred([bar(69, 78, 97.5)], ...raised, run("2", 70, 103, small), run("e", 80, 94, MATH))
    assert.include(scripted, "<mfrac><msub><mi>a</mi><mi>i</mi></msub>")
  })

  it("has roots that hang from their baseline where their bars are", () => {
    const half = barred(
      [bar(59, 76, 97), bar(70, 76, 100)],
      run("1", 65, 92),
      run("2", 60, 108),
      run("√", 65, 100),
      run("x", 70, 108, MATH)
    )
    assert.include(half, "<mfrac><mn>1</mn><mrow><mn>2</mn><msqrt><mi>x</mi></msqrt></mrow></mfrac>")
    const bare = barred([bar(60, 80, 103), bar(90, 96, 100.5)], run("√", 62, 100), run("b", 70, 111, MATH))
    assert.include(bare, "<mfrac><mo>√</mo><mi>b</mi></mfrac>")
    // A tall one begins where its ink does, whatever bar is at its middle.
    const root = { ...run("√", 60, 100), box: { x0: 60, y0: 88.5, x1: 65, y1: 106.5 } }
    const tall = barred([bar(65, 72, 88.5), bar(66, 71, 99)], root, run("7", 66, 95), run("2", 66, 105))
    assert.include(tall, "<msqrt><mfrac>")
  })

  it("has a fraction before a root that is not its degree, and the root's bar under that of its fraction", () => {
    const before = (x: number) =>
      barred([bar(70, 76, 100)], run("1", x, 102.6, { size: 7 }), run("√", 65, 100), run("x", 70, 108, MATH))
    assert.notInclude(before(61), "<mroot>")
    assert.include(before(64), "<mroot>")
    const under = barred(
      [bar(60, 82, 98.5), bar(66, 72, 100)],
      run("a b", 64, 95.5, MATH),
      run("√", 61, 100),
      run("x", 66, 108, MATH)
    )
    assert.notInclude(under, "<munder")
  })

  it("has an accent over the letter that it stands before", () => {
    const hat = { ...run("ˆr", 66, 100), box: { x0: 66, y0: 92, x1: 71, y1: 102 } }
    const accented = math(run("x", 58, 100, MATH), run("1", 63, 96, small), hat)
    assert.include(accented, "<mn>1</mn></msup>")
    assert.include(accented, '<mi mathvariant="normal">r</mi><mo>^</mo></mover>')
  })

  it("has small fractions in the line where their bars are, and in scripts", () => {
    const half = (y: number) =>
      mathOf(
        [run("x", 60, 100, MATH), run("1", 67, y - 4, { size: 7 }), run("2", 67, y + 4, { size: 7 })].map(
          (one) => ({ run: one, text: one.text, x0: one.box.x0, x1: one.box.x1, raise: undefined })
        ),
        [{ x0: 66.5, x1: 71, y0: y - 2.7, y1: y - 2.3 }],
        fonts
      )
    const [level, raised] = [half(100), half(94)].map((one) => (one ? serialize(one.children) : ""))
    assert.include(level, "<mrow><mi>x</mi><mfrac>")
    assert.include(raised, "<msup><mi>x</mi><mfrac>")
  })
})
