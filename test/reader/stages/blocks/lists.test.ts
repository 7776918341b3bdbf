import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, run } from "../page-builder.ts"

/** Items at their indents, a line each. */
const htmlOf = (...items: ReadonlyArray<readonly [text: string, x: number]>): string =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [page(items.map(([text, x], at) => run(text, x, 100 + 14 * at)))],
    others: NO_STATISTICS
  })[0]?.html.replaceAll(/ data-(open|cut)=""/g, "") ?? ""

describe("nested lists", () => {
  it("have three levels by their indents, each with its marks and its start", () => {
    assert.strictEqual(
      htmlOf(
        ["3. three", 60],
        ["• inner", 80],
        ["◦ deep", 100],
        ["◦ deeper", 100],
        ["• other", 80],
        ["4. four", 60],
        ["b) letter", 80],
        ["c) letter", 80]
      ),
      '<ol start="3"><li>three<ul><li>inner<ul><li>deep</li><li>deeper</li></ul></li><li>other</li></ul></li>' +
        '<li>four<ol start="2" type="a"><li>letter</li><li>letter</li></ol></li></ol>'
    )
  })

  it("marks that say whether something holds are words of their items; bullets are none", () => {
    assert.strictEqual(
      htmlOf(["✔ motor", 60], ["✘ battery", 60], ["☐ tools", 60], ["➤ manual", 60]),
      "<ul><li>✔ motor</li><li>✘ battery</li><li>☐ tools</li><li>manual</li></ul>"
    )
  })

  it("bullets between a number and the next one are inside of it without an indent, too", () => {
    assert.strictEqual(
      htmlOf(
        ["1. one", 60],
        ["• inner", 62],
        ["• other", 62],
        ["2. two", 60],
        ["• last", 62],
        ["3. three", 60]
      ),
      "<ol><li>one<ul><li>inner</li><li>other</li></ul></li><li>two<ul><li>last</li></ul></li><li>three</li></ol>"
    )
  })

  it("bullets behind a list that does not go on are a list of their own", () => {
    assert.strictEqual(
      htmlOf(["1. one", 60], ["2. two", 60], ["• point", 62], ["• other", 62]),
      "<ol><li>one</li><li>two</li></ol><ul><li>point</li><li>other</li></ul>"
    )
  })
})

/** Lines in order, each at its place, in its face, and further below the one above where it says so. */
const flowOf = (
  ...rows: ReadonlyArray<readonly [text: string, x: number, font?: number, step?: number]>
): string => {
  let y = 300
  const runs = rows.map(([text, x, font = FONT.plain, step = 14]) => run(text, x, (y += step), { font }))
  const text = lines(`${"words of a text ".repeat(40)}end.`, 60, 100, 80)
  return layoutPages({ facts: FACTS, fonts: FONTS, pages: [page([...text, ...runs])], others: NO_STATISTICS })
    .map(({ html }) => html.replace(/^.*?end\.<\/p>/s, "").replaceAll(/ (data-(open|cut)|id)="[^"]*"/g, ""))
    .join("")
}

describe("an item goes on", () => {
  it("below a listing, at its words, and so does its list", () => {
    assert.strictEqual(
      flowOf(
        ["1. Fill the river with", 60, FONT.plain, 30],
        ["stones_of(river)", 84, FONT.code, 20],
        ["where the stones are large.", 73, FONT.plain, 20],
        ["2. Cross it, and call", 60],
        ["leave(river)", 84, FONT.code, 20],
        ["3. Go on.", 60, FONT.plain, 20]
      ),
      "<ol><li><p>Fill the river with</p><pre><code>stones_of(river)</code></pre><p>where the stones are large.</p></li>" +
        "<li>Cross it, and call<pre><code>leave(river)</code></pre></li><li>Go on.</li></ol>"
    )
  })

  it("below a list of its own, at its own words", () => {
    assert.strictEqual(
      flowOf(
        ["1. one", 60, FONT.plain, 30],
        ["• inner", 80],
        ["• other", 80],
        ["The first item goes on.", 73, FONT.plain, 20],
        ["2. two", 60]
      ),
      "<ol><li><p>one</p><ul><li>inner</li><li>other</li></ul><p>The first item goes on.</p></li><li>two</li></ol>"
    )
  })

  it("below what is set in below its words, and so does its list", () => {
    assert.strictEqual(
      flowOf(
        ["1. Fill the river with stones, one by one, as in", 60, FONT.plain, 30],
        ["stones > river", 110, FONT.plain, 20],
        ["river > sea", 110, FONT.plain, 20],
        ["where the stones are large.", 73, FONT.plain, 20],
        ["2. Cross it.", 60, FONT.plain, 20],
        ["Ann Stone", 110, FONT.plain, 20],
        ["Sea Street 2", 110],
        ["3. Go on.", 60, FONT.plain, 20]
      ),
      "<ol><li><p>Fill the river with stones, one by one, as in</p><p>stones &gt; river</p><p>river &gt; sea</p>" +
        "<p>where the stones are large.</p></li><li><p>Cross it.</p><p>Ann Stone<br>Sea Street 2</p></li><li>Go on.</li></ol>"
    )
  })
})

describe("an item ends", () => {
  it("above what is set in below its words where neither it nor its list goes on", () => {
    assert.include(
      flowOf(
        ["• one", 60, FONT.plain, 30],
        ["• two", 60],
        ["stones > river", 110, FONT.plain, 20],
        ["Here the text goes on.", 50, FONT.plain, 20]
      ),
      "<ul><li>one</li><li>two</li></ul><p>stones &gt; river</p>"
    )
  })

  it("above a listing that its list does not go on below", () => {
    assert.include(
      flowOf(
        ["• one", 60, FONT.plain, 30],
        ["• two", 60],
        ["stones_of(river)", 84, FONT.code, 20],
        ["Here the text goes on.", 50, FONT.plain, 20]
      ),
      "<ul><li>one</li><li>two</li></ul><pre>"
    )
  })

  it("above a listing left of it, and where another list begins below", () => {
    for (const [x, next] of [
      [30, "• three"],
      [84, "a) three"]
    ] as const)
      assert.include(
        flowOf(
          ["• one", 60, FONT.plain, 30],
          ["• two", 60],
          ["stones_of(river)", x, FONT.code, 20],
          [next, 60, FONT.plain, 20],
          ["b) four", 60]
        ),
        "<ul><li>one</li><li>two</li></ul><pre>"
      )
  })

  it("above a paragraph whose first line alone stands where its words do", () => {
    assert.match(
      flowOf(
        ["• one", 60, FONT.plain, 30],
        ["• two", 60],
        [`Here the text ${"goes on and ".repeat(7)}`, 70, FONT.plain, 20],
        ["on below.", 60, FONT.plain, 12]
      ),
      /<\/ul><p>Here the text/
    )
  })
})

/** The HTML of a page of slides' size: a title above, and lines below it. */
const slideOf = (...runs: ReadonlyArray<TextRun>): string =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: [
      page([...lines(`${"words of a text ".repeat(40)}end.`, 60, 400, 80), ...runs]),
      page(lines(`${"words of a text ".repeat(60)}end.`, 60, 100, 80), 1)
    ],
    others: NO_STATISTICS
  })[0]?.html.replaceAll(/ data-(open|cut)=""/g, "") ?? ""

