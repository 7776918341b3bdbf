/** Headings as papers set them, and the title with what stands around it. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../src/reader/pipeline.ts"
import { sectionNumber } from "../../../src/reader/stages/lines/section-number.ts"
import { NO_STATISTICS } from "../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "./page-builder.ts"

const htmlOf = (...pages: ReadonlyArray<ReadonlyArray<TextRun>>): string =>
  layoutPages({
    facts: FACTS,
    fonts: FONTS,
    pages: pages.map((runs, index) => page(runs, index)),
    others: NO_STATISTICS
  })
    .map(({ html }) => html)
    .join("")
const headings = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<h(\d)>(.*?)<\/h\d>/g)].map(
    ([, level, words = ""]) => `${level} ${words.replaceAll(/<[^>]+>/g, "")}`
  )

/** Words in small capitals: first letters larger than the others. */
const small = (number: string, words: string, x: number, y: number): ReadonlyArray<TextRun> => {
  let left = x + 5 * (number.length + 1)
  return [
    run(`${number} `, x, y),
    ...words.split(" ").flatMap((word) => {
      const set = [run(word.charAt(0), left, y), run(word.slice(1), left + 5, y, { size: 8 })]
      left += 5 + word.length * 4
      return set
    })
  ]
}

/** Sections, each with two paragraphs of text below. */
const sections = (
  set: (at: number, y: number) => ReadonlyArray<TextRun>,
  count = 4
): ReadonlyArray<TextRun> =>
  Array.from({ length: count }, (_, at) => [
    ...set(at, 150 + at * 130),
    ...lines(prose(40, at), 60, 175 + at * 130, 80),
    ...lines(prose(30, at + 7), 60, 220 + at * 130, 80)
  ]).flat()

const ROMAN = ["I", "II", "III", "IV"]

describe("a paper's sections", () => {
  it("are found in small capitals, however many words they have, and rank above those in italics", () => {
    const html = htmlOf([
      run("Of rivers and stones", 150, 60, { size: 18 }),
      ...sections((at, y) =>
        at % 2 === 0
          ? small(`${ROMAN[at / 2] ?? ""}.`, "RELATED WORK", 220, y)
          : [run(`${at === 1 ? "A" : "B"}. Data of rivers`, 60, y, { font: FONT.italic })]
      )
    ])
    assert.deepStrictEqual(headings(html), [
      "1 Of rivers and stones",
      "2 I. RELATED WORK",
      "3 A. Data of rivers",
      "2 II. RELATED WORK",
      "3 B. Data of rivers"
    ])
  })

  it("have the level that their numbers give them, in one style or in several", () => {
    const bold = { font: FONT.bold }
    const one = ["1 Rivers", "1.1 Water", "1.1.1 Cold water", "2 Stones"]
    assert.deepStrictEqual(headings(htmlOf(sections((at, y) => [run(one[at] ?? "", 60, y, bold)]))), [
      "1 1 Rivers",
      "2 1.1 Water",
      "3 1.1.1 Cold water",
      "1 2 Stones"
    ])
    const code = ["1 Calls", "1.1 \\river", "1.2 \\stone", "2 Names"]
    const commands = htmlOf(
      sections((at, y) => [run(code[at] ?? "", 60, y, at % 3 === 0 ? bold : { font: FONT.boldCode })])
    )
    assert.deepStrictEqual(headings(commands), ["1 1 Calls", "2 1.1 \\river", "2 1.2 \\stone", "1 2 Names"])
  })

  it("are no items of a list, no single line in italics and no words in capitals", () => {
    const listed = htmlOf(sections((at, y) => [run(`${at + 1}. River and stone`, 60, y)]))
    assert.deepStrictEqual(headings(listed), [])
    const italic = htmlOf(
      sections((at, y) =>
        at === 1 ? [run("1. River", 60, y, { font: FONT.italic })] : [run("Words", 60, y)]
      )
    )
    assert.deepStrictEqual(headings(italic), [])
    assert.deepStrictEqual(headings(htmlOf(sections((_, y) => [run("NOT A SECTION", 60, y)], 2))), [])
    const capitals = (words: string) =>
      headings(
        htmlOf(sections((at, y) => [run(at === 3 ? words : `${at + 1}. RIVERS AND STONES`, 60, y)]))
      ).at(-1)
    assert.strictEqual(capitals("REFERENCES"), "2 REFERENCES")
    assert.strictEqual(capitals("• WATER"), "2 3. RIVERS AND STONES")
    const running = htmlOf(
      sections((at, y) => [run(`1.${at + 1}. RIVERS`, 60, y), run(`${at + 1} STONES`, 400, y)])
    )
    assert.deepStrictEqual(headings(running), [])
  })

  it("begin with a number that is followed by words", () => {
    const kinds = (texts: ReadonlyArray<string>) => texts.map((text) => sectionNumber(text)?.scheme)
    assert.deepStrictEqual(
      kinds(["2 Data", "2.1 Data", "A.1 Data", "V.6.1. Lists", "IV. Data", "B. Data", "c) Data"]),
      ["figure", "parts", "parts", "parts", "roman", "upper", "lower"]
    )
    assert.deepStrictEqual(
      kinds(["2", "2.", "A note", "I am", "Data 2", "12 34", "1.2.3"]),
      Array(7).fill(undefined)
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        const number = sectionNumber(text)
        assert.isTrue(number === undefined || (number.length > 0 && number.length < text.length))
      })
    )
  })
})

