import { assert, it } from "vitest"

import { linesOf } from "../../../../src/reader/stages/lines/line.ts"
import { captionStart, isPrototype, markerOf } from "../../../../src/reader/stages/lines/markers.ts"
import { segmentsOf } from "../../../../src/reader/stages/lines/segment.ts"
import { FONTS, run } from "../page-builder.ts"

const isOne = (...cells: ReadonlyArray<string>): boolean =>
  linesOf(segmentsOf(cells.map((words, at) => run(words, 60 + 140 * at, 200))), FONTS).some(isPrototype)

it("a prototype says at its line's end what it declares, in brackets apart from its parameters", () => {
  for (const kind of ["[Function]", "[User Option]", "[mtasim command]", "(operation)", "(global variable)"])
    assert.isTrue(isOne("gamma(x, y)", kind), kind)
  assert.isTrue(isOne("gamma", "x", "[Function]"))
})

it("units below the names of columns, references and words in brackets are no kinds", () => {
  for (const cells of [
    ["(name)", "(hours)", "(days)"],
    ["[name]", "[hours]", "[days]"],
    ["gamma(x)", "[3]"],
    ["gamma(x)", "(3)"],
    ["gamma", "(operation)"],
    ["[Function]"]
  ])
    assert.isFalse(isOne(...cells), cells.join(" "))
})

it("a Roman number begins an item, not words that are made of its letters for 500 and 1000", () => {
  for (const [text, number] of [
    ["IV. Rivers", 4],
    ["(xl) rivers", 40],
    ["d. rivers", 4]
  ] as const)
    assert.strictEqual(markerOf(text)?.number, number, text)
  for (const text of ["XML. Rivers", "did. Rivers", "CD. Rivers", "MD) Rivers"])
    assert.isUndefined(markerOf(text), text)
})

it("a date alone on its line and a person's initials begin no item, a letter and a day with more words do", () => {
  for (const text of ["17. Januar 2022", "1. märz 2020 ", "A. B. Stone", "X. Y. Z. River writes"])
    assert.isUndefined(markerOf(text), text)
  for (const text of [
    "17. Rivers of 2022",
    "17. Januar 2022 and later",
    "A. Stone",
    "A. B is a letter",
    "I. A. of all"
  ])
    assert.isDefined(markerOf(text), text)
})

it("a caption's number ends with a mark, or with what a title begins with; prose about a figure goes on", () => {
  for (const [text, rest] of [
    ["Figure 6.1—Two containers", "Two containers"],
    ["Figure 6 — two containers", " two containers"],
    ["Fig. 3 | the way up", "the way up"],
    ["图 2：两个", "两个"],
    ["Table 4: rivers", "rivers"]
  ] as const)
    assert.deepInclude(captionStart(text), { marked: true, rest }, text)
  assert.deepInclude(captionStart("Figure 3 Two containers"), { marked: false, table: false })
  assert.deepInclude(captionStart("Table 3"), { marked: false, rest: "", table: true })
  for (const text of ["Figure 3 shows two", "Figure 3's rivers", "Figures of rivers", "Table two: rivers"])
    assert.isUndefined(captionStart(text), text)
})
