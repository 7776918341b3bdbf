import { assert, describe, it } from "vitest"

import type { Box, DocumentFacts, PageContent } from "../../src/reader/model/page-content.ts"
import { layoutPages } from "../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, picture, prose, rule, run } from "./stages/page-builder.ts"

const htmlOf = (
  pages: ReadonlyArray<PageContent>,
  facts: Partial<DocumentFacts> = {}
): ReadonlyArray<string> =>
  layoutPages({
    facts: { ...FACTS, pageCount: pages.length, ...facts },
    fonts: FONTS,
    pages,
    others: NO_STATISTICS
  }).map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))

const only = (...runs: Parameters<typeof page>[0][number][]): string => htmlOf([page(runs)])[0] ?? ""

describe("paragraphs", () => {
  it("are joined over lines, cut words put together, compounds kept", () => {
    const html = only(
      run("This paragraph has a word that was hyphen", 60, 100, { hyphenated: true }),
      run("ated at the end of its line and goes on to", 60, 112),
      run("the next one.", 60, 124)
    )
    assert.strictEqual(
      html,
      "<p>This paragraph has a word that was hyphenated at the end of its line and goes on to the next one.</p>"
    )
  })

  it("end at white, at an indent and at a line with room left", () => {
    const body = [prose(30, 1), prose(30, 2), prose(30, 3)]
    const first = lines(body[0]!, 60, 100, 80)
    const second = lines(body[1]!, 60, 150, 80)
    const html = only(...first, ...second)
    assert.strictEqual(html, `<p>${body[0]}</p><p>${body[1]}</p>`)
    const indented = only(
      run("A first line that is indented a little, as in books,", 75, 100),
      run("goes on at the margin and fills all of its second line", 60, 112),
      run("to the end.", 60, 124),
      run("Another first line that is indented, and its text goes", 75, 136),
      run("on below.", 60, 148)
    )
    assert.strictEqual(indented.match(/<p>/g)?.length, 2)
  })

  it("end at white and at an indent even where their last lines are full", () => {
    const full = [
      "The words of this paragraph fill its lines as far as the margin on the right,",
      "and so do those of its last one, which ends there with the last of its words."
    ]
    const next = "Another one begins, with words that fill its line to the very margin as well"
    const set = (x: number, y: number) => [
      ...full.map((text, at) => run(text, 60, 100 + 12 * at)),
      run(next, x, y),
      run("and go on.", 60, y + 12)
    ]
    const parted = `<p>${full.join(" ")}</p><p>${next} and go on.</p>`
    assert.strictEqual(only(...set(60, 136)), parted)
    assert.strictEqual(only(...set(75, 124)), parted)
    assert.strictEqual(only(...set(60, 124)), parted.replace("</p><p>", " "))
  })

  it("are joined without a space where the script sets none", () => {
    const html = only(
      run("研究生学位论文是研究生在导师指导下从事科学研究或技术创新结果的报告和总结统一写作标", 60, 100, {
        size: 10
      }),
      run("准，保证论文的规范性", 60, 112, { size: 10 })
    )
    assert.include(html, "写作标准，保证")
    const mixed = only(
      run("研究生学位论文是研究生在导师指导下从事科学研究或技术创新结果的报告和总结使用", 60, 100, {
        size: 10
      }),
      run("TeX 的规范性", 60, 112, { size: 10 })
    )
    assert.include(mixed, "使用 TeX")
  })

  it("are read from right to left where their script is", () => {
    const html = only(
      run("شاپور", 190, 100),
      run("TeX Live", 146, 100),
      run("سن", 132, 100),
      run("ة", 127, 100),
      run("۱۹", 113, 100),
      run("اسفند", 84, 100),
      run("۱۳۹۷", 60, 100)
    )
    assert.strictEqual(html, "<p>شاپور TeX Live سنة ۱۹ اسفند ۱۳۹۷</p>")
    // A line of more words of another script, and a sign that stands at a figure.
    const mixed = only(
      run("קובץ", 190, 100),
      run("Program Files and Settings", 55, 100),
      run("פתחו את התוכנה ואת הקובץ הזה", 46, 120),
      run("(", 200, 120),
      run("17", 190, 120)
    )
    assert.include(mixed, "קובץ Program Files and Settings")
    assert.include(mixed, "(17 פתחו")
  })

  it("keep bold, italic, code and raised words", () => {
    const html = only(
      ...lines(prose(40), 60, 300, 80),
      run("Plain", 60, 100),
      run("bold", 90, 100, { font: FONT.bold }),
      run("slanted", 115, 100, { font: FONT.italic }),
      run("f()", 155, 100, { font: FONT.code }),
      run("x", 180, 100),
      run("2", 185, 96, { size: 6 })
    )
    assert.include(html, "Plain <strong>bold </strong><em>slanted </em><code>f() </code>x<sup>2</sup>")
  })

  it("raise letters of two faces together, and slant no signs", () => {
    const html = only(
      ...lines(prose(40), 60, 300, 80),
      run("The reach of", 60, 100),
      run("x", 125, 100, { font: FONT.italic }),
      run("n", 130, 96, { font: FONT.italic, size: 6 }),
      run("−", 133, 96, { font: FONT.italic, size: 6 }),
      run("1", 136, 96, { size: 6 }),
      run("i", 139, 102, { size: 6 }),
      run("of 1", 148, 100),
      run(".", 168, 100, { font: FONT.italic }),
      run("5", 173, 100),
      run("→", 188, 100, { font: FONT.italic }),
      run("2", 203, 100)
    )
    assert.include(html, "<em>x</em><sup><em>n</em>−1</sup><sub>i</sub> of 1.5 → 2")
  })
})

