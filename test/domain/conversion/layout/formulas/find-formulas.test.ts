import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../../src/domain/conversion/layout/statistics.ts"
import type { TextRun } from "../../../../../src/domain/conversion/page-content.ts"
import { MATH_FACE, FACTS, FONT, FONTS, lines, page, prose, type Rest, rule, run } from "../page-builder.ts"

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
})
