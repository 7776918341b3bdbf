import { assert, describe, it } from "vitest"

import type { PageContent, StructureElement, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, picture, prose, rule, run, tag } from "../page-builder.ts"

const htmlOf = (content: PageContent): string =>
  (
    layoutPages({
      facts: { ...FACTS, tagged: true },
      fonts: FONTS,
      pages: [content],
      others: NO_STATISTICS
    })[0]?.html ?? ""
  ).replaceAll(/ data-(open|cut|element)="\d*"/g, "")

/** Runs with the marked-content ids 0, 1, 2, … from top to bottom. */
const marked = (...texts: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  texts.map((text, mcid) => run(text, 60, 60 + 14 * mcid, { mcid }))

const made = (runs: ReadonlyArray<TextRun>, ...structure: ReadonlyArray<StructureElement>): string =>
  htmlOf(page(runs, 0, { structure }))

describe("a tagged page", () => {
  it("has the headings, paragraphs and order of its structure, not of its place on paper", () => {
    const html = made(
      marked("Second in the file", "The title", "A section"),
      tag("Document", [tag("H1", [1]), tag("Sect", [tag("H2", [2]), tag("P", [0])])])
    )
    assert.strictEqual(html, "<h1>The title</h1><h2>A section</h2><p>Second in the file</p>")
  })

  it("has no headings that are paragraphs by their length, or sentences, whatever their tags say", () => {
    const sentence = "It goes on below the first of all the words, and up to the very last."
    const tagged = (text: string): string => made(marked(text), tag("Document", [tag("H1", [0])]))
    assert.strictEqual(tagged(prose(40)), `<p>${prose(40)}</p>`)
    assert.strictEqual(tagged(sentence), `<p>${sentence}</p>`)
    assert.match(tagged(sentence.slice(0, -1)), /^<h1>/)
    assert.match(tagged("It goes on."), /^<h1>/)
  })

  it("has lists, nested, with labels dropped and numbers kept", () => {
    const item = (label: number, body: number, ...more: ReadonlyArray<StructureElement>) =>
      tag("LI", [tag("Lbl", [label]), tag("LBody", [body, ...more])])
    const html = made(
      marked("c.", "third", "•", "inner", "d.", "fourth"),
      tag("L", [item(0, 1, tag("L", [item(2, 3)])), item(4, 5)])
    )
    assert.strictEqual(
      html,
      '<ol start="3" type="a"><li>third<ul><li>inner</li></ul></li><li>fourth</li></ol>'
    )
  })

  it("counts a list as its tags say, where they name a way of counting", () => {
    const items = ["one", "two"].map((_, at) => tag("LI", [tag("LBody", [at])]))
    const counted = (ListNumbering: string) =>
      made(marked("one", "two"), tag("L", items, { attributes: { ListNumbering } }))
    assert.strictEqual(counted("LowerRoman"), '<ol type="i"><li>one</li><li>two</li></ol>')
    for (const name of ["Disc", "constructor", "toString"])
      assert.strictEqual(counted(name), "<ul><li>one</li><li>two</li></ul>")
  })

  it("keeps no letter that stands for a bullet in an item's words", () => {
    const html = (font: number) => {
      const runs = ["it goes", "it stays"].flatMap((words, at) => [
        run("o", 60, 60 + 14 * at, { font, mcid: at }),
        run(words, 80, 60 + 14 * at, { mcid: at })
      ])
      return made(runs, tag("L", [tag("LI", [tag("LBody", [0])]), tag("LI", [tag("LBody", [1])])]))
    }
    assert.strictEqual(html(FONT.code), "<ul><li>it goes</li><li>it stays</li></ul>")
    // The same face's may be a word.
    assert.include(html(FONT.plain), "o it goes")
  })

  it("has lists of definitions where labels are words; beside other labels such words stay before their item's", () => {
    const item = (label: number, body: number) => tag("LI", [tag("Lbl", [label]), tag("LBody", [body])])
    const list = (...labels: ReadonlyArray<string>) =>
      made(
        marked(...labels.flatMap((label, at) => [label, `meaning ${at + 1}`])),
        tag(
          "L",
          labels.map((_, at) => item(2 * at, 2 * at + 1))
        )
      )
    assert.strictEqual(
      list("Spoofing", "Two words"),
      "<dl><dt>Spoofing</dt><dd>meaning 1</dd><dt>Two words</dt><dd>meaning 2</dd></dl>"
    )
    assert.strictEqual(list("•", "Denial"), "<ul><li>meaning 1</li><li>Denial meaning 2</li></ul>")
    // A font of signs may have letters in the place of bullets.
    assert.strictEqual(list("n", "n"), "<ul><li>meaning 1</li><li>meaning 2</li></ul>")
    assert.strictEqual(
      list("(ii)", "(iii)"),
      '<ol start="2" type="i"><li>meaning 1</li><li>meaning 2</li></ol>'
    )
  })

  it("has tables with heads, row headers, spans and captions", () => {
    const html = made(
      marked("Fruit of the year", "Name", "In numbers", "Apple", "12", "3.50"),
      tag("Table", [
        tag("Caption", [0]),
        tag("THead", [tag("TR", [tag("TH", [1]), tag("TH", [2], { attributes: { ColSpan: 2 } })])]),
        tag("TBody", [
          tag("TR", [tag("TH", [3], { attributes: { Scope: "Row" } }), tag("TD", [4]), tag("TD", [5])])
        ])
      ])
    )
    assert.strictEqual(
      html,
      '<table><caption>Fruit of the year</caption><thead><tr><th scope="col">Name</th><th scope="colgroup" colspan="2">In numbers</th></tr></thead><tbody><tr><th scope="row">Apple</th><td>12</td><td>3.50</td></tr></tbody></table>'
    )
  })

  it("shows the part of the page that a figure is drawn on, unless one image is all of it", () => {
    const path = (mcid: number, x0: number, y0: number, x1: number, y1: number) => ({
      ...rule(x0, y0, x1, y1),
      mcid
    })
    const structure = [
      tag("P", [0]),
      tag("Figure", [7], { alt: "A chart" }),
      tag("Figure", [8], { alt: "A river" })
    ]
    const content = page(marked("Above"), 0, {
      structure,
      drawings: [
        path(7, 60, 200, 200, 210),
        path(7, 60, 220, 150, 300),
        picture(0, 60, 400, 200, 500, 8),
        path(8, 59, 399, 201, 501)
      ]
    })
    assert.strictEqual(
      htmlOf(content),
      '<p>Above</p><figure><img data-region="60 200 200 300" alt="A chart" width="187"></figure>' +
        '<figure><img data-image="0" alt="A river"></figure>'
    )
  })

  it("has figures with the document's own words for them", () => {
    const content = page(marked("Below the picture", "A river"), 0, {
      structure: [tag("Figure", [7, tag("Caption", [1])], { alt: "A river at night" }), tag("P", [0])],
      drawings: [picture(4, 60, 200, 200, 300, 7)]
    })
    assert.strictEqual(
      htmlOf(content),
      '<figure><img data-image="4" alt="A river at night"><figcaption>A river</figcaption></figure><p>Below the picture</p>'
    )
  })

  it("has pictures that are in no figure where they stand in its text, or at its end", () => {
    const shown = (...pictures: PageContent["drawings"]) =>
      htmlOf(
        page(marked("Before", "after"), 0, {
          structure: [
            tag("P", [0, tag("Span", [2])]),
            tag("P", [tag("InlineShape", [3])]),
            tag("P", [1]),
            tag("Artifact", [4]),
            tag("Figure", [5])
          ],
          drawings: pictures
        })
      )
    const at = (index: number, mcid?: number) => picture(index, 60, 200, 200, 300, mcid)
    const image = (index: number) => `<figure><img data-image="${index}"></figure>`
    assert.strictEqual(
      shown(at(6), at(2, 2), at(3, 3), at(4, 4), at(5, 5)),
      `<p>Before</p>${image(2)}${image(3)}<p>after</p>${image(5)}${image(6)}`
    )
    assert.strictEqual(shown(picture(2, 50, 50, 200, 150, 2)), "<p>Before</p><p>after</p>")
  })

  it("has formulas as MathML where their places tell, and those within a line in their paragraph", () => {
    const html = made(
      [
        ...inARow(0, 60, "If ", "n > 2 ", "then"),
        run("a", 100, 100, { mcid: 3 }),
        run("2", 106, 96, { mcid: 3, size: 6 }),
        run(" = 4", 110, 100, { mcid: 3 }),
        run("(7)", 300, 100, { mcid: 4 }),
        run("holds", 60, 140, { mcid: 5 })
      ],
      tag("P", [0, tag("Formula", [1]), 2]),
      tag("P", [tag("Formula", [3, tag("Lbl", [4])])]),
      tag("P", [5, tag("Formula", [], { alt: "the sum" })])
    )
    assert.strictEqual(
      html,
      '<p>If n &gt; 2 then</p><p><math display="block"><mrow><msup><mi mathvariant="normal">a</mi><mn>2</mn></msup><mo>=</mo><mn>4</mn></mrow></math> (7)</p>' +
        '<p>holds</p><p><span role="math">the sum</span></p>'
    )
  })

  it("shows formulas that are pictures, with what they say", () => {
    const content = page(marked("Before"), 0, {
      structure: [tag("P", [0]), tag("Formula", [7], { alt: "E = mc²" })],
      drawings: [picture(4, 60, 200, 200, 240, 7)]
    })
    assert.strictEqual(htmlOf(content), '<p>Before</p><figure><img data-image="4" alt="E = mc²"></figure>')
  })

  it("has headings that are tagged as items, with their numbers, and items after a sign that no other list has", () => {
    const item = (...children: Parameters<typeof tag>[1]) => tag("LI", children)
    assert.strictEqual(
      made(
        marked("2.", "Scope", "Text", "•", "Terms"),
        tag("L", [
          item(tag("Lbl", [0]), tag("LBody", [tag("H2", [1]), tag("P", [2])])),
          item(tag("Lbl", [3]), tag("LBody", [tag("H2", [4])]))
        ])
      ),
      "<h2>2. Scope</h2><p>Text</p><h2>Terms</h2>"
    )
    assert.strictEqual(
      made(
        marked("\u{1f8ad} first", "$ second"),
        tag("L", [item(tag("LBody", [0])), item(tag("LBody", [1]))])
      ),
      "<ul><li>first</li><li>$ second</li></ul>"
    )
  })

  it("has listings of paragraphs in code one below another, empty ones between them; but of one paragraph none in cells and items", () => {
    const code = (text: string, mcid: number, x: number) =>
      run(text, x, 60 + 12 * mcid, { mcid, font: FONT.code, size: 10 })
    const runs = [
      run("Say:", 60, 60, { mcid: 0 }),
      code("if (a) {", 1, 60),
      code("b()", 2, 72),
      code("}", 4, 60),
      run("or", 60, 120, { mcid: 5 }),
      code("npm i", 6, 60)
    ]
    const paragraphs = [0, 1, 2, 3, 4, 5, 6].map((mcid) => tag("P", [mcid]))
    assert.strictEqual(
      made(runs, ...paragraphs),
      "<p>Say:</p><pre><code>if (a) {\n  b()\n\n}</code></pre><p>or</p><pre><code>npm i</code></pre>"
    )
    const item = tag("L", [tag("LI", [tag("LBody", [tag("P", [6])])])])
    assert.include(made(runs, ...paragraphs.slice(0, 6), item), "<li><code>npm i</code></li>")
    const cells = tag("Table", [tag("TR", [tag("TD", [tag("P", [5])]), tag("TD", [tag("P", [6])])])])
    assert.include(made(runs, ...paragraphs.slice(0, 5), cells), "<td><code>npm i</code></td>")
    const listed = tag("L", [tag("LI", [tag("LBody", [5, tag("P", [1]), tag("P", [2])])])])
    assert.include(
      made(runs, tag("P", [0]), listed, tag("P", [4]), tag("P", [6])),
      "<li>or<pre><code>if (a) {\n  b()</code></pre></li>"
    )
    const letter = lines(prose(40), 60, 60, 60, { mcid: 0, font: FONT.code })
    assert.notInclude(made(letter, tag("P", [0])), "<pre")
    const large = run("printf", 60, 60, { mcid: 0, size: 20, font: FONT.code })
    assert.include(
      made([large, ...lines(prose(60), 60, 100, 80, { mcid: 1 })], tag("P", [0]), tag("P", [1])),
      "<h1><code>printf</code></h1>"
    )
  })

  it("has the title that is tagged as one, or as a paragraph above its headings and larger than these", () => {
    const titled = (size: number, type: string, ...before: ReadonlyArray<StructureElement>) =>
      made(
        [
          run("Annual report", 60, 60, { mcid: 0, size }),
          run("Members", 60, 90, { mcid: 1, size: 14 }),
          ...lines(prose(30), 60, 120, 80, { mcid: 2 })
        ],
        ...before,
        tag(type, [0]),
        tag("H1", [1]),
        tag("P", [2])
      )
    const title = '<h1 data-title="">Annual report</h1><h1>Members</h1>'
    assert.include(titled(14, "Title"), title)
    assert.include(titled(24, "P"), title)
    assert.include(titled(15, "P"), "<p>Annual report</p>")
    const below = made(
      [
        run("Members", 60, 60, { mcid: 0, size: 14 }),
        run("A line from the text", 60, 90, { mcid: 1, size: 24 })
      ],
      tag("H1", [0]),
      tag("P", [1])
    )
    assert.include(below, "<p>A line from the text</p>")
  })

  it("has heads of tables that no tag names, by their looks; those of tags alone where there are some", () => {
    const table = (type: string, first: ReadonlyArray<string>, face: number = FONT.plain) =>
      made(
        [first, ["Oslo", "12", "30"], ["Rome", "9", "28"]].flatMap((row, y) =>
          row.map((text, x) =>
            run(text, 60 + 100 * x, 60 + 20 * y, { mcid: 3 * y + x, ...(y === 0 && { font: face }) })
          )
        ),
        tag(
          "Table",
          [0, 1, 2].map((y) =>
            tag(
              "TR",
              [0, 1, 2].map((x) => tag(x === 0 && y > 0 ? type : "TD", [3 * y + x]))
            )
          )
        )
      )
    const names = ["Town", "Boats", "Crew"]
    assert.match(table("TD", names), /^<table><thead><tr><th scope="col">Town<\/th>.*<\/thead>/)
    assert.match(table("TD", names, FONT.bold), /<thead>/)
    assert.notInclude(table("TH", names), "<thead>")
    assert.notInclude(table("TD", ["Kiel", "7", "12"]), "<thead>")
  })

  it("has heads of tables whose first cell is empty", () => {
    const html = made(
      [run("Boats", 160, 60, { mcid: 0 }), run("Oslo", 60, 80, { mcid: 1 }), run("12", 160, 80, { mcid: 2 })],
      tag("Table", [tag("TR", [tag("TD", []), tag("TH", [0])]), tag("TR", [tag("TD", [1]), tag("TD", [2])])])
    )
    assert.match(html, /<thead><tr><td><\/td><th scope="col">Boats<\/th><\/tr><\/thead>/)
  })

  it("says in which language its parts are, and what stands for what", () => {
    const html = made(
      marked("In English", "mais oui", "*", "after"),
      tag("P", [0, tag("Span", [1], { lang: "fr" }), tag("Span", [2], { actualText: "star" })]),
      tag("P", [3], { lang: "de" })
    )
    assert.strictEqual(html, '<p>In English <span lang="fr">mais oui</span> star</p><p lang="de">after</p>')
  })

  /** Runs of one line, each where the one before ends, with the marked-content ids from `mcid` on. */
  const inARow = (mcid: number, y: number, ...texts: ReadonlyArray<string>): ReadonlyArray<TextRun> => {
    let x = 60
    return texts.map((text, at) => {
      const next = run(text, x, y, { mcid: mcid + at })
      x = next.box.x1
      return next
    })
  }

  it("tears no word, and no line of a script without spaces, where a language begins or other words stand for some", () => {
    const spans = (lang: string, ...mcids: ReadonlyArray<number>) =>
      mcids.map((mcid) => tag("Span", [mcid], { lang }))
    const html = made(
      [
        ...inARow(0, 60, "Range 290", "-", "310 of A", "utoCAD, Lua", "T", "E X", "."),
        ...inARow(7, 100, "图", "1", "应具有自"),
        ...inARow(10, 114, "明性")
      ],
      tag("P", [
        0,
        ...spans("fi", 1),
        2,
        ...spans("fr", 3),
        tag("Span", [4, 5], { actualText: "TeX", lang: "fr" }),
        6
      ]),
      tag("P", [...spans("zh", 7), 8, ...spans("zh", 9, 10)])
    )
    assert.strictEqual(
      html,
      '<p>Range 290<span lang="fi">-</span>310 of A<span lang="fr">utoCAD, LuaTeX</span>.</p>' +
        '<p><span lang="zh">图</span>1<span lang="zh">应具有自明性</span></p>'
    )
  })

  it("has the words of one language, and a space between languages, whole over lines", () => {
    const html = made(
      marked("mais", "oui", "in English", "ja"),
      tag("P", [
        tag("Span", [0], { lang: "fr" }),
        tag("Span", [1], { lang: "fr" }),
        2,
        tag("Span", [3], { lang: "de" })
      ])
    )
    assert.strictEqual(html, '<p><span lang="fr">mais oui</span> in English <span lang="de">ja</span></p>')
  })

  it("keeps words that stand for nothing that is printed", () => {
    const html = made(
      marked("Before", "after"),
      tag("P", [0, tag("Span", [7], { actualText: "a star", lang: "en" }), 1])
    )
    assert.strictEqual(html, '<p>Before <span lang="en">a star</span> after</p>')
  })

  it("has notes, and references to them", () => {
    const html = made(
      [
        run("A claim", 60, 60, { mcid: 0 }),
        run("1", 96, 56, { mcid: 1, size: 6 }),
        run("1 The note.", 60, 400, { mcid: 2 })
      ],
      tag("P", [0, tag("Reference", [1])]),
      tag("Note", [2])
    )
    assert.strictEqual(
      html,
      '<p>A claim<a role="doc-noteref" href="#fn-1"><sup>1</sup></a></p><div role="doc-footnote" id="fn-1"><p><sup>1</sup> The note.</p></div>'
    )
  })

  it("leaves out artifacts and keeps what its structure forgot", () => {
    const forgotten = ["Forgotten.", "Also left behind."]
    const pages = forgotten.map((text, index) =>
      page(
        [
          run("Running head", 60, 30, { artifact: true }),
          ...lines(prose(60, index), 60, 100, 80, { mcid: 0 }),
          run(text, 60, 500)
        ],
        index,
        { structure: [tag("P", [0])] }
      )
    )
    const laidOut = layoutPages({
      facts: { ...FACTS, pageCount: 2, tagged: true },
      fonts: FONTS,
      pages,
      others: NO_STATISTICS
    })
    for (const [index, { html }] of laidOut.entries())
      assert.strictEqual(
        html.replaceAll(/ data-element="\d+"/g, ""),
        `<p>${prose(60, index)}</p><p>${forgotten[index]}</p>`
      )
  })

  it("keeps an artifact that no other page of the document has: what is said once is content", () => {
    const runs = [
      ...lines(prose(60), 60, 100, 80, { mcid: 0 }),
      run("Bank of Somewhere, account 4711", 60, 760, { artifact: true })
    ]
    assert.include(made(runs, tag("P", [0])), "Bank of Somewhere, account 4711")
  })

  it("leaves out what its structure says is an artifact", () => {
    const html = made(marked("A paragraph.", "Draft"), tag("P", [0]), tag("Artifact", [1]))
    assert.strictEqual(html, "<p>A paragraph.</p>")
  })

  it("leaves out running lines that were tagged as text", () => {
    const pages = Array.from({ length: 6 }, (_, index) =>
      page(
        [
          run("A book of running heads", 60, 40, { size: 8, mcid: 0 }),
          ...lines(prose(120, index), 60, 100, 80, { mcid: 1 })
        ],
        index,
        { structure: [tag("P", [0]), tag("P", [1])] }
      )
    )
    const laidOut = layoutPages({
      facts: { ...FACTS, pageCount: 6, tagged: true },
      fonts: FONTS,
      pages,
      others: NO_STATISTICS
    })
    for (const [index, { html }] of laidOut.entries())
      assert.strictEqual(html.replaceAll(/ data-element="\d+"/g, ""), `<p>${prose(120, index)}</p>`)
  })

  it("has headings by their looks where its structure names none, and only there", () => {
    const runs = [
      run("Large words", 60, 60, { size: 18, mcid: 0 }),
      ...lines(prose(60), 60, 100, 80, { mcid: 1 })
    ]
    assert.strictEqual(made(runs, tag("P", [0]), tag("P", [1])), `<h1>Large words</h1><p>${prose(60)}</p>`)
    const named = made(
      [...runs, run("Named", 60, 40, { mcid: 2 })],
      tag("H2", [2]),
      tag("P", [0]),
      tag("P", [1])
    )
    assert.strictEqual(named, `<h2>Named</h2><p>Large words</p><p>${prose(60)}</p>`)
  })

  it("says what a whole paragraph stands for", () => {
    assert.strictEqual(
      made(marked("D r o p c a p"), tag("P", [0], { actualText: "Drop cap" })),
      "<p>Drop cap</p>"
    )
    const bold = [
      run("L a r g e", 60, 60, { mcid: 0, size: 20, font: FONT.bold }),
      ...lines(prose(60), 60, 100, 80, { mcid: 1 })
    ]
    assert.strictEqual(
      made(bold, tag("P", [0], { actualText: "Large" }), tag("P", [1])),
      `<h1>Large</h1><p>${prose(60)}</p>`
    )
  })

  it("is read by its looks where the structure tells of little", () => {
    const runs = [run("Tagged", 60, 60, { mcid: 0 }), ...lines(prose(60), 60, 100, 80)]
    assert.include(made(runs, tag("H1", [0])), `<p>${prose(60)}</p>`)
    assert.notInclude(made(runs, tag("H1", [0])), "<h1>")
  })

  it("ends, however deep its structure is", () => {
    let deep = tag("P", [0])
    for (let at = 0; at < 5000; at++) deep = tag("Div", [deep])
    assert.include(made(marked("Some words"), deep), "Some words")
  })
})