describe("headings", () => {
  const body = [...lines(prose(60), 60, 300, 80), ...lines(prose(60, 2), 60, 500, 80)]

  it("rank by size, then by weight", () => {
    const html = only(
      run("The title", 60, 80, { size: 20 }),
      run("A chapter", 60, 120, { size: 15 }),
      run("A section", 60, 150, { font: FONT.bold }),
      ...lines(prose(40), 60, 180, 80),
      ...body
    )
    assert.include(html, "<h1>The title</h1><h2>A chapter</h2><h3>A section</h3><p>")
  })

  it("may go over two lines; a label and its title are one", () => {
    const html = only(
      run("Chapter 3", 60, 80, { size: 16 }),
      run("Of rivers and of", 60, 110, { size: 16 }),
      run("stones", 60, 129, { size: 16 }),
      ...body
    )
    assert.include(html, "<h1>Chapter 3 Of rivers and of stones</h1>")
  })

  it("follow the outline where there is one", () => {
    const facts = { outline: [{ title: "2.1 Small words", level: 2, page: 0 }] }
    const [html = ""] = htmlOf([page([run("2.1 Small words", 60, 100, { font: FONT.bold }), ...body])], facts)
    assert.include(html, "<h3>2.1 Small words</h3>")
  })

  it("may be bold and a little smaller than the text where they have a section's number", () => {
    const html = only(
      run("II. Methods", 60, 80, { font: FONT.bold, size: 9 }),
      ...lines(prose(40), 60, 110, 80),
      run("A bold remark", 60, 200, { font: FONT.bold, size: 9 }),
      ...body
    )
    assert.match(html, /<h\d>II. Methods<\/h\d>/)
    assert.include(html, "<p><strong>A bold remark</strong></p>")
  })

  it("are not made of long bold text or of bold words in a line", () => {
    const html = only(...lines(prose(60), 60, 100, 80, { font: FONT.bold }), ...body)
    assert.notInclude(html, "<h")
  })
})

