/** What stands in columns and is no table. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run, type Set as Look } from "../../page-builder.ts"

const htmlOf = (runs: ReadonlyArray<TextRun>): string =>
  layoutPages({ facts: FACTS, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")
const count = (html: string, tag: string): number => html.split(`<${tag}`).length - 1

/** Pairs of cells, the second ones at 160 broken into lines, each pair below all of the one before. */
const pairs = (
  of: ReadonlyArray<readonly [string, string]>,
  looks: (row: number, column: number) => Look = () => ({})
): ReadonlyArray<TextRun> => {
  let y = 200
  return of.flatMap(([first, second], at) => {
    const words = lines(second, 160, y, 60, looks(at, 1))
    const runs = [run(first, 60, y, looks(at, 0)), ...words]
    y += 12 * words.length + 4
    return runs
  })
}

const text = lines(prose(60), 60, 60, 90)

describe("items of a list", () => {
  it("are no rows, though most lines are those that their long words go on in", () => {
    const items = ["•", "•", "•"].flatMap((bullet, at) => {
      const y = 200 + 64 * at
      return [run(bullet, 60, y), ...lines(prose(40, at + 1), 78, y, 70)]
    })
    const html = htmlOf([...text, ...items])
    assert.strictEqual(count(html, "table"), 0)
    assert.strictEqual(count(html, "li>"), 3)
  })
})

describe("terms beside their definitions", () => {
  const terms = [
    ["spoofing", "occurs when a client attempts to look like another one, for whatever reason it may have"],
    ["alteration", "occurs when a client changes what is not its own."],
    ["denial", "occurs when nobody else can work, since one client takes all that there is for a long time"]
  ] as const

  it("are a list of definitions, each behind its term", () => {
    const html = htmlOf([...text, ...pairs(terms)])
    assert.strictEqual(count(html, "table"), 0)
    assert.deepEqual([count(html, "dl"), count(html, "dt"), count(html, "li")], [1, terms.length, 0])
    assert.include(html, "<dt>alteration</dt><dd>occurs when a client changes what is not its own.</dd>")
  })

  const short = [
    ["GDP", "Gross domestic product"],
    ["ISO", "International Organization for Standardization"],
    ["UID", "Unique identifier"]
  ] as const
  const set = (of: ReadonlyArray<readonly [string, string]>, apart: number) =>
    htmlOf([
      ...text,
      ...of.flatMap(([first, second], at) => [
        run(first, 60, 200 + 14 * at),
        run(second, 60 + apart, 200 + 14 * at)
      ])
    ])

  it("are a list of definitions where a tabulator parts them, be they as short as cells", () => {
    for (const apart of [54, 42.6]) {
      const html = set(short, apart)
      assert.deepEqual([count(html, "table"), count(html, "dt")], [0, short.length], String(apart))
      assert.include(html, "<dt>UID</dt><dd>Unique identifier</dd>")
    }
    assert.strictEqual(count(set(short, 47), "table"), 1)
  })

  it("are none behind a tabulator where they are values, names like those before them, or lines behind numbers", () => {
    const values = short.map(([name], at) => [name, `${at + 1}.5 kg of ${at + 7}.5`] as const)
    const names = short.map((_, at) => [`Ann Hill of Lane ${at}`, `Rue Field of ${at}`] as const)
    const counted = short.map(([, words], at) => [`${at + 14}`, words] as const)
    for (const rows of [values, names, counted]) assert.strictEqual(count(set(rows, 108), "dl"), 0)
  })

  it("keep their terms where they refer to what the page has", () => {
    const html = htmlOf([
      run("2 Rivers", 60, 40, { font: FONT.bold, size: 14 }),
      ...text,
      ...pairs([...terms, ["rivers", "are what Section 2 is about, and little else is said of them in it."]])
    ])
    assert.match(html, /<dt>rivers<\/dt><dd>are what <a href="[^"]+">Section 2<\/a> is about/)
  })

  it("are a table below names of columns, and where they may go on from the page before", () => {
    const bold = (row: number): Look => (row === 0 ? { font: FONT.bold } : {})
    const named = htmlOf([...text, ...pairs([["Threat", "What it is"], ...terms], bold)])
    assert.strictEqual(count(named, "tr"), terms.length + 1)
    assert.strictEqual(count(htmlOf(pairs(terms)), "tr"), terms.length)
  })

  it("are a table where the second cells are values", () => {
    const values = [
      ["mass", "in kilograms"],
      ["time", "in seconds"],
      ["length", "in metres"]
    ] as const
    assert.strictEqual(count(htmlOf([...text, ...pairs(values)]), "tr"), values.length)
  })
})