describe("front matter", () => {
  const text = [...lines(prose(60), 60, 300, 80), ...lines(prose(60, 3), 60, 420, 80)]

  it("is the title and paragraphs around it, until the text begins", () => {
    const html = htmlOf([
      run("Technical report 7", 60, 50, { size: 12 }),
      run("Of rivers and stones", 150, 90, { size: 18 }),
      run("Ann River and Bert Stone", 180, 120, { size: 14 }),
      run("March 3, 2021", 200, 150, { size: 12 }),
      run("Introduction", 60, 270, { size: 14 }),
      ...text
    ])
    assert.deepStrictEqual(headings(html), ["1 Of rivers and stones", "2 Introduction"])
    for (const words of ["Technical report 7", "Ann River and Bert Stone", "March 3, 2021"])
      assert.include(html, `${words}</p>`)
  })

  it("leaves a title page one heading, and a chapter's opening both", () => {
    const cover = [
      run("University of Rivers", 150, 90, { size: 14 }),
      run("Of rivers and stones", 150, 190, { size: 20 }),
      run("Ann River", 200, 250, { size: 14 }),
      run("Supervisor", 200, 350, { size: 14 })
    ]
    assert.deepStrictEqual(headings(htmlOf(cover, text, text)), ["1 Of rivers and stones"])
    const chapter = [run("Chapter 3", 60, 90, { size: 14 }), run("Rivers", 60, 140, { size: 20 }), ...text]
    assert.deepStrictEqual(headings(htmlOf(text, chapter)), ["1 Chapter 3 Rivers"])
  })

  it("has its title once, on however many title pages; not where text follows", () => {
    const cover = [
      run("Of rivers and stones", 150, 190, { size: 20 }),
      run("Ann River", 200, 250, { size: 14 })
    ]
    const inner = [run("Of Rivers and Stones", 150, 150, { size: 20 }), run("Report 7", 200, 180)]
    assert.deepStrictEqual(headings(htmlOf(cover, inner, text)), ["1 Of rivers and stones"])
    const chapter = [run("Of rivers and stones", 60, 90, { size: 20 }), ...text]
    assert.lengthOf(headings(htmlOf(cover, inner, chapter)), 2)
    const later = headings(htmlOf(cover, text, text, text, text, text, text, inner))
    assert.include(later, "1 Of Rivers and Stones")
  })

  it("has its title once where a title page goes on with the second title, above what opens the document", () => {
    const cover = [
      run("Of rivers and stones", 150, 190, { size: 20 }),
      run("A guide for walkers", 150, 220),
      run("Ann River", 200, 250)
    ]
    const inner = (title: string) => [
      run(title, 60, 100, { size: 20 }),
      run("by Ann River", 60, 130),
      run("Abstract", 60, 170, { font: FONT.bold }),
      ...lines(prose(40), 60, 190, 80)
    ]
    const of = (title: string) => headings(htmlOf(cover, inner(title), text))
    assert.deepStrictEqual(of("Of rivers and stones: A guide for walkers"), of("Of rivers and stones"))
    assert.notInclude(of("Of rivers and stones: A guide for walkers").join(), "guide")
    assert.include(of("Of rivers and stones: a guide for birds").join(), "birds")
  })

  it('holds names, however their line is set; a section may have an "and", too', () => {
    const html = (words: string) =>
      htmlOf([
        run("Of rivers and stones", 60, 50, { size: 20 }),
        run(words, 60, 90, { size: 14 }),
        ...lines(prose(30), 60, 115, 80),
        run("Introduction", 60, 270, { size: 14 }),
        ...text
      ])
    assert.lengthOf(headings(html("Ann B. River and Bert Stone")), 2)
    assert.lengthOf(headings(html("Installation and Usage")), 3)
  })

  const above = (title: string, ...below: ReadonlyArray<TextRun>) =>
    headings(
      htmlOf([
        run(title, 60, 50, { size: 18 }),
        ...below,
        run("Abstract. Of rivers and of stones.", 60, 230),
        run("1 Rivers", 60, 270, { size: 14 }),
        ...text
      ])
    )
  const one = (title: string) => [`1 ${title}`, "2 1 Rivers"]

  it("has one title, with its version; what has its face or its size beside it is none", () => {
    const date = run("July 18, 2006", 60, 150, { size: 14 })
    const ann = run("Ann River", 60, 100, { size: 14 })
    assert.deepStrictEqual(above("The rivers package v0.3", ann, date), one("The rivers package v0.3"))
    const mail = run("ann@river.test", 60, 120, { font: FONT.code })
    assert.deepStrictEqual(above("Of rivers", ann, mail, date), one("Of rivers"))
    const both = run("A. River, B. Stone", 60, 100, { size: 14 })
    const mails = [mail, run("bert@stone.test", 60, 132, { font: FONT.code })]
    assert.deepStrictEqual(above("Of rivers", both, ...mails, date), one("Of rivers"))
    const society = run("Society of Rivers", 60, 110, { size: 18 })
    assert.deepStrictEqual(above("OF RIVERS", society), one("OF RIVERS"))
    assert.deepStrictEqual(above("Of rivers", society), one("Of rivers Society of Rivers"))
    const code = run("get river", 60, 120, { font: FONT.code })
    assert.deepStrictEqual(above("Of rivers", ann, code), ["1 Of rivers", "2 Ann River", "2 1 Rivers"])
  })

  it("has a title of several paragraphs, which are set alike; what is set otherwise, or has text, is no part of it", () => {
    const line = (words: string, y: number, size = 18) => run(words, 60, y, { size })
    assert.deepStrictEqual(
      above("The manual", line("for", 86), line("rivers and stones", 122), line("Ann River", 150, 14)),
      one("The manual for rivers and stones")
    )
    assert.strictEqual(
      above("The manual", line("for rivers", 86, 16), line("and stones", 122))[0],
      "1 The manual"
    )
    const section = [line("Of stones", 86), ...lines(prose(30), 60, 110, 80)]
    assert.deepStrictEqual(
      headings(
        htmlOf([run("The manual", 60, 50, { size: 18 }), ...section, line("More stones", 270), ...text])
      ),
      ["1 The manual", "1 Of stones", "1 More stones"]
    )
  })

  it("is not seen in sections whose few words announce what is shown below them", () => {
    const code = ["get river", "put stone"].map((words, at) =>
      run(words, 60, 134 + 12 * at, { font: FONT.code })
    )
    const shown = (more: ReadonlyArray<TextRun>) =>
      headings(
        htmlOf([
          run("The tool", 60, 50, { size: 20 }),
          run("Usage", 60, 86, { size: 14 }),
          run("to use it ask for a river", 60, 110),
          ...more,
          run("Options", 60, 190, { size: 14 }),
          ...text
        ])
      )
    assert.include(shown(code), "2 Usage")
    assert.notInclude(shown([]), "2 Usage")
  })

  it("begins with a title that has a text's first word; the line below is an author's, not the title's second", () => {
    const ann = run("Ann River", 60, 100, { size: 14 })
    assert.deepStrictEqual(above("Summary of rivers", ann), one("Summary of rivers"))
    const site = run("http://river.test/ann", 60, 120, { font: FONT.code })
    assert.deepStrictEqual(above("Of rivers and stones", ann, site), one("Of rivers and stones"))
    const initials = run("C. D. Stone", 60, 100, { size: 14 })
    assert.deepStrictEqual(above("Of rivers and stones", initials), one("Of rivers and stones"))
    const mail = run("Ann River ann@river.test", 60, 50, { size: 14 })
    assert.deepStrictEqual(headings(htmlOf([mail, run("1 Rivers", 60, 270, { size: 14 }), ...text])), [
      "1 1 Rivers"
    ])
  })

  it("is not seen in sections that have text of their own", () => {
    const html = htmlOf([
      run("A tool for rivers", 60, 50, { size: 20 }),
      run("Install", 60, 90, { size: 14 }),
      ...lines(prose(30), 60, 115, 80),
      run("Usage", 60, 190, { size: 14 }),
      ...lines(prose(30, 2), 60, 215, 80),
      run("Introduction", 60, 280, { size: 14 }),
      ...text
    ])
    assert.deepStrictEqual(headings(html), ["1 A tool for rivers", "2 Install", "2 Usage", "2 Introduction"])
  })
})