describe("order", () => {
  it("reads columns one after the other, what spans them in its place", () => {
    const left = lines(prose(80, 1), 50, 150, 44)
    const right = lines(prose(80, 2), 310, 150, 44)
    const html = only(
      run("A title that spans both of the columns of the page", 100, 100, { size: 16 }),
      ...left,
      ...right
    )
    assert.deepStrictEqual(
      [...html.matchAll(/<(h1|p)>/g)].map(([, name]) => name),
      ["h1", "p", "p"]
    )
    assert.isBelow(html.indexOf(prose(80, 1)), html.indexOf(prose(80, 2)))
  })

  it("reads a last page whose second column has a few lines, but no list beside a text", () => {
    const left = lines(prose(300, 1), 50, 100, 50)
    const html = only(...left, ...lines(prose(24, 2), 308, 100, 50))
    assert.strictEqual(html, `<p>${prose(300, 1)}</p><p>${prose(24, 2)}</p>`)
    const few = ["a tool", "a part", "a word", "a name"].map((name, at) => run(name, 308, 100 + 12 * at))
    assert.notInclude(only(...left, ...few), `<p>${prose(300, 1)}</p>`)
  })

  it("reads the comments beside a listing's lines with them, and columns of text that are set row by row apart", () => {
    const rows = (words: string, note: string, font: number) =>
      Array.from({ length: 8 }, (_, at) => [
        run(`${words} ${at}`, 50, 100 + 12 * at, { font }),
        run(`${note} ${at}`, 330, 100 + 12 * at, { font })
      ]).flat()
    const code = only(
      ...rows("const waterColour = Colour(255, 0, 0)", "// how blue a river is, in the end", FONT.code)
    )
    assert.match(code, /Colour\(255, 0, 0\) 3\s+\/\/ how blue a river is, in the end 3\nconst/)
    const text = only(
      ...rows("a river that runs for miles and miles on", "and a stone that lies in it for ever", FONT.plain)
    )
    assert.isBelow(text.indexOf("miles on 7"), text.indexOf("for ever 0"))
  })

  it("reads columns of short lines, as in an index, by the order in which they were set", () => {
    const column = (x: number, letter: string) =>
      Array.from({ length: 10 }, (_, at) => run(`${letter}${at} entry`, x, 100 + 12 * at))
    const html = only(...column(60, "a"), ...column(320, "b"))
    assert.notInclude(html, "<table")
    assert.isBelow(html.indexOf("a9"), html.indexOf("b0"))
  })

  it("joins a paragraph over the end of a column", () => {
    const words = `${prose(60, 1).slice(0, -1)} ${prose(60, 2)}`
    const all = lines(words, 0, 0, 44)
    const half = Math.ceil(all.length / 2)
    const set = (second: ReadonlyArray<string>) =>
      only(
        ...all.slice(0, half).map(({ text }, at) => run(text, 50, 100 + 12 * at)),
        ...second.map((text, at) => run(text, 310, 100 + 12 * at))
      )
    const [first = "", ...rest] = all.slice(half).map(({ text }) => text)
    assert.strictEqual(set([first, ...rest]), `<p>${words}</p>`)
    assert.strictEqual(set([`Danube ${first}`, ...rest]).split("<p").length - 1, 1)
  })

  it("joins a word that was cut at the end of a column", () => {
    const column = (x: number, last: string, hyphenated: boolean) =>
      [...lines(prose(60, 1).slice(0, -1), x, 100, 44), run(last, x, 300)].map((one, at, all) =>
        at === all.length - 1 ? { ...run(last, x, 100 + 12 * at), hyphenated } : one
      )
    const html = only(
      ...column(50, "and at the foot of it a word is hyphen", true),
      run("ated, and goes on up here.", 310, 100),
      ...column(310, "until its end.", false).map((one) => ({
        ...one,
        baseline: one.baseline + 24,
        box: { ...one.box, y0: one.box.y0 + 24, y1: one.box.y1 + 24 }
      }))
    )
    assert.include(html, "a word is hyphenated, and goes on")
  })

  it("leaves out running headers, footers and page numbers", () => {
    const pages = Array.from({ length: 6 }, (_, index) =>
      page(
        [
          run(`Chapter ${index < 3 ? 1 : 2}: On running heads`, 60, 40, { size: 8 }),
          ...lines(prose(120, index), 60, 100, 80),
          run(`– ${index + 1} –`, 290, 810, { size: 8 })
        ],
        index
      )
    )
    for (const html of htmlOf(pages)) {
      assert.notMatch(html, /running heads|– \d –/)
      assert.include(html, "<p>")
    }
  })

  it("leaves out running titles that change with the chapter, recognized by the page number beside them", () => {
    const pages = Array.from({ length: 6 }, (_, index) =>
      page(
        [
          run(`${index % 2 === 0 ? `${index + 11} ` : ""}Chapter ${"abcdef"[index]}`, 60, 40, { size: 8 }),
          ...(index % 2 === 0 ? [] : [run(String(index + 11), 500, 40, { size: 8 })]),
          ...lines(prose(120, index), 60, 100, 80)
        ],
        index
      )
    )
    for (const html of htmlOf(pages)) assert.notMatch(html, /Chapter [a-f]/)
  })

  it("keeps entries of a table of contents at the edges of its pages, leaders or not", () => {
    const leaders = " .".repeat(20)
    for (const between of [leaders, ""]) {
      const pages = Array.from({ length: 8 }, (_, index) =>
        page(
          Array.from({ length: 60 }, (__, row) => [
            run(`${index + 1}.${row} Entry ${"abcdefgh"[index]}${row}${between}`, 60, 60 + 12 * row),
            run(String(100 * index + 7 * row), 520, 60 + 12 * row)
          ]).flat(),
          index
        )
      )
      for (const [index, html] of htmlOf(pages).entries())
        for (const row of [0, 1, 2, 57, 58, 59]) assert.include(html, `Entry ${"abcdefgh"[index]}${row}`)
    }
  })

  it("keeps what pages have in common where that is most of them", () => {
    const pages = Array.from({ length: 6 }, (_, index) =>
      page([run("Name of the form", 60, 60), run("Value 1 2 3", 60, 90), run("End", 60, 800)], index)
    )
    for (const html of htmlOf(pages)) assert.include(html, "Name of the form")
  })

  it("leaves out hidden text unless the page has no other, and what is drawn twice", () => {
    const twice = only(run("Thickened words", 60, 100), run("Thickened words", 60.4, 100))
    assert.strictEqual(twice, "<p>Thickened words</p>")
    const scan = only(...lines(prose(30), 60, 100, 80, { invisible: true }))
    assert.include(scan, prose(30))
    const layered = only(run("Seen words of a page", 60, 100), run("SEEN", 60, 100, { invisible: true }))
    assert.strictEqual(layered, "<p>Seen words of a page</p>")
  })

  it("reads pages that are turned", () => {
    const turned = page(
      lines(prose(30), 60, 100, 60).map((one) => ({
        ...one,
        angle: 90,
        box: { x0: 842 - one.box.y1, y0: one.box.x0, x1: 842 - one.box.y0, y1: one.box.x1 }
      }))
    )
    assert.include(htmlOf([turned])[0], `<p>${prose(30)}</p>`)
  })

  it("turn a page's rules with its text: a table that is set sideways is one", () => {
    const [rows, columns] = [
      [100, 120, 140, 160],
      [60, 160, 260]
    ]
    const cells = ["Name", "Use", "first", "long words", "second", "few words"].map((text, at) =>
      run(text, (columns[at % 2] ?? 0) + 5, (rows[Math.floor(at / 2)] ?? 0) + 14)
    )
    const rules = [...rows.map((y) => rule(60, y, 260, y)), ...columns.map((x) => rule(x, 100, x, 160))]
    const upright = htmlOf([page(cells, 0, { drawings: rules })])[0]
    assert.include(upright, "<td>long words</td>")
    for (const angle of [90, 270]) {
      const turned = ({ x0, x1, y0, y1 }: Box): Box =>
        angle === 90
          ? { x0: 595 - y1, y0: x0, x1: 595 - y0, y1: x1 }
          : { x0: y0, y0: 842 - x1, x1: y1, y1: 842 - x0 }
      const sideways = page(
        cells.map((one) => ({ ...one, angle, box: turned(one.box) })),
        0,
        { drawings: rules.map((one) => ({ ...one, box: turned(one.box) })) }
      )
      assert.strictEqual(htmlOf([sideways])[0], upright)
    }
  })
})

