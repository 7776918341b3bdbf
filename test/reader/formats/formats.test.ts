import { describe, expect, it } from "vitest"

import { PictureRemover } from "../../../src/reader/formats/pictures.ts"
import { ContentReader, TokenReader } from "../../../src/reader/formats/tokens.ts"
import { pngOf } from "../../support/files/picture-files.ts"
import { around, blocksOf, written } from "./result.ts"

const PICTURE = `data:image/png;base64,${pngOf(40, 20, []).toString("base64")}`
const markdown = (main: string, pictures: "inline" | "none" = "none") =>
  written(around(main), "markdown", { pictures }).replace("# A title\n\n", "")
const text = (main: string) => written(around(main), "text").replace("A title\n\n", "")
const mark = (page: number) => `<div role="doc-pagebreak" class="page" id="page-${page}">Page ${page}</div>`

describe("what a result says", () => {
  it("is its title and its pages: not the skip link, the switch for page marks and the table of contents", () => {
    const html = around(`${mark(1)}<p>Words.</p>`)
    for (const format of ["markdown", "text", "json"] as const) {
      const said = written(html, format)
      expect(said).toContain("A title")
      expect(said).toContain("Words.")
      expect(said).not.toMatch(/Skip to content|Page marks|2 pages|Contents|Page 1\b/)
    }
  })

  it("a title of the document's own is no second one; a note of the converter stays", () => {
    const html = around("<h1>Own</h1>").replace(
      /<header>.*<\/header>/,
      '<header><p role="note" lang="en">Two pages could not be read.</p></header>'
    )
    expect(written(html, "markdown")).toBe("Two pages could not be read.\n\n# Own")
    expect(blocksOf(html).map(({ kind }) => kind)).toEqual(["note", "heading"])
  })

  it("nothing of a hostile document becomes markup", () => {
    const hostile =
      "<p>&lt;script&gt;alert(1)&lt;/script&gt; [a](javascript:alert(1)) ![x](http://e.test/t.png) # no *not* `no`</p>"
    expect(markdown(hostile)).toBe(
      "\\<script\\>alert(1)\\</script\\> \\[a\\](javascript:alert(1)) !\\[x\\](http://e.test/t.png) # no \\*not\\* \\`no\\`"
    )
    expect(text(hostile)).toContain("<script>alert(1)</script>")
  })
})

