/** Words in narrow cells: broken without a hyphen where they are wider than their cell, and compounds at their hyphens. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, htmlBelowText, lines, page, prose, rule, run } from "../../../page-builder.ts"

const [LEFT, MIDDLE, RIGHT] = [60, 120, 400]

/** A grid of two columns, the first one with room for ten letters. */
const grid = (rows: number) => [
  ...Array.from({ length: rows + 1 }, (_, at) => rule(LEFT, 200 + 28 * at, RIGHT, 200.4 + 28 * at)),
  ...[LEFT, MIDDLE, RIGHT].map((x) => rule(x, 200, x + 0.4, 200 + 28 * rows))
]

/** The HTML of a table whose first cells have these lines, so far from their border. */
const htmlAt = (margin: number, ...cells: ReadonlyArray<ReadonlyArray<string>>): string =>
  htmlBelowText(
    cells.flatMap((words, at) => [
      ...words.map((word, line) => run(word, LEFT + margin, 210 + 28 * at + 12 * line)),
      run(`what is meant by ${at}`, MIDDLE + 5, 210 + 28 * at)
    ]),
    grid(cells.length)
  )
const html = (...cells: ReadonlyArray<ReadonlyArray<string>>): string => htmlAt(5, ...cells)

describe("a word that is wider than its cell", () => {
  it("is one where others of its column are broken as well", () => {
    const found = html(["Name"], ["configurat", "ion"], ["measuremen", "tSpeed"], ["plain"])
    assert.include(found, ">configuration<")
    assert.include(found, ">measurementSpeed<")
  })

  it("is one where it leaves a letter by itself", () => {
    assert.include(html(["Name"], ["descriptio", "n"], ["plain"]), ">description<")
  })

  it("is one where it is centred as the names of columns are", () => {
    const centred = (above: string) =>
      htmlBelowText(
        [
          run(above, LEFT + (MIDDLE - LEFT - 5 * above.length) / 2, 210),
          run("n", LEFT + 27.5, 222),
          ...[1, 2].map((at) => run(`plain${at}`, LEFT + 1, 210 + 28 * at)),
          ...[0, 1, 2].map((at) => run(`what is meant by ${at}`, MIDDLE + 5, 210 + 28 * at))
        ],
        grid(3)
      )
    assert.include(centred("abbreviatio"), ">abbreviation<")
    assert.include(centred("descri"), ">descri n<")
  })

  it("is one where it is the only one of its column, and the page has it as one elsewhere", () => {
    // The second column's words are words of the page.
    assert.include(html(["Name"], ["fulfilwhat", "ever"], ["plain"]), ">fulfilwhat ever<")
    const found = htmlBelowText(
      [
        run("Measurements are what is meant", 60, 400),
        ...["measuremen", "ts"].map((word, line) => run(word, LEFT + 5, 210 + 12 * line)),
        ...["plain", "small"].map((word, at) => run(word, LEFT + 5, 238 + 28 * at)),
        ...[0, 1, 2].map((at) => run(`what is meant by ${at}`, MIDDLE + 5, 210 + 28 * at))
      ],
      grid(3)
    )
    assert.include(found, ">measurements<")
  })

  it("is one where it is the name of something in a program, whose rest is no other word of the page", () => {
    const named = (...words: ReadonlyArray<string>) => htmlAt(4, ["Name"], words, ["plain"])
    assert.include(named("readBuffer", "ed"), ">readBuffered<")
    assert.include(named("MAX_BUFFER", "SX"), ">MAX_BUFFERSX<")
    // A word that stands elsewhere, a constant with a word behind it, no name, and one that its column was made for.
    assert.include(named("readBuffer", "meant"), ">readBuffer meant<")
    assert.include(named("MAX_BUFFER", "ed"), ">MAX_BUFFER ed<")
    assert.include(named("readbuffer", "ed"), ">readbuffer ed<")
    assert.include(html(["Name"], ["readBuffer", "ed"], ["plain"]), ">readBuffer ed<")
  })

  it("may be another one that fills its line by chance", () => {
    assert.include(html(["Name"], ["extraction", "rate"], ["plain"]), ">extraction rate<")
  })

  it("is another one where the next letter has room", () => {
    const found = html(["Name"], ["configura", "tion"], ["measureme", "ntSpeed"], ["plain text"])
    assert.include(found, ">configura tion<")
  })

  it("is another one behind a capital, and numbers are never one", () => {
    const found = html(
      ["Name"],
      ["extraction", "Rate"],
      ["1234567.89", "1.5"],
      ["2345678.91", "2.5"],
      ["plain"]
    )
    assert.include(found, ">extraction Rate<")
    assert.include(found, ">1234567.89 1.5<")
  })
})

describe("compounds in narrow cells", () => {
  const text = (hyphens: number) =>
    Array.from({ length: 66 }, (_, at) =>
      run(`${prose(7, at).slice(0, 50)} over`, 60, 60 + 10 * (at % 80), { hyphenated: at < hyphens })
    )
  const found = (hyphens: number): string =>
    layoutPages({
      facts: { ...FACTS, pageCount: 2 },
      fonts: FONTS,
      pages: [
        page(text(hyphens)),
        page(
          [
            ...lines(prose(60), 60, 60, 90),
            ...[0, 1, 2, 3].flatMap((at) => [
              run(`no-${"abcd".charAt(at)}ccess`, LEFT + 5, 210 + 28 * at, { hyphenated: true }),
              run("state", LEFT + 5, 222 + 28 * at),
              run("what is meant", MIDDLE + 5, 210 + 28 * at)
            ]),
            ...[0, 1, 2, 3].flatMap((at) => [
              run(`boolean${at}`, LEFT + 5, 322 + 28 * at, { hyphenated: true }),
              run("prop", LEFT + 5, 334 + 28 * at),
              run("what is meant", MIDDLE + 5, 322 + 28 * at)
            ])
          ],
          1,
          { drawings: grid(8) }
        )
      ],
      others: NO_STATISTICS
    })
      .map(({ html: one }) => one)
      .join("")

  it("keep their hyphens where lines of text have none", () => {
    assert.include(found(0), ">boolean0-prop<")
  })

  it("are words that are divided where lines of text divide words", () => {
    assert.include(found(8), ">boolean0prop<")
  })
})