describe("lists", () => {
  it("are recognized by their markers, nested by their indents", () => {
    const html = only(
      run("• first point", 60, 100),
      run("• second point that goes on", 60, 112),
      run("in a second line", 68, 124),
      run("1. inner one", 80, 136),
      run("2. inner two", 80, 148),
      run("• third point", 60, 160)
    )
    assert.strictEqual(
      html,
      "<ul><li>first point</li><li>second point that goes on in a second line<ol><li>inner one</li><li>inner two</li></ol></li><li>third point</li></ul>"
    )
  })

  it("go on at the margin where their first lines are set in, as paragraphs are", () => {
    const first = "first of some, which fills the whole of its line as far as the margin on the right"
    const html = only(
      run(`1. ${first}`, 80, 100),
      run("and goes on below.", 60, 112),
      run("2. second.", 80, 124),
      run("Something else.", 60, 148)
    )
    assert.strictEqual(
      html,
      `<ol><li>${first} and goes on below.</li><li>second.</li></ol><p>Something else.</p>`
    )
  })

  it("of a table of contents say no leaders", () => {
    const html = only(
      ...[0, 1, 2, 3].map((at) => run(`Entry ${at} . . . . . . . . . . . . ${at}`, 60, 100 + 12 * at))
    )
    assert.include(html, "<li>Entry 2 … 2</li>")
    assert.include(only(run("Wait ... what? And so on....", 60, 100)), "Wait ... what? And so on....")
  })

  it("count on from where they start, and a year is none", () => {
    assert.strictEqual(
      only(run("4. fourth", 60, 100), run("5. fifth", 60, 112)),
      '<ol start="4"><li>fourth</li><li>fifth</li></ol>'
    )
    assert.strictEqual(only(run("1. alone among all", 60, 100)), "<p>1. alone among all</p>")
  })

  it("that begin anew, or number otherwise, are other lists", () => {
    const html = only(
      run("1. one", 60, 100),
      run("2. two", 60, 112),
      run("1. one anew", 60, 124),
      run("2. two anew", 60, 136),
      run("a) alpha", 60, 148),
      run("b) beta", 60, 160)
    )
    assert.strictEqual(
      html,
      '<ol><li>one</li><li>two</li></ol><ol><li>one anew</li><li>two anew</li></ol><ol type="a"><li>alpha</li><li>beta</li></ol>'
    )
  })
})