describe("bold lines that are spaced like paragraphs", () => {
  const page1 = (count: number) =>
    htmlOf([
      run("Of rivers and stones", 60, 50, { size: 18 }),
      ...Array.from({ length: 6 }, (_, at) => [
        ...lines(prose(24, at), 60, 90 + at * 56, 80),
        run(`Of river ${"abcdef".charAt(at)}`, 60, 124 + at * 56, at < count ? { font: FONT.bold } : {})
      ]).flat()
    ])

  it("are headings where they are many and short, and words of the text where they are few", () => {
    assert.lengthOf(headings(page1(6)), 7)
    assert.lengthOf(headings(page1(2)), 1)
  })
})

describe("a paragraph's initial", () => {
  const opened = (initial: string, y = 112, size = 24) =>
    htmlOf([
      run("1 Rivers", 60, 60, { font: FONT.bold, size: 14 }),
      run(initial, 60, y, { size }),
      run(
        "here is a river beside each of these stones, and all of them go on together",
        60 + (initial.length * size) / 2,
        100
      ),
      run(
        "to the sea in many bends, under the high bridges and past the quiet gardens",
        60 + (initial.length * size) / 2,
        112
      ),
      ...lines(prose(40), 60, 124, 80)
    ])

  it("is the first letter of its word, and no heading", () => {
    assert.match(opened("T"), /<p>There is a river .* go on together to the sea .* gardens letter stone/)
    assert.lengthOf(headings(opened("T")), 1)
  })

  it("is one letter, and stands in the line below", () => {
    assert.notInclude(opened("TT"), "TThere")
    assert.notInclude(opened("T", 106), "There")
  })
})

