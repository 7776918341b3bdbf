/** Where one heading ends and another begins, and larger lines that are none. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run, type Set as Look } from "../page-builder.ts"

const bold = { font: FONT.bold }
const italic = { font: FONT.italic }

const headings = (runs: ReadonlyArray<TextRun>): ReadonlyArray<string> => {
  const pages = [page([run("Of rivers", 60, 50, { ...bold, size: 20 }), ...runs])]
  const [only] = layoutPages({ facts: FACTS, fonts: FONTS, pages, others: NO_STATISTICS })
  return [...(only?.html ?? "").matchAll(/<h\d>(.*?)<\/h\d>/g)].flatMap(([, words = ""]) => {
    const plain = words.replaceAll(/<[^>]+>/g, "")
    return plain === "Of rivers" ? [] : [plain]
  })
}

/** Text, these lines with their steps, and text again. */
const between = (rows: ReadonlyArray<readonly [words: string, step: number, set: Look]>) => {
  const runs = [...lines(prose(40), 60, 90, 90)]
  let y = 126
  for (const [words, step, set] of rows) {
    y += step
    runs.push(run(words, 60, y, set))
  }
  return [...runs, ...lines(prose(40, 7), 60, y + 16, 90), ...lines(prose(160, 3), 60, y + 90, 90)]
}

describe("a heading right below another one", () => {
  const large = { ...bold, size: 12 }

  it("is one of its own where both have numbers, and the second has parts", () => {
    assert.deepStrictEqual(
      headings(
        between([
          ["2 Of the Danube", 24, large],
          ["2.1 Of its spring", 14, large]
        ])
      ),
      ["2 Of the Danube", "2.1 Of its spring"]
    )
  })

  it("is its second line where either has no number", () => {
    for (const [first, second] of [
      ["2 Of the Danube and of", "All that feed it"],
      ["Of the Danube in feet, from", "2.1 To nine of them"]
    ] as const)
      assert.deepStrictEqual(
        headings(
          between([
            [first, 24, large],
            [second, 14, large]
          ])
        ),
        [`${first} ${second}`]
      )
  })
})

describe("numbered words in italics", () => {
  const sections = (...first: Parameters<typeof between>[0]) =>
    headings([
      ...between(first),
      ...["2.2 Image", "2.3 Depth"].flatMap((words, at) => [
        run(words, 60, 500 + 80 * at, italic),
        ...lines(prose(30, at), 60, 518 + 80 * at, 90)
      ])
    ])

  it("head a section also where they stand right below a heading", () => {
    const above = ["2 Of maps", 24, bold] as const
    assert.deepStrictEqual(sections(above, ["2.1 Map of it", 12, italic]), [
      "2 Of maps",
      "2.1 Map of it",
      "2.2 Image",
      "2.3 Depth"
    ])
    assert.notInclude(sections(["and of all of it.", 12, {}], ["2.1 Map of it", 12, italic]), "2.1 Map of it")
  })

  it("end where upright words begin a sentence, however far they reach", () => {
    const long = "2.1 Map of all rivers that are seen from above and of their lakes, as they were found"
    assert.include(sections([long, 24, italic], ["Upright words of the text", 12, {}]), long)
    assert.notInclude(sections([long, 24, italic], ["upright words of the text", 12, {}]), long)
    const plain = long.slice(4)
    assert.notInclude(sections([plain, 24, italic], ["Upright words of the text", 12, {}]), plain)
  })
})

describe("larger lines", () => {
  const stack = (words: ReadonlyArray<string>, step: number, size = 11) =>
    headings(between(words.map((one, at) => [one, at === 0 ? 24 : step, { size }] as const)))
  const address = ["River Street 16", "28760 Lakes", "Telephone 34 91", "Of all days"]

  it("are an address or a list where as many as a heading has stand right below each other", () => {
    assert.deepStrictEqual(stack(address, 13), [])
    assert.deepStrictEqual(stack(address, 24), address)
    assert.deepStrictEqual(stack(address.slice(1), 13), address.slice(1))
    const parts = ["1.1 River", "1.2 Lakes", "1.3 Sea", "1.4 Ice"]
    assert.deepStrictEqual(stack(parts, 13), [])
    assert.deepStrictEqual(stack(parts, 20, 16), [])
  })

  it("are a title's where they are large and have no numbers", () => {
    const words = ["River Street 16", "Of all its lakes", "Telephones", "And of the days"]
    const rows = words.map((one, at) => run(one, at % 2 === 0 ? 200 : 60, 150 + 20 * at, { size: 16 }))
    assert.deepStrictEqual(
      headings([...lines(prose(40), 60, 90, 90), ...rows, ...lines(prose(160, 3), 60, 230, 90)]),
      words
    )
  })

  it("are words of the text where they end as a Chinese sentence or a part of it does", () => {
    assert.deepStrictEqual(stack(["河流与湖泊"], 13), ["河流与湖泊"])
    for (const end of ["。", "，", "；"]) assert.deepStrictEqual(stack([`河流与湖泊${end}`], 13), [])
  })
})