describe("blocks", () => {
  it("know the page that they begin on, also where a block spans pages", () => {
    const html = `${mark(1)}<p>First</p><p>begun <span role="doc-pagebreak" class="page" id="page-2">Page 2</span> and ended</p><p>next</p>${mark(4)}<p>last</p>`
    const blocks = blocksOf(around(html))
    expect(blocks.map(({ page, text: words }) => [page, words])).toEqual([
      [null, "A title"],
      [1, "First"],
      [1, "begun and ended"],
      [2, "next"],
      [4, "last"]
    ])
    expect(markdown(html)).toBe(
      "<!-- page 1 -->\n\nFirst\n\nbegun and ended\n\n<!-- page 2 -->\n\nnext\n\n<!-- page 4 -->\n\nlast"
    )
  })

  it("lists in lists keep their order, numbers and depth", () => {
    const html =
      '<ol start="3"><li>three<ul><li>a</li><li><p>b</p><p>more of b</p></li></ul></li><li>four</li></ol><ul><li>another</li></ul>'
    expect(markdown(html)).toBe(
      "3. three\n   - a\n\n   - b\n\n     more of b\n\n4. four\n\n<!-- -->\n\n- another"
    )
    expect(text(html)).toBe("3. three\n\n   - a\n   - b\n\n     more of b\n4. four\n\n- another")
    const [, list] = blocksOf(around(html))
    expect([list?.ordered, list?.start, list?.items?.[0]?.blocks.map(({ kind }) => kind)]).toEqual([
      true,
      3,
      ["paragraph", "list"]
    ])
  })

  it("tables have their header, and their spans as empty cells", () => {
    const html =
      '<div class="wide" role="group" tabindex="0"><table><caption>Rivers</caption><thead><tr><th scope="col">Name</th><th scope="col" colspan="2">Length | km</th></tr></thead>' +
      '<tbody><tr><th scope="row" rowspan="2">Rhine</th><td>1<br>2</td><td>3</td></tr><tr><td>4</td><td><ul><li>5</li><li>6</li></ul></td></tr></tbody></table></div>'
    expect(markdown(html)).toBe(
      "Rivers\n\n| Name | Length \\| km |  |\n| --- | --- | --- |\n| Rhine | 1<br>2 | 3 |\n|  | 4 | 5<br>6 |"
    )
    expect(text(html)).toBe("Rivers\nName\tLength | km\nRhine\t1 2\t3\n4\t5 6")
    const [, table] = blocksOf(around(html))
    expect([table?.caption, table?.rows?.[0]?.[1], table?.rows?.[1]?.[0]]).toEqual([
      "Rivers",
      { text: "Length | km", header: true, colspan: 2 },
      { text: "Rhine", header: true, rowspan: 2 }
    ])
  })

  it("a table with spans as wide as HTML allows stays as small as its cells", () => {
    const cell = '<td colspan="999" rowspan="9999">x</td>'
    const html = `<table><tbody>${`<tr>${cell.repeat(300)}</tr>`.repeat(20)}</tbody></table>`
    expect(markdown(html).length).toBeLessThan(200_000)
  })

  it("links lead out; links within the document are data alone, since Markdown has no anchors", () => {
    const html =
      '<h2 id="section-1">One</h2><p>See <a href="#section-1">one</a> and <a href="https://x.test/a_(b)">there</a>!</p>'
    expect(markdown(html)).toBe("## One\n\nSee one and [there](https://x.test/a%5F%28b%29)!")
    const [, heading, paragraph] = blocksOf(around(html))
    expect([heading?.id, heading?.level, paragraph?.links]).toEqual([
      "section-1",
      2,
      [
        { text: "one", href: "#section-1" },
        { text: "there", href: "https://x.test/a_(b)" }
      ]
    ])
  })

  it("notes, code, formulas and fields", () => {
    const html =
      '<p>Claim<a role="doc-noteref" href="#p1-fn-1"><sup>1</sup></a></p><div role="doc-footnote" id="p1-fn-1"><p>Note <a role="doc-backlink" href="#r"><span aria-hidden="true">↩ </span>Back to text</a></p></div>' +
      "<pre>a\n  ```b</pre><p><math><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math></p>" +
      '<p><label><input type="checkbox" checked="" disabled="">Yes</label> <input type="text" value="Ann" aria-label="Name" disabled=""></p>'
    expect(markdown(html)).toBe(
      "Claim<sup>1</sup>\n\nNote\n\n````\na\n  ```b\n````\n\na/(b+1)\n\n\\[x\\]Yes Ann"
    )
    expect(blocksOf(around(html)).map(({ kind, text: words }) => [kind, words])).toEqual([
      ["heading", "A title"],
      ["paragraph", "Claim1"],
      ["footnote", undefined],
      ["code", "a\n  ```b"],
      ["formula", "a/(b+1)"],
      ["paragraph", "[x]Yes Ann"]
    ])
    expect(blocksOf(around(html))[5]?.fields?.[1]).toEqual({
      type: "text",
      name: "Name",
      value: "Ann",
      checked: false
    })
  })

  it("a document of many thousand levels is read", () => {
    expect(written(around(`${"<div>".repeat(20_000)}deep${"</div>".repeat(20_000)}`), "text")).toContain(
      "deep"
    )
  })
})

describe("pictures", () => {
  const drawing = `<svg class="store" aria-hidden="true" width="0" height="0"><image id="picture-1" width="40" height="20" href="${PICTURE}"></image></svg>`
  const use =
    '<svg viewBox="0 0 40 20" width="40" role="img" aria-label="A dot"><use href="#picture-1"></use></svg>'
  const html = `<figure><img src="${PICTURE}" alt="A bar [chart]"><figcaption>Rain</figcaption></figure><p>Here ${use} and</p>${drawing}<p>there ${use}</p><details class="scan"><summary>As a picture</summary><img src="${PICTURE}" alt="Page 1"></details>`

  it("Markdown has their descriptions, or their data, each of a repeated one once", () => {
    expect(markdown(html)).toBe("![A bar \\[chart\\]]()\n\nRain\n\nHere ![A dot]() and\n\nthere ![A dot]()")
    const whole = markdown(html, "inline")
    expect(whole).toContain(`![A bar \\[chart\\]](${PICTURE})`)
    expect(whole.match(/!\[A dot\]\[picture-1\]/g)).toHaveLength(2)
    expect(whole.match(/^\[picture-1\]: data:/gm)).toHaveLength(1)
  })

  it("data name them by their index, wherever they are stored", () => {
    const used = blocksOf(around(html)).flatMap(({ pictures = [] }) => pictures)
    expect(used).toEqual([
      { alt: "A bar [chart]", picture: 0 },
      { alt: "A dot", picture: 1 },
      { alt: "A dot", picture: 1 },
      { alt: "Page 1", picture: 2 }
    ])
    expect(text(html)).toBe("[A bar [chart]]\nRain\n\nHere [A dot] and\n\nthere [A dot]")
  })

  it("HTML without them keeps the descriptions", () => {
    const tokens = new ContentReader().of(new TokenReader().add(around(html)))
    const said = new PictureRemover().of(tokens).join("")
    expect(said).toBe(
      '<h1>A title</h1><figure><span class="about">A bar [chart]</span><figcaption>Rain</figcaption></figure><p>Here <span class="about">A dot</span> and</p><p>there <span class="about">A dot</span></p>'
    )
  })
})