describe("prototypes", () => {
  const functions = ["double gamma(double x)", "double beta(double a)", "double choose(int n)"]
  const typed = (kind: string): string =>
    htmlOf([
      ...text,
      ...functions.flatMap((one, at) => [run(one, 60, 200 + 12 * at), run(kind, 480, 200 + 12 * at)])
    ])

  it("with what they declare at the line's end are no table", () => {
    assert.strictEqual(count(typed("[Function]"), "table"), 0)
    assert.strictEqual(count(typed("[User Option]"), "table"), 0)
    assert.strictEqual(count(typed("(operation)"), "table"), 0)
  })

  it("are no rows of what stands below them either", () => {
    const below = ["Let x be a number.", "Let a be another."].flatMap((words, at) => [
      run(words, 60, 236 + 12 * at),
      run("It is returned as it is.", 480 - 120, 236 + 12 * at)
    ])
    const html = htmlOf([
      ...text,
      ...functions.flatMap((one, at) => [
        run(one, 60, 200 + 12 * at),
        run("(operation)", 480, 200 + 12 * at)
      ]),
      ...below
    ])
    assert.strictEqual(count(html, "table"), 0)
  })

  it("are cells where the other ones hold something else", () => {
    assert.strictEqual(count(typed("Function"), "tr"), functions.length)
    assert.strictEqual(count(typed("[3]"), "tr"), functions.length)
    assert.strictEqual(count(typed("(3)"), "tr"), functions.length)
    for (const units of [
      ["(name)", "[hours]", "[days]"],
      ["(name)", "(hours)", "(days)"]
    ]) {
      const rows = [["Star", "Period", "Distance"], units, ["Algol", "3", "28"], ["Mira", "332", "92"]]
      const cells = rows.flatMap((row, at) =>
        row.map((words, column) => run(words, 60 + 120 * column, 200 + 12 * at))
      )
      const html = htmlOf([...text, ...cells])
      assert.strictEqual(count(html, "tr"), rows.length, units.join(" "))
      for (const unit of units) assert.include(html.replaceAll(/<t[hd][^>]*>/g, "<td>"), `<td>${unit}</t`)
    }
  })
})

