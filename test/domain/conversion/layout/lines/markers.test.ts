import { assert, it } from "vitest"

import { linesOf } from "../../../../../src/domain/conversion/layout/lines/line.ts"
import { isPrototype, markerOf } from "../../../../../src/domain/conversion/layout/lines/markers.ts"
import { segmentsOf } from "../../../../../src/domain/conversion/layout/lines/segment.ts"
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