describe("a sentence", () => {
  const paragraphs = (html: string) => [...html.matchAll(/<p[^>]*>(.*?)<\/p>/g)].map(([, words]) => words)
  const long = "Of all the rivers in this wide country there are many that"
  const set = (above: TextRun, below: TextRun) =>
    paragraphs(
      htmlOf([above, below, ...lines(prose(60), 60, 200, 58), ...lines(prose(60, 3), 60, 400, 58)])
    )[0]

  it("is not torn by an indent, by a wider step, or by other faces at the line's end", () => {
    for (const below of [
      run("run north, and more.", 90, 112),
      run("run north, and more.", 45, 112),
      run("run north, and more.", 60, 124),
      run("runs", 60, 112, { font: FONT.code, size: 9 })
    ])
      assert.match(set(run(long, 60, 100), below) ?? "", /^Of all .* many that (?:<code>)?runs? ?/)
  })

  it("ends where a line was ended on purpose", () => {
    assert.strictEqual(
      set(run("Of all the rivers", 60, 100), run("that run north", 60, 112)),
      "Of all the rivers"
    )
    assert.strictEqual(set(run(`${long}.`, 60, 100), run("run north, and more", 90, 112)), `${long}.`)
    assert.strictEqual(set(run(long, 60, 100), run("run north, and more", 60, 132)), long)
    assert.strictEqual(set(run(long, 60, 100), run("Northern ones", 90, 112)), long)
  })
})

describe("the number of a page that stands alone", () => {
  const body = [...lines(prose(60), 60, 100, 80), ...lines(prose(60, 3), 60, 300, 80)]

  it("is left out where it is the page's own, at the edge and apart from the text", () => {
    for (const number of ["1", "– 1 –", "Page 1 of 1"])
      assert.notInclude(htmlOf([...body, run(number, 290, 800)]), `>${number}<`)
  })

  it("is kept where it is another number, stands in the page, or near the text", () => {
    assert.include(htmlOf([...body, run("17", 290, 800)]), "17")
    assert.include(htmlOf([...body, run("1", 290, 600)]), "<p>1</p>")
    const near = [...lines(prose(60, 5), 60, 730, 80), run("1", 60, 800)]
    assert.match(htmlOf([...body, ...near]), /[> ]1<\/p>/)
  })
})
