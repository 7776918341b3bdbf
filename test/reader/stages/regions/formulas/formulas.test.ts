import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import {
  MATH_FACE,
  FACTS,
  FONT,
  FONTS,
  lines,
  page,
  prose,
  type Rest,
  rule,
  run
} from "../../page-builder.ts"

const fonts = [...FONTS, MATH_FACE, { ...MATH_FACE, name: "CMEX10", italic: false }]
const MATH = { font: FONTS.length }
const small = { ...MATH, size: 7 }

const above = lines(prose(30), 60, 60, 80)
const below = lines(prose(30), 60, 240, 80)

const lay = (runs: ReadonlyArray<TextRun>, rest: Rest = {}): string =>
  layoutPages({
    facts: FACTS,
    fonts,
    pages: [page([...above, ...runs, ...below], 0, rest)],
    others: NO_STATISTICS
  })[0]?.html.replaceAll(/ data-open=""/g, "") ?? ""

/** What stands between the two paragraphs. */
const between = (html: string): string =>
  html.slice(`<p>${prose(30)}</p>`.length, html.length - `<p>${prose(30)}</p>`.length)

/** A big operator: its box is its ink, around the axis of a line at `baseline`. */
const big = (sign: string, x: number, baseline: number): TextRun => ({
  ...run(sign, x, baseline, { font: FONTS.length + 1 }),
  box: { x0: x, y0: baseline - 9.5, x1: x + 14, y1: baseline + 4.5 }
})