describe("a listing", () => {
  const fields = ["int flags;", "int depth;", "void *next;", "char *name;"]
  const listing = (comment: (at: number) => string): string =>
    htmlOf([
      ...text,
      ...fields.flatMap((field, at) => [
        run(field, 80, 200 + 12 * at, { font: FONT.code }),
        run(comment(at), 240, 200 + 12 * at)
      ])
    ])

  it("may have comments in another face", () => {
    const html = listing((at) => `/* What it is for, ${at} */`)
    assert.strictEqual(count(html, "table"), 0)
    assert.strictEqual(count(html, "pre"), 1)
    assert.match(html, /int depth; +\/\* What it is for, 1 \*\//)
  })

  it("is none where words beside code are not marked as comments", () => {
    const html = listing((at) => `Field number ${at}`)
    assert.strictEqual(count(html, "tr"), fields.length)
    assert.strictEqual(count(html, "pre"), 0)
  })
})

describe("a listing whose lines have numbers", () => {
  const code = ["\\newif\\ifdeep", "}", "\\ifdeep", "\\fi", "\\def\\depth#1{\\relax}", "{", "\\deeptrue"]
  const numbered = (y: number) =>
    code.flatMap((line, at) => [
      run(`${at + 8}`, at < 2 ? 67.5 : 65, y + 12 * at, { size: 5 }),
      run(line, 74, y + 12 * at, { font: FONT.code })
    ])

  it("is code, however short its lines are", () => {
    const html = htmlOf([...text, ...numbered(200)])
    assert.deepEqual([count(html, "table"), count(html, "pre")], [0, 1])
    assert.match(html, /11 *\\fi\n/)
  })

  it("ends where words stand between it and the next", () => {
    const html = htmlOf([...text, ...numbered(200), run("Or think of this:", 74, 286), ...numbered(300)])
    assert.deepEqual([count(html, "table"), count(html, "pre")], [0, 2])
  })

  it("is none where the numbers are as large as words, or before words", () => {
    const rivers = ["Elbe", "Oder", "Saale", "Spree"]
    const rows = (size: number) =>
      rivers.flatMap((river, at) => [
        run(`${at + 8}`, 60, 200 + 12 * at, { size }),
        run(river, 90, 200 + 12 * at),
        run("\\deep", 150, 200 + 12 * at, { font: FONT.code })
      ])
    assert.strictEqual(count(htmlOf([...text, ...rows(10)]), "tr"), rivers.length)
    assert.strictEqual(count(htmlOf([...text, ...rows(5)]), "table"), 1)
  })

  it("may have comments in the same face, though its cells are drawn one after the other", () => {
    const rows = ["\\if", "\\or", "\\else", "\\fi"].flatMap((line, at) => [
      run(`${at + 183}`, 60, 200 + 12 * at, { size: 5 }),
      run(line, 80, 200 + 12 * at, { font: FONT.code }),
      run("% deep", 180, 200 + 12 * at, { font: FONT.code })
    ])
    assert.strictEqual(count(htmlOf([...text, ...rows]), "table"), 0)
  })
})

describe("an index", () => {
  const entries = ["\\ifdeep", "\\next", "\\river", "\\stone", "\\time"]
  const index = (leaders: string, pages: string) =>
    htmlOf([
      ...text,
      ...entries.flatMap((entry, at) => [
        run(`${entry}${leaders}`, 60, 200 + 12 * at),
        run(pages, 180, 200 + 12 * at)
      ])
    ])

  it("has pages behind what leaders are left", () => {
    for (const pages of ["4, 47", "72", "7, 12\u201314,"])
      assert.strictEqual(count(index(" . .", pages), "table"), 0, pages)
  })

  it("may have its leaders apart", () => {
    const apart = (leaders: string) =>
      htmlOf([
        ...text,
        ...entries.flatMap((entry, at) => [
          run(entry, 60, 200 + 12 * at),
          run(leaders, 130, 200 + 12 * at),
          run("37", 180, 200 + 12 * at)
        ])
      ])
    assert.strictEqual(count(apart(" . ."), "table"), 0)
    assert.strictEqual(count(apart("deep"), "tr"), entries.length)
  })

  it("is none where dots or pages are missing", () => {
    assert.strictEqual(count(index("", "47"), "tr"), entries.length)
    assert.strictEqual(count(index(" . .", "deep"), "tr"), entries.length)
  })

  it("is none where dots stand for values that are missing", () => {
    const missing = [
      ["Elbe", ".", ".", "5"],
      ["Oder", "3", "4", "7"],
      ["Saale", ".", ".", "8"],
      ["Spree", "2", ".", "9"]
    ]
    const cells = missing.flatMap((row, at) => row.map((cell, n) => run(cell, 60 + 70 * n, 200 + 12 * at)))
    assert.strictEqual(count(htmlOf([...text, ...cells]), "tr"), missing.length)
  })

  it("lists pages on further lines, which justification sets far apart", () => {
    const listed = (comma: string) =>
      htmlOf([
        ...text,
        ...[0, 1, 2, 3].flatMap((row) =>
          [0, 1, 2].map((column) => run(`${20 + 6 * row + column}${comma}`, 60 + 40 * column, 200 + 12 * row))
        )
      ])
    assert.strictEqual(count(listed(","), "table"), 0)
    assert.strictEqual(count(listed(""), "tr"), 4)
  })

  it("is none where words stand before such numbers", () => {
    const issues = ["Elbe", "Oder", "Saale", "Spree"].flatMap((river, at) => [
      run(`Part ${at + 1},`, 60, 200 + 12 * at),
      run(river, 130, 200 + 12 * at)
    ])
    assert.strictEqual(count(htmlOf([...text, ...issues]), "tr"), 4)
  })
})

describe("titles of sections whose numbers stand apart", () => {
  const rows = (title: Look, [one = "2.4", other = "2.5"] = []) => [
    ...lines(prose(40, 1), 60, 60, 90),
    ...[one, "See", other].flatMap((first, at) => {
      const look = at === 1 ? {} : title
      return [run(first, 60, 140 + at * 25, look), run("Notes of rivers", 110, 140 + at * 25, look)]
    }),
    ...lines(prose(40, 2), 60, 230, 90)
  ]

  it("are no rows where they are larger than the lines around them", () => {
    const html = htmlOf(rows({ font: FONT.bold, size: 14 }))
    assert.notInclude(html, "<table")
    assert.strictEqual([...html.matchAll(/<h\d>2\.\d Notes of rivers/g)].length, 2)
    assert.include(htmlOf(rows({ font: FONT.bold })), "<table")
  })

  it("have one figure, too, but are no years", () => {
    const html = htmlOf(rows({ font: FONT.bold, size: 14 }, ["2", "3"]))
    assert.notInclude(html, "<table")
    assert.strictEqual([...html.matchAll(/<h\d>\d Notes of rivers/g)].length, 2)
    assert.include(htmlOf(rows({ font: FONT.bold, size: 14 }, ["2024", "2025"])), "<table")
  })

  it("stand below a larger one, but not between rows as large", () => {
    const below = (size: number, look: Look) =>
      htmlOf([
        ...lines(prose(40, 1), 60, 60, 90),
        run("2", 60, 136, { ...look, size }),
        run("Waters", 110, 136, { ...look, size }),
        run("2.1", 60, 160, { font: FONT.bold, size: 12 }),
        run("Rivers", 110, 160, { font: FONT.bold, size: 12 }),
        ...["Elbe", "Oder", "Saale", "Spree"].flatMap((name, at) => [
          run(name, 60, 180 + at * 14),
          run("runs north", 110, 180 + at * 14)
        ])
      ])
    const html = below(14, { font: FONT.bold })
    assert.match(html, /<h\d>2 Waters<\/h\d>\s*<h\d>2\.1 Rivers<\/h\d>\s*<table>/)
    assert.notMatch(below(12, {}), /<h\d>2\.1 Rivers/)
  })
})

describe("mathematics in rows", () => {
  const rowsOf = (last: ReadonlyArray<string>) =>
    last.flatMap((word, row) =>
      [`${row + 4}`, `${row + 7}`, word].map((cell, column) => run(cell, 240 + 40 * column, 200 + 12 * row))
    )
  const figures = ["3", "6", "9"]

  it("are a matrix behind a bracket drawn in parts", () => {
    const bracket = (signs: string, x = 233) =>
      signs.split("").map((sign, at) => run(sign, x, 200 + (24 * at) / (signs.length - 1)))
    assert.strictEqual(count(htmlOf([...text, ...bracket("⎛⎜⎜⎝"), ...rowsOf(figures)]), "table"), 0)
    assert.strictEqual(count(htmlOf([...text, ...bracket("IIII"), ...rowsOf(figures)]), "table"), 1)
    // A row that is wider than the others may be none of theirs.
    assert.strictEqual(count(htmlOf([...text, ...bracket("⎛⎜⎜⎝", 228), ...rowsOf(figures)]), "table"), 0)
    assert.strictEqual(count(htmlOf([...text, ...bracket("⎛⎜⎜⎝", 205), ...rowsOf(figures)]), "table"), 1)
  })

  it("are equations before their numbers, which are counted on", () => {
    const columnByColumn = (last: ReadonlyArray<string>) =>
      rowsOf(last).toSorted((a, b) => a.box.x0 - b.box.x0)
    for (const drawn of [rowsOf, columnByColumn]) {
      assert.strictEqual(count(htmlOf([...text, ...drawn(["(3)", "(4)", "(5)"])]), "table"), 0)
      assert.strictEqual(count(htmlOf([...text, ...drawn(["(3)", "(1)", "(5)"])]), "table"), 1)
    }
  })
})
