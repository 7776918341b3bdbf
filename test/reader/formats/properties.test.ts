import * as fc from "fast-check"
import MarkdownIt from "markdown-it"
import { describe, expect, it } from "vitest"

import { treeOf } from "../../../src/reader/formats/tree.ts"
import { element, type HtmlNode, serialize, textOf } from "../../../src/reader/model/html-tree.ts"
import { around, blocksOf, wordsOf, written } from "./result.ts"

/** Signs that mean something in Markdown, in HTML or to a table, and words around them. */
const SIGNS = [
  ..."*_`~[]()<>#+-=.!|&\\:\"'{}$^%@/1 a b\u00a0\u201c\u00e9".split(""),
  "**",
  "__",
  "```",
  "---",
  "===",
  "1. ",
  "1) ",
  "- ",
  "# ",
  "> ",
  "    ",
  "&amp;",
  "&#35;",
  "<b>",
  "<!-- -->",
  "](x)",
  "![",
  "[a]: b",
  "| - |",
  "word",
  "two words",
  "\ud83d\ude00"
]
const text = fc.array(fc.constantFrom(...SIGNS), { minLength: 1, maxLength: 6 }).map((all) => all.join(""))

const inline: fc.Arbitrary<HtmlNode> = fc.letrec<{ node: HtmlNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    text,
    fc.constant(element("br", {})),
    fc
      .tuple(
        fc.constantFrom("strong", "em", "code", "sub", "sup", "del", "span", "u"),
        fc.array(tie("node"), { maxLength: 3 })
      )
      .map(([name, children]) => element(name, {}, children)),
    fc
      .tuple(
        fc.constantFrom("https://x.test/a(b)_*?q=1&r=<2>", "#section-1", "mailto:a@x.test"),
        fc.array(text, { minLength: 1, maxLength: 2 })
      )
      .map(([href, children]) => element("a", { href }, children))
  )
})).node
const line = fc.array(inline, { minLength: 1, maxLength: 5 })

const table = fc
  .tuple(
    fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    fc.boolean(),
    fc.nat(3)
  )
  .map(([rows, headed, span]) =>
    element("table", {}, [
      element(
        "tbody",
        {},
        rows.map((cells, at) =>
          element(
            "tr",
            {},
            cells.map((cell) =>
              element(
                headed && at === 0 ? "th" : "td",
                span === 0 ? {} : { colspan: String(span), rowspan: String(span) },
                cell
              )
            )
          )
        )
      )
    ])
  )

const block: fc.Arbitrary<HtmlNode> = fc.letrec<{ block: HtmlNode }>((tie) => {
  const inner = fc.array(tie("block"), { minLength: 1, maxLength: 3 })
  return {
    block: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      line.map((children) => element("p", {}, children)),
      fc
        .tuple(fc.integer({ min: 1, max: 6 }), line)
        .map(([level, children]) => element(`h${level}`, {}, children)),
      text.map((code) => element("pre", {}, [`${code}\n${code}`])),
      table,
      fc
        .tuple(
          fc.constantFrom("ul", "ol"),
          fc.array(fc.tuple(line, fc.array(tie("block"), { maxLength: 2 })), { minLength: 1, maxLength: 3 })
        )
        .map(([name, items]) =>
          element(
            name,
            {},
            items.map(([words, more]) => element("li", {}, [...words, ...more]))
          )
        ),
      inner.map((children) => element("blockquote", {}, children)),
      inner.map((children) => element("div", { role: "doc-footnote", id: "p1-n" }, children)),
      fc
        .tuple(line, inner)
        .map(([term, children]) => element("dl", {}, [element("dt", {}, term), element("dd", {}, children)])),
      fc
        .tuple(inner, line)
        .map(([children, caption]) =>
          element("figure", {}, [...children, element("figcaption", {}, caption)])
        )
    )
  }
}).block
const documents = fc.array(block, { minLength: 1, maxLength: 5 })

const markdown = new MarkdownIt({ html: true })
/** Without white space, which formats write in their own ways. */
const solid = (words: string) => words.replaceAll(/\s+/g, "")
/** Without the signs of lists and rules, which plain text has. */
const letters = (words: string) => words.replaceAll(/[^\p{L}\u201c\ud83d\ude00]+/gu, "")
/** What a browser would show of a document; it may read a tree in another way than it was written. */
const shown = (nodes: ReadonlyArray<HtmlNode>) => textOf(treeOf(serialize(nodes)))

describe("formats of a result", () => {
  it("agree on every word, whatever the document says", () => {
    fc.assert(
      fc.property(documents, fc.integer({ min: 1, max: 400 }), (nodes, step) => {
        const html = around(serialize(nodes))
        const said = `A title${shown(nodes)}`
        expect(solid(wordsOf(blocksOf(html, step)))).toBe(solid(said))
        expect(letters(written(html, "text", { step }))).toBe(letters(said))
      }),
      { numRuns: 300 }
    )
  })

  it("Markdown shows what the document says: nothing of it becomes markup, and no markup is lost in it", () => {
    fc.assert(
      fc.property(documents, (nodes) => {
        const rendered = markdown.render(written(around(serialize(nodes)), "markdown"))
        expect(solid(textOf(treeOf(rendered)))).toBe(solid(`A title${shown(nodes)}`))
      }),
      { numRuns: 500 }
    )
  })

  it("the same text comes out however the result is cut on its way", () => {
    fc.assert(
      fc.property(documents, fc.integer({ min: 1, max: 60 }), (nodes, step) => {
        const html = around(serialize(nodes))
        for (const format of ["markdown", "text", "json"] as const)
          expect(written(html, format, { step })).toBe(written(html, format))
      }),
      { numRuns: 50 }
    )
  })
})