describe("display formulas", () => {
  it("belong to the item that goes on below them, or whose list does", () => {
    const list = (next: string, x: number) =>
      between(
        lay([
          run("1. The river is", 60, 110),
          run("y", 250, 134, MATH),
          run("=", 260, 134),
          run("x", 270, 134, MATH),
          run(next, x, 158),
          run("2. The stones are", 60, 172)
        ])
      )
    const item = /<li>(<p>)?The river is(<\/p>)?<p><math/
    assert.match(
      list("where it is wide.", 73),
      /^<ol><li><p>The.*<math.*<p>where it is wide.*<li>The stones are/
    )
    assert.notMatch(list("Here the text goes on.", 60), item)
    assert.match(list("2. It is wide.", 60), item)
    assert.notMatch(list("5. It is wide.", 60), item)
  })

  it("are MathML with their scripts and their number", () => {
    const html = between(
      lay([
        run("y", 250, 150, MATH),
        run("=", 260, 150),
        run("x", 270, 150, MATH),
        run("2", 275, 146, { size: 7 }),
        run("i", 275, 152, small),
        run("(3)", 450, 150)
      ])
    )
    assert.strictEqual(
      html,
      '<p><math display="block"><mrow><mi>y</mi><mo>=</mo><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></mrow></math> (3)</p>'
    )
  })

  it("have fractions where bars are, and roots where a bar begins at a root's sign", () => {
    const html = between(
      lay(
        [
          run("z", 230, 150, MATH),
          run("=", 240, 150),
          run("a", 265, 143, MATH),
          run("b", 262, 157, MATH),
          run("+", 280, 150),
          run("√", 288, 149, MATH),
          run("c", 293.5, 150, MATH)
        ],
        { drawings: [rule(258, 147.2, 276, 147.8), rule(293, 141, 300, 141.4)] }
      )
    )
    assert.include(html, "<mfrac><mi>a</mi><mi>b</mi></mfrac>")
    assert.include(html, "<msqrt><mi>c</mi></msqrt>")
    const root = { drawings: [rule(263, 141, 270, 141.4)] }
    const signs = [run("z", 230, 150, MATH), run("=", 240, 150), run("√", 258, 149, MATH)]
    const cubic = between(lay([...signs, run("3", 257.5, 144, small), run("c", 263.5, 150, MATH)], root))
    assert.include(cubic, "<mroot><mi>c</mi><mn>3</mn></mroot>")
    const script = [run("a", 250, 150, MATH), run("i", 255.5, 152, small), run("c", 263.5, 150, MATH)]
    assert.include(
      between(lay([...signs, ...script], root)),
      "<msub><mi>a</mi><mi>i</mi></msub><msqrt><mi>c</mi></msqrt>"
    )
    assert.notInclude(html, "<h")
    assert.notInclude(html, "<table")
  })

  it("have sums with limits, and matrices between their brackets", () => {
    const sum = between(
      lay([
        run("s", 230, 150, MATH),
        run("=", 240, 150),
        big("∑", 250, 150),
        run("n", 255, 138.5, small),
        run("i=1", 252, 161.5, small),
        run("a", 270, 150, MATH)
      ])
    )
    assert.include(
      sum,
      "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>a</mi>"
    )
    const bracket = (sign: string, x: number): TextRun => ({
      ...big(sign, x, 150),
      box: { x0: x, y0: 135, x1: x + 5, y1: 160 }
    })
    const matrix = between(
      lay([
        run("A", 220, 150, MATH),
        run("=", 230, 150),
        bracket("(", 240),
        run("a", 250, 144, MATH),
        run("b", 270, 144, MATH),
        run("c", 250, 157, MATH),
        run("d", 270, 157, MATH),
        bracket(")", 280)
      ])
    )
    assert.include(
      matrix,
      "<mo>(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable><mo>)</mo>"
    )
  })

  it("begin where the text does if their fractions are as large as the text", () => {
    const halves = (size: number, over: number, under: number): ReadonlyArray<TextRun> => [
      run("1", 92, over, { size }),
      run("x", 92, under, { ...MATH, size })
    ]
    const fraction = { drawings: [rule(91, 147.2, 99, 147.8)] }
    const line = [run("y", 60, 150, MATH), run("=", 75, 150), run("+", 104, 150), run("z", 118, 150, MATH)]
    const displayed = between(lay([...line, ...halves(10, 143, 157)], fraction))
    assert.include(displayed, "<mfrac><mn>1</mn><mi>x</mi></mfrac>")
    assert.notInclude(displayed, "<table")
    // In a text they are smaller.
    assert.notInclude(between(lay([...line, ...halves(7, 145.5, 153.5)], fraction)), "<math")
    // A fraction below a line is none of that line's.
    const under = { drawings: [rule(91, 163.2, 99, 163.8)] }
    const apart = between(lay([run("as one over it", 60, 150), ...halves(10, 159, 173)], under))
    assert.match(apart, /as one over it<\/p><p><math[^>]*><mfrac>/)
  })

  it("have their first limit also where that stands over their second line alone", () => {
    const limit = (x: number): string =>
      between(
        lay(
          [
            run("n", x, 137, small),
            run("a", 250, 143, MATH),
            big("∑", 220, 150),
            run("=", 265, 150),
            run("x", 275, 150, MATH),
            run("b", 250, 157, MATH)
          ],
          { drawings: [rule(248, 147.2, 258, 147.6)] }
        )
      )
    assert.include(limit(225), "<mover><mo>∑</mo><mi>n</mi></mover>")
    assert.notInclude(limit(100), "<mover>")
  })

  it("keep a limit that is nearer to an arrow over a letter of the text below", () => {
    const html = between(
      lay([
        big("∑", 220, 150),
        run("=", 240, 150),
        run("x", 250, 150, MATH),
        run("n", 225, 164, small),
        run("→", 310, 176, MATH),
        run("where in the case of rivers the stone under it", 60, 183)
      ])
    )
    assert.include(html, "<munder><mo>∑</mo><mi>n</mi></munder>")
  })

  it("keep the brackets over a bar apart from those under it", () => {
    const half = (name: string, baseline: number): ReadonlyArray<TextRun> =>
      [name, "(", "x", ")"].map((sign, at) => run(sign, 252 + 6 * at, baseline, MATH))
    const html = between(
      lay([run("y", 220, 150, MATH), run("=", 235, 150), ...half("p", 143), ...half("q", 157)], {
        drawings: [rule(251, 147.2, 276, 147.8)]
      })
    )
    const inBrackets = "<mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow>"
    assert.include(
      html,
      `<mfrac><mrow><mi>p</mi>${inBrackets}</mrow><mrow><mi>q</mi>${inBrackets}</mrow></mfrac>`
    )
  })

  it("have a row of what stands in brackets, which a script is of, whatever is unmatched", () => {
    const math = (text: string): string =>
      between(lay([run("y", 210, 150, MATH), run("=", 220, 150), ...signs(text, 230)]))
    const signs = (text: string, x: number): ReadonlyArray<TextRun> =>
      Array.from(text, (sign, at) =>
        sign === "²" ? run("2", x + 7 * at, 146, small) : run(sign, x + 7 * at, 150, MATH)
      )
    assert.include(
      math("f(g(x))"),
      "<mi>f</mi><mrow><mo>(</mo><mi>g</mi><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow><mo>)</mo></mrow>"
    )
    assert.include(
      math("(x+1)²"),
      "<msup><mrow><mo>(</mo><mi>x</mi><mo>+</mo><mn>1</mn><mo>)</mo></mrow><mn>2</mn></msup>"
    )
    assert.include(math("[0,a)"), "<mrow><mo>[</mo><mn>0</mn><mo>,</mo><mi>a</mi><mo>)</mo></mrow>")
    assert.include(math("a)+(b"), "<mi>a</mi><mo>)</mo><mo>+</mo><mo>(</mo><mi>b</mi>")
    const deep = math(`${"(".repeat(15)}x${")".repeat(15)}`)
    assert.include(deep, "<mo>(</mo><mo>(</mo><mi>x</mi><mo>)</mo><mo>)</mo>")
    assert.strictEqual(deep.split("<mrow><mo>(</mo>").length - 1, 9)
  })

  it("are a picture with their signs as its words where their geometry tells nothing", () => {
    const html = between(
      lay([
        run("y", 250, 150, MATH),
        run("=", 260, 150),
        run("x", 270, 150, MATH),
        run("w", 272, 154, MATH),
        run("v", 276, 148.2, MATH)
      ])
    )
    assert.match(
      html,
      /^<p><img data-region="24\d 1\d\d 2\d\d 1\d\d" alt="[^"]*y[^"]*=[^"]*x[^"]*" width="\d+"><\/p>$/
    )
  })

  it("are neither a paragraph's last line, nor words with a sign in them, nor numbers along an axis", () => {
    const paragraph = [...lines(prose(40), 60, 150, 80)]
    const last = paragraph.at(-1)
    const tail = run("x = y.", 60, (last?.baseline ?? 0) + 12, MATH)
    assert.notInclude(lay([...paragraph, tail]), "<math")
    const words = [
      run("where every", 200, 150),
      run("α", 260, 150, MATH),
      run("stands for a level of the greatest", 270, 150),
      run("=", 450, 150)
    ]
    assert.notInclude(lay(words), "<math")
    assert.notInclude(lay([run("−1.5  −1.0  −0.5  0.0  0.5", 200, 150, MATH)]), "<math")
  })

  it("go on in a line that begins with a relation, up to the one with the number", () => {
    const line = (first: string, y: number, x = 230) => [
      run(first, x, y, MATH),
      run("=", x + 12, y),
      run("b", x + 24, y, MATH)
    ]
    const rest = (y: number) => [run("=", 242, y), run("c", 254, y, MATH)]
    const number = run("(4)", 450, 170)
    const html = between(lay([...line("a", 150), ...rest(170), number]))
    assert.match(
      html,
      /^<p><math display="block"><mtable[^>]*>(<mtr>.*?<\/mtr>){2}<\/mtable><\/math> \(4\)<\/p>$/
    )
    assert.strictEqual(between(lay([...line("a", 150), ...rest(170), ...rest(190)])).split("<mtr>").length, 4)
    // Two formulas: each has its own left side, or its own number.
    assert.strictEqual(between(lay([...line("a", 150), ...line("d", 170)])).split("<math").length, 3)
    const own = [...line("a", 150), run("(3)", 450, 150), ...rest(170), number]
    assert.strictEqual(between(lay(own)).split("<math").length, 3)
  })

  /** `first = b`, or `= b` without a first sign. */
  const row = (first: string, y: number): ReadonlyArray<TextRun> => [
    ...(first === "" ? [] : [run(first, 230, y, MATH)]),
    run("=", 242, y),
    run("b", 254, y, MATH)
  ]
  const count = (html: string, what: string): number => html.split(what).length - 1

  it("are one where rows stand as near as those of a system, and several where white space parts them", () => {
    const near = between(lay([...row("a", 150), ...row("d", 165), ...row("g", 180), run("(2)", 450, 180)]))
    assert.match(near, /^<p><math[^>]*><mtable[^>]*>(<mtr>.*?<\/mtr>){3}<\/mtable><\/math> \(2\)<\/p>$/)
    // Rows are as large as a formula that stands alone.
    assert.include(near, 'displaystyle="true"')
    assert.strictEqual(count(between(lay([...row("a", 150), ...row("d", 174)])), "<math"), 2)
    const own = [...row("a", 150), run("(1)", 450, 150), ...row("d", 165), run("(2)", 450, 165)]
    assert.strictEqual(count(between(lay(own)), "<math"), 2)
  })

  it("have the number that stands in the middle of their rows, or at the left of the first", () => {
    const three = [...row("a", 150), ...row("", 165), ...row("", 180)]
    const middle = between(lay([...three, run("(5)", 450, 165)]))
    assert.match(middle, /^<p><math[^>]*><mtable[^>]*>(<mtr>.*?<\/mtr>){3}<\/mtable><\/math> \(5\)<\/p>$/)
    const left = between(lay([...three, run("(5)", 60, 150)]))
    assert.strictEqual(count(left, "<math"), 1)
    // A number at the right of the first row ends what it belongs to.
    assert.strictEqual(count(between(lay([...three, run("(5)", 450, 150)])), "<math"), 2)
  })

  it("are fractions alone; an underlined word above another line is none", () => {
    const parts = [run("a+b", 252, 143, MATH), run("c", 257, 157, MATH)]
    const fraction = between(lay(parts, { drawings: [rule(251, 147.2, 268, 147.8)] }))
    assert.include(fraction, "<mfrac>")
    const under = [...row("a", 143), run("which is", 252, 157)]
    assert.notInclude(lay(under, { drawings: [rule(200, 147.2, 320, 147.8)] }), "<mtext>")
  })

  it("leave the short last line above them to its text", () => {
    const html = between(lay([run("and all of that is given by", 60, 141), ...row("a", 150)]))
    assert.include(html, "given by</p><p><math")
  })

  it("are set in a text's italic letters, too, but for words", () => {
    const set = { font: FONT.italic }
    const sign = run("∈", 60, 500, MATH)
    const italics = (first: string) => [run(first, 250, 150, set), run("= m", 270, 150, set), sign]
    assert.include(lay(italics("E")), "<mi>E</mi><mo>=</mo><mi>m</mi>")
    assert.notInclude(lay(italics("mode")), "<math")
    assert.notInclude(lay([run("E = m", 250, 150), sign]), "<math")
  })

  it("are fractions of words, and have words at braces, but are no text with a fraction in it", () => {
    const words = (lead: string, x: number) => [
      run("∈", 60, 500, MATH),
      run(lead, x, 150),
      run("true positives", 300, 143),
      run("all positives", 300, 157)
    ]
    const bar = { drawings: [rule(299, 147.2, 371, 147.8)] }
    assert.include(lay(words("precision =", 240), bar), "<mfrac>")
    for (const sign of "≈≡∼") assert.include(lay(words(`precision ${sign}`, 240), bar), "<mfrac>")
    assert.notInclude(lay(words("where every other share = ", 165), bar), "<math")
    const brace = [...row("a", 150), run("everything", 230, 160, { size: 7 })]
    assert.include(lay(brace), "<math")
    assert.notInclude(lay([...row("a", 150), run("all that is known", 262, 150)]), "<math")
  })

  it("have no words of scripts without spaces", () => {
    const chinese = [run("已知 为求 试求 因此", 250, 150), run("=", 310, 150), run("x", 320, 150, MATH)]
    assert.notInclude(lay(chinese), "<math")
    assert.include(lay([...row("a", 150), run("当", 275, 150)]), "<math")
  })

  it("are neither items of a list nor headings", () => {
    const item = (number: string, y: number) => [
      run(number, 75, y),
      run("a", 88, y, MATH),
      run("=", 98, y),
      run("b", 108, y, MATH)
    ]
    const html = between(lay([...item("1.", 150), ...item("2.", 170), ...item("3.", 190)]))
    assert.match(html, /^<ol><li>.*<\/li><li>.*<\/li><li>.*<\/li><\/ol>$/)
    assert.include(between(lay(row("(x)", 150))), "<math")
    const large = { ...MATH, size: 13 }
    assert.notInclude(
      lay([run("a", 60, 150, large), run("=", 70, 150, { size: 13 }), run("b", 80, 150, large)]),
      "<h"
    )
  })

  it("are no halves of a fraction that stands in a line of text, as small as scripts", () => {
    const half = (words: string, y: number, size: number) => [
      run("d", 200, y, { ...MATH, size }),
      run("=", 210, y, { size }),
      run(words, 220, y, { ...MATH, size })
    ]
    const fraction = (size: number) => [...half("f", 144, size), ...half("x", 152, size)]
    assert.notInclude(lay([run("A name of it", 60, 149), ...fraction(6)]), "<math")
    assert.include(lay(half("f", 144, 10)), "<math")
  })

  it("lose no letter", () => {
    const runs = [
      run("ab", 250, 150, MATH),
      run("=", 262, 150),
      run("sin", 270, 150),
      run("12.5", 290, 150),
      run("hence", 320, 150),
      run("q", 350, 150, MATH)
    ]
    const words = between(lay(runs)).replaceAll(/<[^>]*>|\s|\u00a0|&nbsp;|\u2061/g, "")
    assert.strictEqual(words, "ab=sin12.5henceq")
  })

  it("are MathML with accents over letters, which are no letters themselves", () => {
    const html = lay([
      run("β", 250, 150, MATH),
      run("ˆ", 250, 150),
      run("=", 262, 150),
      run("b", 272, 150, MATH)
    ])
    assert.include(html, '<mover accent="true"><mi>β</mi><mo>^</mo></mover>')
  })

  it("are matrices whose brackets are drawn in parts, and dots for what is left out", () => {
    const bracket = (signs: string, x: number) =>
      [153, 166, 172, 178, 191].map((y, at) => big(signs.charAt(at), x, y))
    const letters = (y: number) => [run("a", 266, y, MATH), run("b", 280, y, MATH)]
    const dots = [0, 4, 8].flatMap((down) => [
      run(".", 266, 174 + down),
      run(".", 280 + down / 2, 174 + down)
    ])
    const runs = [
      run("A", 232, 172, MATH),
      run("=", 240, 172),
      ...bracket("⎛⎜⎜⎜⎝", 250),
      ...letters(150),
      ...letters(163),
      ...dots,
      ...letters(195),
      ...bracket("⎞⎟⎟⎟⎠", 288)
    ]
    const html = between(lay(runs))
    assert.lengthOf(html.match(/<math/g) ?? [], 1)
    assert.lengthOf(html.match(/<mtr>/g) ?? [], 4)
    assert.match(html, /⋮.*⋱/)
  })

  it("are no names of columns, nor notes below a table", () => {
    const cells = (words: ReadonlyArray<string>, y: number, font: number) =>
      words.map((word, at) => run(word, 220 + 18 * at, y, { font }))
    const names = cells(["p", "q", "p=q"], 150, FONTS.length)
    assert.notInclude(lay([...names, ...cells(["T", "F", "F"], 164, 0)]), "<math")
    assert.include(lay([...names, ...cells(["a", "b", "a=b"], 164, FONTS.length)]), "<math")
    const note = [run("<", 264, 150, MATH), run("5", 276, 150)]
    const marked = (mark: string) =>
      lay([run(mark, 250, 146, { size: 6 }), run("p", 253, 150, MATH), ...note])
    assert.notInclude(marked("∗"), "<math")
    assert.include(marked("2"), "<math")
  })
})