describe("items in large type", () => {
  const large = { size: 20 }
  const bold = { ...large, font: FONT.bold }

  it("are no headings where bullets of others stand above or below", () => {
    const html = slideOf(
      run("• Open", 60, 60, bold),
      run("• Launch", 60, 110, bold),
      run("• Build", 60, 160, bold)
    )
    assert.notMatch(html, /<h\d/)
    assert.include(html, "<li><strong>Launch</strong></li>")
    assert.match(slideOf(run("• Launch", 60, 110, bold)), /<h\d>Launch/)
  })

  it("go on in another face", () => {
    const item = [run("• Open a window", 60, 60, large), run("of Examples", 84, 84, bold)]
    assert.notMatch(slideOf(...item, run("• Build", 60, 130, large)), /<h\d/)
    // Further below it is a heading.
    assert.match(
      slideOf(run("• Open a window", 60, 60, large), run("Examples", 84, 110, bold)),
      /<h\d>Examples/
    )
  })

  it("an address alone is no heading", () => {
    assert.notMatch(slideOf(run("http://example.org/page", 60, 60, bold)), /<h\d/)
    assert.match(slideOf(run("About example.org", 60, 60, bold)), /<h\d/)
  })
})

describe("items in typewriter", () => {
  const typed = (text: string, y: number) => run(text, 60, y, { font: FONT.code })

  it("have a bullet that code has not", () => {
    assert.include(
      slideOf(typed("• make clean", 60), typed("• make run", 74)),
      "<ul><li><code>make clean</code></li><li><code>make run</code></li></ul>"
    )
    assert.include(slideOf(typed("* make clean", 60), typed("* make run", 74)), "<pre>")
  })
})

describe("letters and numbers at the beginning of a line", () => {
  it("below a full line of an item are words of its sentence", () => {
    const full = "the groups of rivers and stones as they were found in the year and by"
    const itemsOf = (first: string, second: string, x = 72) =>
      htmlOf([`• ${first}`, 60], [second, x], ["• other", 60], [`• ${full}.`, 60])
    for (const second of ["M. Stone,", "100. It", "c. Stone"])
      assert.include(itemsOf(full, second), `<li>${full} ${second}</li>`)
    for (const [first, second, x] of [
      // A bullet, one that begins a list, below the end of a sentence, below a short line, or where the item's own mark stands.
      [full, "• Stone"],
      [full, "1. Stone"],
      [`${full}.`, "3. Stone"],
      ["the groups", "3. Stone"],
      [full, "3. Stone", 60]
    ] as const)
      assert.include(itemsOf(first, second, x), ">Stone</li>")
  })

  it("within a bracket are no item's", () => {
    assert.strictEqual(
      htmlOf(["• in large integers (Wolfram 2002,", 60], ["p. 317). The rule", 69], ["• next", 60]),
      "<ul><li>in large integers (Wolfram 2002, p. 317). The rule</li><li>next</li></ul>"
    )
    assert.include(htmlOf(["• in large integers (2002),", 60], ["a. The rule (again)", 69]), "<li>The rule")
  })

  it("a capital far down the alphabet that stands alone is an abbreviation, and one of several an item", () => {
    assert.strictEqual(htmlOf(["P. IVA 0123", 60]), "<p>P. IVA 0123</p>")
    assert.include(htmlOf(["P. IVA 0123", 60], ["Q. next", 60]), '<ol start="16" type="A">')
    assert.include(htmlOf(["C. third", 60]), '<ol start="3" type="A">')
  })
})
