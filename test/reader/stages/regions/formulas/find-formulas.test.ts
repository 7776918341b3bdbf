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

const fonts = [...FONTS, MATH_FACE]
const MATH = { font: FONTS.length }

const lay = (runs: ReadonlyArray<TextRun>, rest: Rest = {}): string =>
  layoutPages({
    facts: FACTS,
    fonts,
    pages: [page([...lines(prose(30), 60, 60, 80), ...runs, ...lines(prose(30), 60, 340, 80)], 0, rest)],
    others: NO_STATISTICS
  })[0]?.html ?? ""

const count = (html: string, what: string): number => html.split(what).length - 1

/** `first = b` on a line of its own. */
const row = (first: string, y: number): ReadonlyArray<TextRun> => [
  run(first, 230, y, MATH),
  run("=", 242, y),
  run("b", 254, y, MATH)
]

describe("what is a display formula", () => {
  it("is one long name of a function, but no long word beside a sign", () => {
    const line = (name: string, rest: string) => [
      run("x", 230, 150, MATH),
      run("=", 240, 150),
      run(name, 250, 150),
      run(rest, 320, 150, MATH)
    ]
    assert.include(lay(line("Hypergeometric", "(n)")), "<math")
    assert.include(lay(line("𝑎𝑏𝑐𝑑𝑒", "n")), "<math")
    assert.notInclude(lay(line("Hypergeometric", "n")), "<math")
  })

  it("is a reaction of compounds, but none of words as long", () => {
    const reaction = (one: string, other: string) => [
      run(one, 230, 150),
      run("→", 250, 150, MATH),
      run(other, 262, 150)
    ]
    assert.include(lay(reaction("NaOH", "HCl KCl")), "<math")
    assert.notInclude(lay(reaction("Noah", "Hal Kal")), "<math")
  })

  it("has a number with a space behind its letter", () => {
    assert.match(lay([...row("a", 150), run("(R 1)", 440, 150)]), /<\/math> \(R 1\)<\/p>/)
    assert.notMatch(lay([...row("a", 150), run("(Row 1)", 440, 150)]), /<\/math> \(Row 1\)<\/p>/)
  })

  it("is no line of a list's item, nor the last line of a paragraph with a small fraction in it", () => {
    const item = (x: number) => [
      run("• ", 75, 150),
      run("It gives the phase", 88, 150),
      run("of", x, 162),
      run("G", x + 14, 162, MATH),
      run("= s", x + 22, 162, MATH)
    ]
    assert.notInclude(lay(item(88)), "<math")
    assert.include(lay(item(230)), "<math")
    const fraction = (y: number) => [
      run("of every other phase", 100, y - 14),
      run("of the", 100, y),
      run("G =", 135, y, MATH),
      run("1", 155, y - 4, { size: 6 }),
      run("s", 155, y + 4, { ...MATH, size: 6 })
    ]
    const bar = (y: number) => ({ drawings: [rule(154, y - 2.7, 160, y - 2.4)] })
    assert.notInclude(lay(fraction(180), bar(180)), "<math")
  })

  it("is neither one sign, nor what a command makes behind it", () => {
    assert.notInclude(lay([run("⟹", 230, 150, MATH)]), "<math")
    assert.include(lay([run("= .", 230, 150, MATH)]), "<math")
    const example = (first: TextRun) => [first, run("= b + c", 270, 150, MATH)]
    assert.notInclude(lay(example(run("\\cp", 230, 150, { font: FONT.code }))), "<math")
    assert.include(lay(example(run("cp", 230, 150, MATH))), "<math")
  })

  it("has no bar where a line joins two letters as an arrow", () => {
    const drawing = (x0: number, x1: number) =>
      lay([run("A", 230, 150, MATH), run("B", 260, 150, MATH)], { drawings: [rule(x0, 146, x1, 146.4)] })
    assert.notInclude(drawing(238, 257), "<math")
    assert.include(drawing(229, 266), "<math")
  })

  it("leaves one last word above it to the text", () => {
    const above = (word: string, y: number) => [run(word, 60, y), ...row("a", 150)]
    assert.include(lay(above("form", 141)), "form</p><p><math")
    assert.strictEqual(count(lay(above("form", 141)), "<math"), 1)
  })

  it("has its number also where that stands half a size from it, at the column's edge", () => {
    const edge = Math.max(...lines(prose(30), 60, 60, 80).map(({ box }) => box.x1))
    const near = (gap: number) =>
      lay([
        ...row("a", 150).slice(0, 2),
        run("b".repeat(28), edge - 160 - gap, 150, MATH),
        run("(12)", edge - 20, 150)
      ])
    assert.match(near(6), /<\/math> \(12\)<\/p>/)
    assert.notMatch(near(2.5), /<\/math> \(12\)<\/p>/)
  })

  it("is neither an entry of contents, nor a name with the mark of a note", () => {
    const entry = (end: string) =>
      lay([run("x", 80, 150, MATH), run(`= a ${". ".repeat(20)}${end}`, 90, 150)])
    assert.notInclude(entry("9"), "<math")
    assert.include(entry("+ b"), "<math")
    const name = (word: string) =>
      lay([run(word, 230, 150), run("∗", 230 + 5 * word.length, 146, { ...MATH, size: 7 })])
    assert.notInclude(name("निरंजन"), "<math")
    assert.include(name("a ="), "<math")
  })

  it("is no line as wide as the text right above it", () => {
    const words = "as the sequence converges to it, so that we write it as one"
    const under = (y: number) =>
      lay([
        run(words, 120, 150),
        run("x = a".padEnd(20, " + b"), 120, y, MATH),
        run("+ c".padEnd(words.length - 20, " + c"), 220, y, MATH)
      ])
    assert.notInclude(under(168), "<math")
    assert.include(under(175), "<math")
  })

  /** A line of text that ends where the column does, or so many letters before. */
  const full = (x: number, y: number, short = 0): TextRun =>
    run("stone ".repeat(14).slice(0, (460 - x) / 5 - 1 - short) + "e", x, y)

  it("is no line that the full line above goes on in", () => {
    const below = (first: TextRun, x: number, y: number) =>
      lay([first, run("S", x, y, MATH), run("= s", x + 8, y)])
    assert.notInclude(below(full(60, 150), 88, 162), "<math")
    assert.include(below(full(60, 150), 120, 162), "<math")
    assert.include(below(full(60, 150), 88, 165), "<math")
    assert.include(below(full(60, 150, 20), 88, 162), "<math")
    // High signs make the lines of one edge stand further apart.
    assert.notInclude(below(full(75, 150), 75, 165), "<math")
    assert.include(below(full(75, 150), 75, 168), "<math")
  })

  it("is no first line of a paragraph, which is full and goes on in words", () => {
    const first = (letters: number, next: TextRun) =>
      lay([run("S", 75, 150, MATH), run(`= ${"b + ".repeat(20)}`.slice(0, letters - 1) + "c", 80, 150), next])
    assert.notInclude(first(76, run("Otherwise it is quiet.", 60, 162)), "<math")
    assert.include(first(60, run("Otherwise it is quiet.", 60, 162)), "<math")
    assert.include(first(76, run("Otherwise it is quiet.", 60, 165)), "<math")
    assert.include(first(76, run("Otherwise it is quiet.", 75, 162)), "<math")
    assert.include(first(76, run("1 + b + c", 60, 162)), "<math")
    assert.include(first(76, run("sin b", 60, 162)), "<math")
    assert.include(first(76, run("be + c", 60, 162, MATH)), "<math")
  })

  it("is no item whose letter in brackets stands before a word", () => {
    const line = (text: string) => lay([run(text, 230, 150), run("= n", 300, 150, MATH)])
    assert.notInclude(line("(a) For i"), "<math")
    assert.include(line("(a) f"), "<math")
    assert.include(line("(a) sin i"), "<math")
  })

  it("has no last line of a text above it, of short words too, but the number behind its words", () => {
    const text = lay(
      [
        run("we get", 60, 150),
        run("1", 262, 158.2),
        run("g", 230, 165, MATH),
        run("=", 242, 165),
        run("d", 262, 172.5, MATH)
      ],
      { drawings: [rule(260, 162.3, 269, 162.7)] }
    )
    assert.include(text, "<p>we get</p>")
    assert.include(text, "<mfrac>")
    const number = lay([
      run("such that x", 200, 150),
      run("= b", 260, 150, MATH),
      run("(4)", 445, 157.5),
      run("cabe", 240, 165, MATH),
      run("= d", 260, 165, MATH)
    ])
    assert.match(number, /<math.*such.*<\/math> \(4\)/)
  })

  it("has a fraction whose root is lower than what stands under a bar", () => {
    const lower = (y0: number) => {
      const root = { ...run("√", 250, 168, MATH), box: { x0: 250, y0, x1: 255, y1: 174.5 } }
      return lay(
        [
          run("a", 272, 151, MATH),
          run("N", 230, 157, MATH),
          run("=", 240, 157),
          root,
          run("1 − b · c", 256, 169.5)
        ],
        { drawings: [rule(249, 154.3, 300, 154.7), rule(255, 156.3, 300, 156.7)] }
      )
    }
    assert.include(lower(156.5), "<mfrac><mi>a</mi><msqrt>")
    assert.notInclude(lower(166), "<mfrac>")
  })
})
