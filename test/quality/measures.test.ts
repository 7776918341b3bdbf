import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { describe, expect, it } from "vitest"

import { readLatex } from "./corpus/latex.ts"
import { chaptersOf } from "./corpus/manuals.ts"
import { withoutFirstHeading } from "./corpus/readmes.ts"
import { bodyOf, likeHeading, rewritten } from "./corpus/tree.ts"
import {
  f1,
  figureCounts,
  formulaCounts,
  formulasAsTables,
  headingCounts,
  precision,
  recall,
  wordCounts
} from "./measures.ts"
import { headingScore, readContent, readingOrderScore, tableCounts, withoutLikeHeadings } from "./score.ts"

const of = (body: string) => readContent(`<!doctype html><body>${body}`)

describe("measures of a result against its truth", () => {
  it("counts words wherever they stand; order counts apart", () => {
    const [truth, made] = [of("<p>one two three three"), of("<p>three two one")]
    expect(wordCounts(truth, made)).toEqual({ truth: 4, made: 3, found: 3 })
    expect(recall(wordCounts(truth, made))).toBe(0.75)
    expect(precision(wordCounts(truth, made))).toBe(1)
    expect(readingOrderScore(truth, made)).toBeLessThan(0.5)
  })

  it("finds a heading whatever its level and number, once", () => {
    const truth = of("<h1>1 Introduction</h1><h2>1.1 The Old Way</h2><h2>Abstract</h2>")
    const made = of("<h3>Introduction</h3><h2>I. Introduction</h2><h2>A sentence that is none</h2>")
    expect(headingCounts(truth, made)).toEqual({ truth: 2, made: 3, found: 1 })
  })

  it("counts headings neither way that the truth has as paragraphs set like headings, whole or line by line", () => {
    const like = (words: string) => `<p class="like-heading">${words}</p>`
    const truth = of(
      `${like("A manual")}${like("of rivers")}<h1>Stones</h1><p>They lie.</p>${like("Note")}<p>More.</p>`
    )
    const made = of("<h1>A manual of rivers</h1><h2>Stones</h2><p>They lie.</p><h3>Note</h3><p>More.</p>")
    const kept = withoutLikeHeadings(truth, made)
    expect(headingCounts(truth, made).made).toBe(3)
    expect(headingCounts(truth, kept)).toEqual({ truth: 1, made: 1, found: 1 })
    expect(headingScore(truth, kept)).toBe(1)
    expect(withoutLikeHeadings(of("<h1>Stones</h1>"), made).sections).toHaveLength(3)
  })

  it("takes a paragraph that is bold as a whole for one set like a heading, unless it is a sentence", () => {
    const like = (body: string) => readContent(rewritten(bodyOf(body), likeHeading)).likeHeadings
    expect(
      like("<p><strong>Of</strong> <b><em>stones</em></b></p><p><strong>They lie.</strong></p>")
    ).toEqual(["of stones"])
    expect(
      like("<p><strong>Stones</strong> lie</p><div><strong>Stones</strong></div><p><b> </b></p>")
    ).toEqual([])
  })

  it("leaves out the heading that a print lacks, and no other", () => {
    const truth = readContent(
      withoutFirstHeading("stones", "<p>A</p><h1>Stones</h1><h2>Of rivers</h2><p>Words</p>")
    )
    expect(truth.sections.map(({ heading }) => heading)).toEqual(["of rivers"])
    expect(truth.words).toEqual(["a", "of", "rivers", "words"])
  })

  it("repeats cells that span columns and rows", () => {
    const spanned = of(
      "<table><tr><th rowspan=2>name<th colspan=2>sizes<tr><td>small<td>large<tr><td>a<td>1<td>2</table>"
    )
    expect(spanned.tables).toEqual([
      [
        ["name", "sizes", "sizes"],
        ["name", "small", "large"],
        ["a", "1", "2"]
      ]
    ])
    const torn = of("<table><tr><td>small<td>large<tr><td>1<td>2</table>")
    expect(f1(tableCounts(spanned, spanned))).toBe(1)
    expect(recall(tableCounts(spanned, torn))).toBeLessThan(0.5)
    expect(precision(tableCounts(spanned, torn))).toBe(1)
  })

  it("keeps a table within a cell to itself", () => {
    expect(of("<table><tr><td>a <table><tr><td>b</table></table>").tables).toEqual([[["a b"]], [["b"]]])
  })

  it("leaves out tables that only lay something out, not their words", () => {
    const laidOut = of('<table role="presentation"><tr><td>one<td>two</table>')
    expect(laidOut.tables).toEqual([])
    expect(laidOut.words).toEqual(["one", "two"])
  })

  it("finds figures by their captions", () => {
    const truth = of("<figure><figcaption>Figure 1: The whole of it</figcaption></figure>")
    const made = of(
      "<figure><img><figcaption>Figure 1. The whole of it</figcaption></figure><figure><img></figure>"
    )
    expect(figureCounts(truth, made)).toEqual({ truth: 1, made: 1, found: 1 })
    expect(figureCounts(truth, of("<p>Figure 1: The whole of it")).found).toBe(0)
  })

  it("finds display formulas as MathML, as pictures and as text with their role", () => {
    const truth = of('<div role="math">E = mc2 (1)</div>')
    for (const made of [
      '<math display="block"><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>',
      '<figure class="formula"><img alt="E = mc2"></figure>',
      '<p role="math">E=mc2(1)</p>'
    ])
      expect(formulaCounts(truth, of(made))).toEqual({ truth: 1, made: 1, found: 1 })
    expect(formulaCounts(truth, of("<p>E = mc2 (1)"))).toEqual({ truth: 1, made: 0, found: 0 })
  })

  it("counts formulas that were made tables, and no table that a formula's letters occur in", () => {
    const truth = of('<div role="math">alpha = beta + gamma (3)</div>')
    expect(formulasAsTables(truth, of("<table><tr><td>alpha =<td>beta + gamma<td>(3)</table>"))).toBe(1)
    const large = `<table><tr><td>alpha<td>beta gamma<td>${"delta ".repeat(30)}</table>`
    expect(formulasAsTables(truth, of(large))).toBe(0)
  })
})

