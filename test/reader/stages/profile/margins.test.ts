/** What stands around a page's text: running titles, stamps, notices. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, lines, page, prose, run } from "../page-builder.ts"

const htmlOf = (...pages: ReadonlyArray<ReadonlyArray<TextRun>>): ReadonlyArray<string> =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: pages.map((runs, index) => page(runs, index)),
    others: NO_STATISTICS
  }).map(({ html }) => html)

const text = (seed: number): ReadonlyArray<TextRun> => lines(prose(200, seed), 60, 120, 90)

describe("a running title of a document of one or two pages", () => {
  it("stands beside the page's own number, at the page's edge", () => {
    const [one = "", two = ""] = htmlOf(
      [run("Of rivers", 60, 50), run("Page 1 of 2", 450, 50), ...text(1)],
      [run("2", 60, 800), run("The stones", 300, 800), ...text(2)]
    )
    assert.notInclude(one, "Of rivers")
    assert.notInclude(two, "The stones")
  })

  it("is no row of the text, and no row with another number", () => {
    const [one = "", two = ""] = htmlOf(
      [run("Rivers", 60, 800), run("1", 450, 800), ...text(1)],
      [
        run("Stones", 60, 108),
        run("Page 2", 450, 108),
        run("Total", 60, 800),
        run("34", 450, 800),
        ...text(2)
      ]
    )
    assert.include(one, "Rivers")
    for (const word of ["Stones", "Total"]) assert.include(two, word)
  })
})

it("a section's title beside the page's number is left out where other pages have their number alone, or at the other end", () => {
  const feet = [
    [run("19", 500, 800)],
    [run("20", 60, 800), run("Chapter 5. Rivers", 400, 800)],
    [run("5.2. Still water", 60, 800), run("21", 500, 800)]
  ]
  const pages = htmlOf(...feet.map((foot, at) => [...text(at + 1), ...foot]))
  for (const html of pages) assert.notMatch(html, /Rivers|Still|19|20|21/)
})

describe("a page's number far from the page's edge", () => {
  const feet = (y: number, word = "") =>
    htmlOf(...[1, 2, 3].map((at) => [...text(at), run(`${word}${at + 4}`, 300, y)]))

  it("is left out below a short block of text", () => {
    for (const [at, html] of feet(680).entries()) assert.notInclude(html, `>${at + 5}<`)
  })

  it("is text in the middle of a page, and with words", () => {
    for (const [at, html] of feet(610).entries()) assert.include(html, `>${at + 5}<`)
    for (const [at, html] of feet(680, "Rivers ").entries()) assert.include(html, `>Rivers ${at + 5}<`)
  })
})

it("a page's number is left out in words of many languages, also on a document of one page; other words with a number are text", () => {
  const foot = (words: string) => htmlOf([...text(1), run(words, 300, 650)]).join("")
  for (const words of ["- Seite 1 -", "Página 1 de 3", "Strona 1 z 3", "1 / 3", "第 1 页 共 3 页"])
    assert.strictEqual(foot(words), htmlOf(text(1))[0])
  for (const words of ["Kapitel 1", "Seite 2", "1 of them"]) assert.include(foot(words), words)
})

describe("a page's number right below the text", () => {
  const pages = (first: string, numbers: ReadonlyArray<number>) =>
    htmlOf(
      [...lines(prose(200, 1), 60, 650, 90), run(first, 300, 822)],
      ...numbers.map((number, at) => [run(`${number} A. AUTHOR`, 60, 50), ...text(at + 2)])
    )

  it("is left out where the heads of other pages count on from it", () => {
    const [one = "", ...others] = pages("7", [8, 9])
    assert.notMatch(one, />7</)
    for (const html of others) assert.notInclude(html, "AUTHOR")
  })

  it("is text where they do not", () => {
    assert.match(pages("7", [2, 3])[0] ?? "", />7</)
    assert.match(pages("7", [8])[0] ?? "", />7</)
  })
})

it("a page's number is left out above two lines that all pages begin their text with", () => {
  const pages = htmlOf(
    ...[1, 2, 3].map((at) => [
      run(String(at), 300, 40),
      run("Of rivers, continued", 60, 62),
      run("Rivers and their stones", 60, 74),
      ...lines(prose(200, at), 60, 86, 90)
    ])
  )
  for (const [at, html] of pages.entries()) {
    assert.include(html, "Of rivers, continued")
    assert.notMatch(html, new RegExp(`>\\s*${at + 1}\\b`))
  }
})

describe("three lines that two pages begin with", () => {
  const head = ["Rivers", "stones: a list of the stones", "waters: a list of the waters"]
  const begun = (y: number, seed: number) => [
    ...head.map((words, at) => run(words, 60, 50 + 12 * at)),
    ...lines(prose(200, seed), 60, y, 90)
  ]

  it("are text where more lines follow as near", () => {
    for (const html of htmlOf(begun(86, 1), begun(86, 2))) assert.include(html, "a list of the waters")
  })

  it("are a running header where the text stands apart", () => {
    for (const html of htmlOf(begun(110, 1), begun(110, 2))) assert.notInclude(html, "a list of the waters")
  })
})

describe("a line that begins several pages", () => {
  const begun = (seed: number, again: number) => [
    run("Kind: a method of rivers", 60, 50),
    ...lines(prose(100, seed), 60, 90, 90),
    run("Kind: a method of rivers", again, 400),
    ...lines(prose(100, seed + 9), 60, 440, 90)
  ]

  it("is the text's where the text repeats it on the page", () => {
    for (const html of htmlOf(begun(1, 60), begun(2, 60), begun(3, 60)))
      assert.lengthOf(html.match(/Kind: a method/g) ?? [], 2)
  })

  it("is a running title where the text has its words in another place", () => {
    for (const html of htmlOf(begun(1, 200), begun(2, 200), begun(3, 200)))
      assert.lengthOf(html.match(/Kind: a method/g) ?? [], 1)
  })
})

describe("a running line of two halves", () => {
  const head = (left: string, right: string) => [run(left, 60, 50), run(right, 400, 50)]
  const titles = ["Clear water", "Brown water", "Ice", "The source"]

  it("is left out where the chapter beside each section's title is the same", () => {
    const pages = htmlOf(
      ...titles.map((title, at) => [...head("CHAPTER 4. RIVERS", `4.${at + 1}. ${title}`), ...text(at + 1)])
    )
    for (const [at, html] of pages.entries()) assert.notMatch(html, new RegExp(`RIVERS|${titles[at]}`))
  })

  it("is text where both halves change, and where the same one is short", () => {
    const rivers = ["Rhine and Aare", "Danube and Inn", "Elbe and Saale", "Oder and Neisse"]
    for (const left of [rivers, rivers.map(() => "Sum")]) {
      const pages = htmlOf(
        ...titles.map((title, at) => [...head(left[at] ?? "", `${title} of it`), ...text(at + 1)])
      )
      for (const [at, html] of pages.entries()) assert.include(html, titles[at] ?? "?")
    }
  })
})

describe("a running line on slides, which have little else", () => {
  const FOOT = "A. Author: a short title"
  const slides = (foot: (at: number) => string, words = "alone in the water of the lake") =>
    htmlOf(
      ...["River", "Stone", "Quiet", "Margin"].map((word, at) => [
        ...(words === "" ? [] : [run(`${word} ${words}`, 60, 200)]),
        run(foot(at), 60, 800)
      ])
    )

  it("is left out where it has a counter, also where a slide comes twice", () => {
    for (const html of slides((at) => `${FOOT} ${Math.min(at, 2) + 7} / 98`))
      assert.notInclude(html, "Author")
    for (const html of slides((at) => `${FOOT} ${at + 3}`)) assert.notInclude(html, "Author")
  })

  it("is left out alone where other lines are as much as the slides' text", () => {
    const pages = htmlOf(
      ...["River", "Stone", "Quiet", "Margin"].map((word, at) => [
        run("Contents  Rivers  Stones  Lakes", 60, 20),
        run(`${word} alone in the water`, 60, 200),
        run(`${FOOT} ${at + 1} / 98`, 60, 800)
      ])
    )
    for (const html of pages) {
      assert.notInclude(html, "Author")
      assert.include(html, "Contents")
    }
  })

  it("stays without one: pages alike throughout are a form", () => {
    for (const html of slides(() => FOOT)) assert.include(html, "Author")
  })

  it("stays where it is all that the pages have", () => {
    for (const html of slides((at) => `${FOOT} ${at + 3}`, "")) assert.include(html, "Author")
  })
})

describe("a word that is slanted across the text, as a watermark is", () => {
  const across = (angle: number, words: string) => [...text(1), run(words, 250, 180, { angle, size: 40 })]

  it("is a note, and leaves the text's sentences whole", () => {
    for (const angle of [30, 45, 60, 315, 335]) {
      const [html = ""] = htmlOf(across(angle, "DRAFT"))
      assert.match(html, /<div role="note"><p[^>]*>DRAFT<\/p><\/div>/)
      assert.strictEqual(html.replace(/<div role="note">.*<\/div>/, ""), htmlOf(text(1))[0])
    }
  })

  it("is left out where all pages have it", () => {
    const pages = htmlOf(
      ...[1, 2, 3].map((at) => [...text(at), run("DRAFT", 250, 180, { angle: 45, size: 40 })])
    )
    for (const html of pages) assert.notInclude(html, "DRAFT")
  })

  it("is a line of the text where the page lay askew on a scanner", () => {
    const skewed = text(1).map((one) => ({ ...one, angle: 4 }))
    assert.strictEqual(htmlOf(skewed)[0], htmlOf(text(1))[0])
  })
})

describe("text that is turned", () => {
  it("is a table with its caption where it stands in columns, and no note beside the text", () => {
    const cells = [
      ["Name", "One", "Two"],
      ["apple", "1", "2"],
      ["pear", "3", "4"],
      ["plum", "5", "6"]
    ].flatMap((row, at) => row.map((words, column) => run(words, 70 + 100 * column, 114 + 20 * at)))
    const turned = [run("Table 1. Fruit", 70, 92), ...cells].map((one) => ({
      ...one,
      angle: 90,
      box: { x0: 600 - one.box.y1, y0: one.box.x0 + 100, x1: 600 - one.box.y0, y1: one.box.x1 + 100 }
    }))
    const [html = ""] = htmlOf([...lines(prose(150), 60, 600, 90), ...turned])
    assert.match(html, /<table[^>]*><caption>Table 1. Fruit<\/caption><thead>/)
    assert.notInclude(html, 'role="note"')
  })

  const stamp = (words: string): TextRun => ({
    ...run(words, 20, 700, { angle: 90 }),
    box: { x0: 15, y0: 300, x1: 27, y1: 700 }
  })

  it("is an aside where it stands on one page, and left out where it stands on all", () => {
    const [one = ""] = htmlOf([...text(1), stamp("arXiv:1234.5678v1 [cs.DL] 1 Jan 2020")], text(2))
    assert.match(one, /<div role="note"><p[^>]*>arXiv:1234/)
    for (const html of htmlOf(
      [...text(1), stamp("Downloaded by reader 17 on 1 May 2020")],
      [...text(2), stamp("Downloaded by reader 17 on 2 May 2020")]
    ))
      assert.notInclude(html, "Downloaded")
  })
})

describe("a notice in small print at the page's foot", () => {
  const notice = lines("Department of rivers, Stone street 4. Received in May.", 60, 780, 60, { size: 7 })

  it("stands aside where the paragraph above it goes on on the next page", () => {
    const open = text(1).slice(0, -1)
    assert.match(htmlOf([...open, ...notice])[0] ?? "", /<div role="note"><p[^>]*>Department/)
    assert.notInclude(htmlOf([...text(1), ...notice])[0] ?? "", "note")
  })
})

it("DOC-20: running lines and page numbers stay where they are asked for, as notes around the page's text", () => {
  const pages = [0, 1, 2, 3].map((index) =>
    page(
      [
        run("A handbook of rivers", 60, 30),
        ...lines(prose(120, index + 1), 60, 80, 80),
        run(String(index + 1), 290, 815)
      ],
      index
    )
  )
  const htmlOfPage = (keepsRunningLines: boolean) =>
    layoutPages({
      facts: FACTS,
      fonts: FONTS,
      pages,
      others: NO_STATISTICS,
      options: { keepsRunningLines }
    })[2]?.html ?? ""
  const note = (words: string) => `<div role="note"><p>${words}</p></div>`
  assert.notMatch(htmlOfPage(false), /handbook|role="note"/)
  const html = htmlOfPage(true)
  assert.isTrue(html.startsWith(note("A handbook of rivers")), html)
  assert.isTrue(html.endsWith(note("3")), html)
})

describe("what is all that a page says, or is said once", () => {
  it("a running line is never all that a page has", () => {
    const cards = [1, 2, 3].map((at) => [run(`Card ${at}`, 60, 100)])
    const [first, ...others] = htmlOf([run("A set of cards. Each has a page.", 60, 80), ...text(1)], ...cards)
    assert.include(first, "A set of cards")
    for (const [at, html] of others.entries()) assert.include(html, `Card ${at + 1}`)
    const [, one] = htmlOf(
      ...[1, 2, 3].map((at) => [run("Rivers", 60, 50), ...text(at), run(`${at}`, 300, 800)])
    )
    assert.notInclude(one, "Rivers")
  })

  it("an artifact that one page has is content, and one of several is none", () => {
    const artifact = (words: string, y: number): TextRun => ({ ...run(words, 60, y), artifact: true })
    const foot = "Bank of Rivers, IBAN AT12 3456"
    const [letter = ""] = htmlOf([
      artifact("Rivers Ltd", 40),
      ...text(1),
      artifact(foot, 800),
      artifact("Page 1 of 1", 820)
    ])
    assert.match(letter, /^<p[^>]*>Rivers Ltd<\/p>/)
    assert.include(letter, foot)
    assert.notInclude(letter, "Page 1")
    const pages = htmlOf(
      ...[1, 2].map((at) => [artifact("Rivers Ltd", 40), ...text(at), artifact(`${foot}${at}`, 800)])
    )
    for (const html of pages) assert.notMatch(html, /Rivers Ltd|IBAN/)
  })
})