describe("tables", () => {
  const rows = [
    ["Fruit", "Weight", "Price"],
    ["Apple", "12", "3.50"],
    ["Pear", "8", "2.10"],
    ["Plum and damson", "101", "0.75"]
  ]
  const cells = rows.flatMap((row, at) =>
    row.map((text, column) => run(text, 60 + 130 * column, 200 + 18 * at))
  )
  const expected =
    '<thead><tr><th scope="col">Fruit</th><th scope="col">Weight</th><th scope="col">Price</th></tr></thead><tbody><tr><th scope="row">Apple</th><td>12</td><td>3.50</td></tr>'

  it("are recognized by alignment", () => {
    assert.include(only(...cells), expected)
  })

  it("are recognized by rules, with their spans and their caption", () => {
    const ys = [186, 206, 224, 242, 260]
    const drawings = [
      ...ys.map((y) => rule(55, y, 445, y)),
      ...[55, 185, 315, 445].map((x) => rule(x, 186, x, 260))
    ]
    const caption = run("Table 1: Fruit of the year", 60, 176)
    const [html = ""] = htmlOf([page([caption, ...cells], 0, { drawings })])
    assert.include(html, `<table><caption>Table 1: Fruit of the year</caption>${expected}`)
    // Without the rule between the first two columns of the last row.
    const spanning = [
      ...drawings.slice(0, 5),
      rule(55, 186, 55, 260),
      rule(185, 186, 185, 242),
      rule(315, 186, 315, 260),
      rule(445, 186, 445, 260)
    ]
    assert.include(htmlOf([page(cells, 0, { drawings: spanning })])[0], 'colspan="2"')
  })

  it("keep wrapped cells together", () => {
    const wrapped = only(
      run("Name", 60, 100),
      run("What it does", 200, 100),
      run("alpha", 60, 125),
      run("Writes a line and", 200, 125),
      run("goes on to the next", 200, 137),
      run("beta", 60, 160),
      run("Reads a line and", 200, 160),
      run("comes back again", 200, 172),
      run("gamma", 60, 195),
      run("Nothing", 200, 195)
    )
    assert.include(wrapped, "<td>Writes a line and goes on to the next</td>")
    assert.strictEqual(wrapped.match(/<tr>/g)?.length, 4)
  })

  it("are not made of justified lines with wide gaps", () => {
    const row = (texts: ReadonlyArray<string>, y: number) => {
      const letters = texts.join("").length * 5
      const gap = (235 - letters) / (texts.length - 1)
      let x = 60
      return texts.map((text) => {
        const made = run(text, x, y)
        x = made.box.x1 + gap
        return made
      })
    }
    const html = only(
      ...row(["these", "words", "stand", "apart"], 100),
      ...row(["because", "their", "line", "is"], 112),
      ...row(["justified", "and", "much", "short"], 124),
      run("of words, and so it goes.", 60, 136)
    )
    assert.notInclude(html, "<table")
  })
})

