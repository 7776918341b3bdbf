import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"

import { htmlOf, p, text } from "../../../../adapters/docx/word-html.ts"

const math = (inside: string) => `<m:oMath>${inside}</m:oMath>`
const run = (words: string, properties = "") =>
  `<m:r>${properties === "" ? "" : `<m:rPr>${properties}</m:rPr>`}<m:t>${words}</m:t></m:r>`
const inside = (name: string, words: string) => `<m:${name}>${run(words)}</m:${name}>`

describe("formulas of Word documents", () => {
  const written = (omml: string) =>
    Effect.map(htmlOf({ body: p(math(omml)) }), (html) => html.replace(/^<p><math>(.*)<\/math><\/p>$/, "$1"))

  const shapes: ReadonlyArray<readonly [name: string, omml: string, mathml: string]> = [
    ["numbers, variables and signs", run("2x+y"), "<mn>2</mn><mi>x</mi><mo>+</mo><mi>y</mi>"],
    ["words", run("if", "<m:nor/>"), "<mtext>if</mtext>"],
    ["names", run("sin", '<m:sty m:val="p"/>'), "<mi>sin</mi>"],
    ["upright letters", run("d", '<m:sty m:val="p"/>'), '<mi mathvariant="normal">d</mi>'],
    ["letters of another kind", run("RH", '<m:scr m:val="double-struck"/>'), "<mi>ℝ</mi><mi>ℍ</mi>"],
    ["letters of no kind that there is", run("x", '<m:scr m:val="constructor"/>'), "<mi>x</mi>"],
    [
      "accents that are none",
      `<m:acc><m:accPr><m:chr m:val="constructor"/></m:accPr>${inside("e", "x")}</m:acc>`,
      '<mover accent="true"><mi>x</mi><mo stretchy="true">constructor</mo></mover>'
    ],
    ["bold letters", run("F", '<m:sty m:val="b"/>'), "<mi>𝐅</mi>"],
    [
      "fractions",
      `<m:f>${inside("num", "1")}${inside("den", "n")}</m:f>`,
      "<mfrac><mn>1</mn><mi>n</mi></mfrac>"
    ],
    [
      "fractions on a line",
      `<m:f><m:fPr><m:type m:val="lin"/></m:fPr>${inside("num", "a")}${inside("den", "b")}</m:f>`,
      "<mrow><mi>a</mi><mo>/</mo><mi>b</mi></mrow>"
    ],
    [
      "binomials",
      `<m:d><m:e><m:f><m:fPr><m:type m:val="noBar"/></m:fPr>${inside("num", "n")}${inside("den", "k")}</m:f></m:e></m:d>`,
      '<mrow><mo fence="true" form="prefix" stretchy="true">(</mo><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac><mo fence="true" form="postfix" stretchy="true">)</mo></mrow>'
    ],
    [
      "other brackets, or none",
      `<m:d><m:dPr><m:begChr m:val="{"/><m:endChr m:val=""/></m:dPr>${inside("e", "a")}${inside("e", "b")}</m:d>`,
      '<mrow><mo fence="true" form="prefix" stretchy="true">{</mo><mi>a</mi><mo fence="true" form="infix" stretchy="true">|</mo><mi>b</mi></mrow>'
    ],
    [
      "high ones",
      `<m:sSup>${inside("e", "x")}${inside("sup", "2")}</m:sSup>`,
      "<msup><mi>x</mi><mn>2</mn></msup>"
    ],
    [
      "low ones",
      `<m:sSub>${inside("e", "x")}${inside("sub", "i")}</m:sSub>`,
      "<msub><mi>x</mi><mi>i</mi></msub>"
    ],
    [
      "both",
      `<m:sSubSup>${inside("e", "x")}${inside("sub", "i")}${inside("sup", "2")}</m:sSubSup>`,
      "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"
    ],
    [
      "before a letter",
      `<m:sPre>${inside("sub", "6")}${inside("sup", "14")}${inside("e", "C")}</m:sPre>`,
      "<mmultiscripts><mi>C</mi><mprescripts></mprescripts><mn>6</mn><mn>14</mn></mmultiscripts>"
    ],
    [
      "roots",
      `<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>${inside("e", "2")}</m:rad><m:rad>${inside("deg", "3")}${inside("e", "x")}</m:rad>`,
      "<msqrt><mn>2</mn></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>"
    ],
    [
      "sums",
      `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>${inside("sub", "k")}${inside("sup", "n")}${inside("e", "k")}</m:nary>`,
      '<mrow><munderover><mo largeop="true" movablelimits="false">∑</mo><mi>k</mi><mi>n</mi></munderover><mi>k</mi></mrow>'
    ],
    [
      "integrals, of which one limit is hidden",
      `<m:nary><m:naryPr><m:supHide/></m:naryPr>${inside("sub", "S")}<m:sup/>${inside("e", "f")}</m:nary>`,
      '<mrow><msub><mo largeop="true" movablelimits="false">∫</mo><mi>S</mi></msub><mi>f</mi></mrow>'
    ],
    [
      "functions with limits",
      `<m:func><m:fName><m:limLow>${inside("e", "lim").replace("<m:r>", '<m:r><m:rPr><m:sty m:val="p"/></m:rPr>')}${inside("lim", "n")}</m:limLow></m:fName>${inside("e", "a")}</m:func>`,
      "<mrow><munder><mi>lim</mi><mi>n</mi></munder><mo>⁡</mo><mi>a</mi></mrow>"
    ],
    [
      "accents",
      `<m:acc><m:accPr><m:chr m:val="⃗"/></m:accPr>${inside("e", "v")}</m:acc><m:acc>${inside("e", "x")}</m:acc>`,
      '<mover accent="true"><mi>v</mi><mo stretchy="true">→</mo></mover><mover accent="true"><mi>x</mi><mo stretchy="true">^</mo></mover>'
    ],
    [
      "bars and braces",
      `<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>${inside("e", "z")}</m:bar><m:groupChr>${inside("e", "s")}</m:groupChr>`,
      '<mover accent="true"><mi>z</mi><mo stretchy="true">¯</mo></mover><munder accentunder="true"><mi>s</mi><mo stretchy="true">⏟</mo></munder>'
    ],
    [
      "matrices",
      `<m:m><m:mr>${inside("e", "a")}${inside("e", "b")}</m:mr><m:mr>${inside("e", "c")}${inside("e", "d")}</m:mr></m:m>`,
      "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable>"
    ],
    [
      "equations below each other",
      `<m:eqArr>${inside("e", "x&amp;=1")}${inside("e", "y&amp;=2")}</m:eqArr>`,
      "<mtable><mtr><mtd><mi>x</mi><mo>=</mo><mn>1</mn></mtd></mtr><mtr><mtd><mi>y</mi><mo>=</mo><mn>2</mn></mtd></mtr></mtable>"
    ],
    [
      "the number of an equation, a cell of its own; without the property that numbers it, the sign is one",
      `<m:eqArr><m:eqArrPr><m:maxDist m:val="1"/></m:eqArrPr>${inside("e", "x=1#(2)")}${inside("e", "y")}</m:eqArr><m:eqArr>${inside("e", "#S")}</m:eqArr>`,
      "<mtable><mtr><mtd><mi>x</mi><mo>=</mo><mn>1</mn></mtd><mtd><mo>(</mo><mn>2</mn><mo>)</mo></mtd></mtr><mtr><mtd><mi>y</mi></mtd></mtr></mtable>" +
        "<mtable><mtr><mtd><mo>#</mo><mi>S</mi></mtd></mtr></mtable>"
    ],
    [
      "what is boxed",
      `<m:borderBox>${inside("e", "E")}</m:borderBox>`,
      '<menclose notation="box"><mi>E</mi></menclose>'
    ],
    ["what holds nothing of its own", `<m:box>${inside("e", "a")}</m:box>`, "<mi>a</mi>"],
    ["what was taken out is not read", `<w:del>${run("a")}</w:del>${run("b")}`, "<mi>b</mi>"]
  ]
  for (const [name, omml, mathml] of shapes)
    it.effect(name, () => Effect.map(written(omml), (html) => assert.strictEqual(html, mathml)))

  it.effect("a formula on a line of its own is displayed, and stands where it stood", () =>
    Effect.gen(function* () {
      const shown = `<m:oMathPara><m:oMathParaPr/>${math(run("a"))}${math(run("b"))}</m:oMathPara>`
      assert.strictEqual(
        yield* htmlOf({ body: p(text("Let ") + math(run("x")) + text(" be.")) + p(shown) }),
        '<p>Let <math><mi>x</mi></math> be.</p><p><math display="block"><mi>a</mi></math><math display="block"><mi>b</mi></math></p>'
      )
    })
  )

  const NAMES = [
    "f num den",
    "sSup e sup",
    "rad deg e",
    "d e e",
    "acc e",
    "unknown e",
    "m mr mr",
    "eqArr e e"
  ]
  const tree = fc.letrec<{ readonly node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 6 },
      fc.stringMatching(/^[a-z]{2}$/).map((word) => run(word, "<m:nor/>")),
      fc.tuple(fc.constantFrom(...NAMES), tie("node"), tie("node")).map(([names, a, b]) => {
        const [name = "", first = "", second] = names.split(" ")
        const part = (of: string, child: string) =>
          of === "mr" ? `<m:mr><m:e>${child}</m:e></m:mr>` : `<m:${of}>${child}</m:${of}>`
        return `<m:${name}>${part(first, a)}${second === undefined ? "" : part(second, b)}</m:${name}>`
      })
    )
  })).node

  it("none of its words is lost", () =>
    fc.assert(
      fc.asyncProperty(tree, async (omml) => {
        const html = await Effect.runPromise(htmlOf({ body: p(math(omml)) }))
        const words = (of: string, tag: RegExp) =>
          [...of.matchAll(tag)].map(([, word = ""]) => word).toSorted((a, b) => a.localeCompare(b))
        assert.deepStrictEqual(words(html, /<mtext>([a-z]+)<\/mtext>/g), words(omml, /<m:t>([a-z]+)<\/m:t>/g))
      }),
      { numRuns: 60 }
    ))

  it.effect("what lies too deep, and more than can be read one by one, is read as text", () =>
    Effect.gen(function* () {
      const deep = `${"<m:box><m:e>".repeat(3000)}${run("deep")}${"</m:e></m:box>".repeat(3000)}`
      assert.include(yield* htmlOf({ body: p(math(deep)) }), "<mtext>deep</mtext>")
      const many = yield* htmlOf({ body: p(math(run("a").repeat(8000) + run("last"))) })
      assert.strictEqual(many.endsWith("<mtext>last</mtext></math></p>"), true)
    })
  )
})