describe("truths", () => {
  it("of LaTeX have formulas by number, headings, figures, and notes at the end", () => {
    const truth = readContent(
      readLatex(`<title>T</title><body>
        <h2 class="ltx_title ltx_title_section"><span class="ltx_tag">1 </span>Way</h2>
        <p>text<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup><span class="ltx_note_outer"><span class="ltx_note_content"><sup class="ltx_note_mark">1</sup><span class="ltx_tag">1</span>noted</span></span></span> goes on
        <table class="ltx_equationgroup ltx_eqn_table"><tr><td><math><mi>a</mi></math><td><span class="ltx_tag ltx_tag_equation">(1)</span><tr><td><math><mi>b</mi></math><td><span class="ltx_tag ltx_tag_equation">(2)</span></table>
        <figure class="ltx_figure"><figcaption>Figure 1</figcaption></figure>
        <h6 class="ltx_title ltx_title_theorem">Theorem 1</h6>
        <table class="ltx_tabular"><tr><td>cell<td>next</table>`)
    )
    expect(truth.sections.map(({ heading }) => heading)).toEqual(["1 way"])
    expect(truth.formulas.map((formula) => formula.replaceAll(/\s/g, ""))).toEqual(["a(1)", "b(2)"])
    expect(truth.captions).toEqual(["figure 1"])
    expect(truth.tables).toEqual([[["cell", "next"]]])
    expect(truth.words.slice(2, 6)).toEqual(["text1", "goes", "on", "a"])
    expect(truth.words.at(-1)).toBe("noted")
  })

  it("of manuals are cut at the chapters that are asked for", () => {
    const folder = mkdtempSync(join(tmpdir(), "postlane-truth-"))
    const page = (name: string, body: string, next = "") =>
      writeFileSync(
        join(folder, name),
        `<html><head>${next === "" ? "" : `<link rel="next" href="${next}">`}</head><body>${body}`
      )
    page("a.html", '<div class="toc"><h2>Second</h2></div><h1>1. First</h1><p>one', "b.html")
    page("b.html", '<div class="header">up</div><h2>1.1 Part</h2><p>two', "c.html")
    page("c.html", "<h1>2. Second</h1><p>three")
    const chapters = chaptersOf(join(folder, "a.html"), ["First", "2 Second"])
    rmSync(folder, { recursive: true })
    expect([...chapters.values()].map((chapter) => readContent(chapter).words.join(" "))).toEqual([
      "1 first one 1 1 part two",
      "2 second three"
    ])
  })
})
