/** Prose beside something narrow: each is read by itself. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { segmentsOf } from "../../../../src/reader/stages/lines/segment.ts"
import { besideNarrow } from "../../../../src/reader/stages/order/beside-narrow.ts"
import { htmlOf, lines, prose, run } from "../page-builder.ts"

const sentence = "the speech of the island stayed while on the mainland it was made into one long sound"
const SPEECH = Array.from({ length: 4 }, () => sentence).join(" ")
const LEGEND = [
  "The spread of old speeches",
  "Speech of the mainland",
  "Speech of the north",
  "Other speeches"
]

const legend = (x: number, y: number, size = 8): ReadonlyArray<TextRun> =>
  LEGEND.map((words, at) => run(words, x, y + 11 * at, { size }))

/** A wide paragraph, prose that leaves room at its right from its start, and a last paragraph below. */
const wide = lines(prose(40), 60, 60, 95)
const beside = lines(SPEECH, 60, 104, 52)
const below = lines(prose(30, 2), 60, 230, 52)

const paragraphs = (html: string): ReadonlyArray<string> =>
  Array.from(html.matchAll(/<(?:p|li|td|th|h\d)[^>]*>([^<]*)/g), ([, words = ""]) => words)

describe("prose beside something narrow", () => {
  for (const [where, runs] of [
    ["drawn last", [...wide, ...beside, ...below, ...legend(370, 123)]],
    ["drawn first", [...legend(370, 123), ...wide, ...beside, ...below]],
    ["drawn in between", [...wide, ...beside.slice(0, 3), ...legend(370, 123), ...beside.slice(3), ...below]],
    ["small", [...wide, ...beside, ...below, ...legend(370, 133, 6)]]
  ] as const)
    it(`is read by itself, where that is ${where}`, () => {
      const read = paragraphs(htmlOf(runs))
      assert.include(read, SPEECH, read.join("\n"))
      assert.strictEqual(
        read.filter((one) => LEGEND.some((words) => one.includes(words))).join(" "),
        LEGEND.join(" ")
      )
    })

  it("is read by itself where that is at its left", () => {
    const right = lines(SPEECH, 230, 104, 60)
    const read = paragraphs(
      htmlOf([...wide, ...right, ...lines(prose(30, 2), 230, 230, 60), ...legend(60, 123)])
    )
    assert.include(read, SPEECH, read.join("\n"))
  })

  it("comes first as far as its paragraph goes, and goes on behind", () => {
    const read = paragraphs(htmlOf([...wide, ...beside, ...below, ...legend(370, 123)]))
    const at = (words: string) => read.findIndex((one) => one.startsWith(words))
    assert.isTrue(at("the speech") < at("The spread") && at("The spread") < at(prose(30, 2).slice(0, 20)))
  })
})

describe("what stands at the side of words and is read with them", () => {
  it("are the cells of a table without rules", () => {
    const cells = Array.from({ length: 6 }, (_, at) => [
      run("Rivers of the north that were counted last year", 60, 60 + 14 * at),
      run(`${at + 3}00 boats`, 370, 60 + 14 * at)
    ]).flat()
    assert.match(htmlOf([...cells, ...lines(prose(60), 60, 200, 90)]), /<td>300 boats<\/td>/)
  })

  const atoms = (runs: ReadonlyArray<TextRun>) =>
    segmentsOf(runs).map((segment) => {
      const { baseline, characters, order, x0, x1, y0, y1 } = segment
      return { x0, y0, x1, y1, baseline, order, characters, code: false, segment, placed: undefined }
    })
  const left = (text: string) => Array.from({ length: 5 }, (_, at) => run(text, 60, 60 + 14 * at))
  const right = (shift: number) =>
    Array.from({ length: 5 }, (_, at) => run(`${at + 3}00 boats`, 370, 60 + 14 * at + shift))
  const RIVERS = "Rivers of the north that were counted"

  it("are lines at the same heights, though they were drawn by themselves", () => {
    assert.isUndefined(besideNarrow(atoms([...left(RIVERS), ...right(0)])))
    assert.isDefined(besideNarrow(atoms([...left(RIVERS), ...right(5)])))
  })

  it("are values beside labels, which are no prose", () => {
    assert.isUndefined(besideNarrow(atoms([...left("Rivers of the north"), ...right(5)])))
  })

  it("are numbers, and words that stand far apart: each is beside its own line", () => {
    const numbers = Array.from({ length: 5 }, (_, at) => run(`${160 + at}`, 370, 65 + 14 * at))
    assert.isUndefined(besideNarrow(atoms([...left(RIVERS), ...numbers])))
    const long = Array.from({ length: 10 }, (_, at) => run(RIVERS, 60, 60 + 14 * at))
    const apart = Array.from({ length: 4 }, (_, at) => run(`${at + 3}00 boats`, 370, 65 + 28 * at))
    assert.isUndefined(besideNarrow(atoms([...long, ...apart])))
  })

  it("are two columns of one width, and cells that are drawn row by row", () => {
    const other = Array.from({ length: 5 }, (_, at) => run(RIVERS, 370, 65 + 14 * at))
    assert.isUndefined(besideNarrow(atoms([...left(RIVERS), ...other])))
    const rows = left(RIVERS).flatMap((one, at) => [one, ...right(5).slice(at, at + 1)])
    assert.isUndefined(besideNarrow(atoms(rows)))
  })
})