describe("the rest", () => {
  it("code keeps its lines and its indents", () => {
    const html = only(
      ...lines(prose(60), 60, 300, 80),
      run("if (a < b) {", 60, 100, { font: FONT.code }),
      run("return", 72, 112, { font: FONT.code }),
      run("}", 60, 124, { font: FONT.code })
    )
    assert.include(html, "<pre><code>if (a &lt; b) {\n  return\n}</code></pre>")
  })

  it("links keep their words and lead to addresses and pages", () => {
    const runs = lines(`${prose(8)} See the site or page nine of this.`, 60, 100, 200)
    const text = runs[0]?.text ?? ""
    const over = (words: string) => {
      const x0 = 60 + text.indexOf(words) * 5
      return { x0, y0: 90, x1: x0 + words.length * 5, y1: 103 }
    }
    const links = [
      { box: over("the site"), target: { kind: "uri" as const, uri: "https://example.org/a?b=1&c=2" } },
      { box: over("page nine"), target: { kind: "page" as const, page: 8, y: undefined } },
      { box: over("of this"), target: { kind: "uri" as const, uri: "javascript:alert(1)" } }
    ]
    const [html = ""] = htmlOf([page(runs, 0, { links })])
    assert.include(
      html,
      'See <a href="https://example.org/a?b=1&amp;c=2">the site</a> or <a href="#page-9">page nine</a> of this.'
    )
  })

  it("footnotes stand at the end, referred to by their marks", () => {
    const html = only(
      run("A claim that needs a note", 60, 100),
      run("1", 185, 96, { size: 6 }),
      run("and more of the text.", 192, 100),
      ...lines(prose(60), 60, 130, 80),
      run("1", 60, 746, { size: 5 }),
      run("The note itself.", 64, 750, { size: 8 })
    )
    assert.include(html, 'note<a role="doc-noteref" href="#fn-1"><sup>1</sup></a> and more')
    assert.match(html, /<div role="doc-footnote" id="fn-1"><p><sup>1<\/sup> The note itself\.<\/p><\/div>$/)
  })

  it("footnotes of a first column stand after the second, and its text goes on there", () => {
    const words = `${prose(60, 1).slice(0, -1)} ${prose(60, 2)}`
    const all = lines(words, 0, 0, 44)
    const half = Math.ceil(all.length / 2)
    const html = only(
      ...all.slice(0, half).map(({ text }, at) => run(text, 50, 600 + 12 * at)),
      run("1", 50, 776, { size: 6 }),
      run("What the note says.", 55, 780, { size: 8 }),
      ...all.slice(half).map(({ text }, at) => run(text, 310, 600 + 12 * at)),
      run("Another paragraph.", 310, 780)
    )
    assert.strictEqual(
      html,
      `<p>${words}</p><p>Another paragraph.</p><div role="doc-footnote" id="fn-1"><p><sup>1</sup> What the note says.</p></div>`
    )
  })

  it("a text that speaks of a table is no caption of it", () => {
    const cells = [
      ["Fruit", "Weight"],
      ["Apple", "12"],
      ["Pear", "8"]
    ].flatMap((row, at) => row.map((text, column) => run(text, 60 + 130 * column, 200 + 18 * at)))
    const drawings = [
      ...[186, 206, 224, 242].map((y) => rule(55, y, 315, y)),
      ...[55, 185, 315].map((x) => rule(x, 186, x, 242))
    ]
    const [html = ""] = htmlOf([
      page([run("Table 3 shows what fruit weighs.", 60, 160), ...cells], 0, { drawings })
    ])
    assert.match(html, /^<p>Table 3 shows what fruit weighs.<\/p><table><thead>/)
  })

  it("figures take their captions; alternative text is never made up", () => {
    const drawings = [picture(3, 100, 100, 300, 220)]
    const caption = run("Figure 2: A stone in a river", 100, 240)
    const [html] = htmlOf([page([caption, ...lines(prose(60), 60, 300, 80)], 0, { drawings })])
    assert.include(
      html,
      '<figure><img data-image="3"><figcaption>Figure 2: A stone in a river</figcaption></figure>'
    )
  })

  it("fields stand where they are on the page, once with the words of their own line", () => {
    const names = ["First name", "Last name", "Street", "Town", "Country"]
    const field = { kind: "text" as const, label: undefined, value: "", checked: false, options: [] }
    const [html = ""] = htmlOf([
      page(
        [
          ...lines(prose(30), 60, 60, 80),
          ...names.map((name, at) => run(`${name}:`, 60, 200 + 24 * at)),
          run("Signed in the presence of", 60, 400)
        ],
        0,
        {
          fields: names.map((name, at) => ({
            ...field,
            name,
            box: { x0: 180, y0: 190 + 24 * at, x1: 400, y1: 204 + 24 * at }
          }))
        }
      )
    ])
    const shown = [...html.matchAll(/<label>([^<]*) <input|<p>(Signed)/g)].map(
      ([, label, end]) => label ?? end
    )
    assert.deepStrictEqual(shown, [...names, "Signed"])
    for (const name of names) assert.strictEqual(html.split(name).length, 2)
  })

  it("words beside several fields stay text", () => {
    const field = {
      kind: "checkbox" as const,
      name: "x",
      label: undefined,
      value: "",
      checked: false,
      options: []
    }
    const [html = ""] = htmlOf([
      page([run("Answer", 100, 200), ...lines(prose(30), 60, 300, 80)], 0, {
        fields: [60, 80].map((x) => ({ ...field, box: { x0: x, y0: 190, x1: x + 12, y1: 202 } }))
      })
    ])
    assert.include(html, "<p>Answer</p>")
    assert.strictEqual(html.split("<label>").length, 3)
  })

  it("fields are labelled by their own words or by those next to them", () => {
    const field = {
      kind: "text" as const,
      name: "form1.FirstName[0]",
      label: undefined,
      value: "",
      checked: false,
      options: []
    }
    const [html] = htmlOf([
      page([run("First name:", 60, 100), ...lines(prose(30), 60, 200, 80)], 0, {
        fields: [
          { ...field, box: { x0: 130, y0: 88, x1: 300, y1: 104 } },
          { ...field, box: { x0: 60, y0: 600, x1: 300, y1: 616 } }
        ]
      })
    ])
    assert.include(html, "<label>First name <input")
    assert.include(html, "<label>form1 First Name <input")
    const [boxes] = htmlOf([
      page(lines(prose(30), 60, 200, 80), 0, {
        fields: [
          {
            ...field,
            kind: "checkbox",
            label: "I agree",
            checked: true,
            box: { x0: 60, y0: 400, x1: 72, y1: 412 }
          },
          { ...field, kind: "radio", label: "By post", box: { x0: 60, y0: 430, x1: 72, y1: 442 } }
        ]
      })
    ])
    assert.include(boxes, '<label><input type="checkbox" checked="" disabled=""> I agree</label>')
    assert.include(boxes, '<label><input type="radio" disabled=""> By post</label>')
  })
})
