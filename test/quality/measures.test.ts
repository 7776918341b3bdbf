import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { describe, expect, it } from "vitest"

import { readLatex } from "./corpus/latex.ts"
import { chaptersOf, wholeOf } from "./corpus/manuals.ts"
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

  it("compares the structure without numbers, and with abstracts as words of their section", () => {
    const truth = of("<h1>Stones</h1><p>Abstract</p><p>They lie.</p><h2>2.1 Rivers</h2><p>They run.</p>")
    const made = of("<h1>Stones</h1><h2>Abstract</h2><p>They lie.</p><h2>Rivers</h2><p>They run.</p>")
    expect(headingScore(truth, made)).toBe(1)
    expect(headingScore(truth, of("<h1>Stones</h1><h2>They</h2><p>lie.</p><h2>Rivers</h2>"))).toBeLessThan(1)
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

  /** Writes pages of HTML that lead to one another, and has `read` read them from the first one on. */
  const ofPages = <A>(pages: Readonly<Record<string, string>>, read: (start: string) => A): A => {
    const folder = mkdtempSync(join(tmpdir(), "postlane-truth-"))
    const names = Object.keys(pages)
    for (const [at, name] of names.entries()) {
      const next = names[at + 1]
      const link = next === undefined ? "" : `<link rel="next" href="${next}">`
      writeFileSync(join(folder, name), `<html><head>${link}</head><body>${pages[name]}`)
    }
    const made = read(join(folder, names[0] ?? ""))
    rmSync(folder, { recursive: true })
    return made
  }

  it("of manuals are cut at the chapters that are asked for", () => {
    const chapters = ofPages(
      {
        "a.html": '<div class="toc"><h2>Second</h2></div><h1>1. First</h1><p>one',
        "b.html": '<div class="header">up</div><h2>1.1 Part</h2><p>two',
        "c.html": "<h1>2. Second</h1><p>three"
      },
      (start) => chaptersOf(start, ["First", "2 Second"])
    )
    expect([...chapters.values()].map((chapter) => readContent(chapter).words.join(" "))).toEqual([
      "1 first one 1 1 part two",
      "2 second three"
    ])
  })

  it("of DocBook have the levels of its divisions, on one page and on several; of others those of their elements", () => {
    const madeBy = '<meta name="generator" content="DocBook XSL Stylesheets V1">'
    const levels = (pages: Readonly<Record<string, string>>) =>
      readContent(ofPages(pages, wholeOf)).sections.map(({ heading, level }) => `${level} ${heading}`)
    const article = `<div class="article"><h2 class="title">Rivers</h2><h3 class="subtitle">A guide</h3><h3 class="author">Ann</h3>
      <div class="sect1"><h2>Waters</h2><div class="sect2"><h3>Wide</h3></div></div><div class="appendix"><h2>Maps</h2></div></div>`
    expect(levels({ "a.html": madeBy + article })).toEqual(["1 rivers", "2 waters", "3 wide", "2 maps"])
    expect(levels({ "a.html": article })).toEqual(["1 rivers", "1 waters", "2 wide", "1 maps"])
    expect(
      levels({
        "a.html": `${madeBy}<div class="book"><h1>Rivers</h1></div>`,
        "b.html": `${madeBy}<div class="chapter"><h1>Waters</h1><div class="section"><h2>Wide</h2></div></div>`,
        "c.html": `${madeBy}<div class="section"><h3>Deep</h3></div>`
      })
    ).toEqual(["1 rivers", "3 waters", "4 wide", "5 deep"])
  })

  it("of DocBook's notes have their own titles neither way, and kinds of notes as words", () => {
    const note = (title: string) =>
      `<div class="note"><h3 class="title">${title}</h3><p>Mind the step.</p></div>`
    const truth = readContent(
      ofPages({ "a.html": `<h1>Stairs</h1>${note("Note")}${note("Of steps")}` }, wholeOf)
    )
    expect(truth.sections.map(({ heading }) => heading)).toEqual(["stairs"])
    expect(truth.likeHeadings).toEqual(["of steps"])
  })
})
