import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { cleanFragment } from "../../../src/reader/html/clean.ts"
import { parseFragment } from "../../../src/reader/html/parse-fragment.ts"
import { element, type HtmlNode, serialize } from "../../../src/reader/model/html-tree.ts"

/** What must never be in a fragment, by elements, attributes and addresses. */
const harmful = (nodes: ReadonlyArray<HtmlNode>): ReadonlyArray<string> =>
  nodes.flatMap((node) => {
    if (typeof node === "string") return []
    const own = /^(script|style|iframe|object|embed|svg|link|meta|base|form|video|audio|template)$/.test(
      node.name
    )
      ? [node.name]
      : []
    const attributes = Object.entries(node.attributes).filter(
      ([name, value]) =>
        name.startsWith("on") ||
        name === "style" ||
        name.startsWith("data-") ||
        name === "srcset" ||
        (name === "href" && !/^(#|https?:|mailto:|tel:|ftp:)/.test(value)) ||
        (name === "src" && !value.startsWith("data:image/"))
    )
    return [...own, ...attributes.map(([name]) => name), ...harmful(node.children)]
  })

const clean = (html: string): string => {
  const cleaned = cleanFragment(html)
  assert.deepStrictEqual(harmful(parseFragment(cleaned)), [])
  assert.notMatch(cleaned, /<\s*\/?(script|style|svg|iframe)/i)
  return cleaned
}

describe("what a model wrote", () => {
  it("keeps its structure, its MathML and the roles of notes", () => {
    const html =
      '<h2 id="a">Title</h2><p lang="fr">Oui<a role="doc-noteref" href="#fn-1"><sup>1</sup></a></p><table><caption>C</caption><thead><tr><th scope="col" colspan="2">H</th></tr></thead><tbody><tr><td>1</td><td rowspan="2">2</td></tr></tbody></table><math display="block"><mfrac><mi>a</mi><mn>2</mn></mfrac></math><p role="doc-footnote" id="fn-1">Note</p><ol start="3" type="a"><li>x</li></ol>'
    assert.strictEqual(clean(html), html)
  })

  it("loses its fence of Markdown and whatever stands around a page", () => {
    assert.strictEqual(clean("```html\n<p>Words</p>\n```"), "<p>Words</p>")
    assert.strictEqual(
      clean(
        "<!doctype html><html><head><title>T</title></head><body><main><p>Words</p></main></body></html>"
      ),
      "<p>Words</p>"
    )
  })

  it.each([
    "<script>alert(1)</script><p>Words</p>",
    "<p onclick=alert(1)>Words</p>",
    '<img src=x onerror="alert(1)"><p>Words</p>',
    '<img src="https://example.org/track.gif"><p>Words</p>',
    '<a href="javascript:alert(1)">Words</a>',
    '<a href="&#106;avascript:alert(1)">Words</a>',
    '<a href="java\tscript:alert(1)">Words</a>',
    '<a href="data:text/html;base64,PHNjcmlwdD4=">Words</a>',
    '<p style="background:url(https://example.org)">Words</p>',
    "<style>@import url(https://example.org)</style><p>Words</p>",
    "<svg><script>alert(1)</script></svg><p>Words</p>",
    "<svg><p><style><img src=x onerror=alert(1)></style></p></svg><p>Words</p>",
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;"></mglyph></table></mtext></math><p>Words</p>',
    '<math><annotation-xml encoding="text/html"><script>alert(1)</script></annotation-xml></math><p>Words</p>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></p></noscript><p>Words</p>',
    "<template><script>alert(1)</script></template><p>Words</p>",
    '<iframe srcdoc="<script>alert(1)</script>"></iframe><p>Words</p>',
    '<form action="https://example.org"><input name=x><button formaction="javascript:alert(1)">Words</button></form>',
    '<base href="https://example.org/"><meta http-equiv=refresh content="0;url=https://example.org"><p>Words</p>',
    '<a href="https://example.org" target="_blank" ping="https://example.org">Words</a>',
    "<p id=x><![CDATA[<script>alert(1)</script>]]>Words</p>",
    "<xmp><script>alert(1)</script></xmp><p>Words</p>",
    "<p>Words<!-- <script> --></p>",
    '<p data-element="3" data-open="" data-image="1">Words</p>',
    '<object data="x"></object><embed src="x"><p>Words</p>'
  ])("is harmless: %s", (html) => {
    assert.include(clean(html), "Words")
  })

  it("is harmless however it is pieced together, and stays the same when cleaned again", () => {
    const piece = fc.constantFrom(
      ..."<|>|</|\"|'|=|/| |\n|\u0000|<!--|-->|]]>|<![CDATA[|&lt;|&#x6a;avascript:|javascript:|words|p|a|img|svg|math|mtext|mi|style|script|title|textarea|table|td|select|option|template|annotation-xml|mglyph|foreignObject|desc|noscript|href|src|onerror|id|xlink:href|alert(1)|x".split(
        "|"
      )
    )
    const tag = fc
      .tuple(
        fc.constantFrom(
          "svg",
          "math",
          "mtext",
          "style",
          "script",
          "table",
          "p",
          "a",
          "img",
          "select",
          "textarea",
          "title",
          "mglyph",
          "annotation-xml",
          "form",
          "li"
        ),
        fc.constantFrom(
          "",
          ' href="javascript:x"',
          " onload=x",
          ' src="x" onerror="x"',
          ' id="q"',
          " style=x"
        )
      )
      .map(([name, attribute]) => `<${name}${attribute}>`)
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, tag), { maxLength: 30 }), (pieces) => {
        const once = clean(pieces.join(""))
        assert.strictEqual(clean(once), once)
      }),
      { numRuns: 1500 }
    )
  })

  it("is read however deep it is nested", () => {
    assert.include(clean(`${"<div>".repeat(30_000)}Words`), "Words")
    assert.include(clean(`${"<b><i>".repeat(400)}Words`), "Words")
  })
})

describe("fragments", () => {
  it("are read as they were written", () => {
    const text = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
      .filter((one) => !/[\r\ufdd0-\ufdef]/.test(one) && !one.includes("\u0000"))
    const words = text.map((one) => `x${one}`)
    const inline = fc
      .tuple(fc.constantFrom("strong", "em", "code", "sup"), words)
      .map(([name, one]) => element(name, {}, [one]))
    const block = fc
      .tuple(
        fc.constantFrom("p", "h2", "blockquote", "pre"),
        fc.array(fc.oneof(words, inline), { minLength: 1, maxLength: 4 }),
        text
      )
      .map(([name, children, lang]) => element(name, { lang }, children))
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), (nodes) => {
        const html = serialize(nodes)
        assert.strictEqual(serialize(parseFragment(html)), html)
      }),
      { numRuns: 300 }
    )
  })
})
