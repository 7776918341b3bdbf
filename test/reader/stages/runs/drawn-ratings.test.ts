import { assert, describe, it } from "vitest"

import type { Drawing } from "../../../../src/reader/model/page-content.ts"
import { htmlOf, lines, prose, rule, run } from "../page-builder.ts"

type Path = Extract<Drawing, { readonly kind: "path" }>

/** Dots of 6 points, 10 apart, of which so many are full. */
const dots = (y: number, full: number, of = 5, more: Partial<Path> = {}): ReadonlyArray<Drawing> =>
  Array.from({ length: of }, (_, at) => {
    const drawn = rule(160 + 10 * at, y - 7, 166 + 10 * at, y - 1)
    const isFull = at < full
    return drawn.kind === "path"
      ? { ...drawn, curved: true, filled: isFull, stroked: !isFull, ...more }
      : drawn
  })

const skills = (...drawings: ReadonlyArray<Drawing>): string =>
  htmlOf(
    [
      ...lines(prose(60), 60, 60, 90),
      run("Norwegian", 60, 300),
      run("English", 60, 314),
      run("German", 60, 328)
    ],
    drawings
  )

describe("drawn ratings", () => {
  it("are said beside the words that they rate, and are no drawing", () => {
    const html = skills(...dots(300, 5), ...dots(314, 4), ...dots(328, 2))
    assert.match(html, /Norwegian.*5\/5.*English.*4\/5.*German.*2\/5/s)
    assert.notInclude(html, "<figure")
  })

  it("differ by their colour, too", () => {
    const [pale, whole] = [
      { filled: true, stroked: false, color: 0xcccccc },
      { filled: true, stroked: false }
    ]
    const html = skills(
      ...dots(300, 3, 3, whole),
      ...dots(300, 0, 5, pale).slice(3),
      ...dots(314, 5, 5, whole)
    )
    assert.match(html, /3\/5.*5\/5/s)
  })

  it("are none where all are full, none is, one stands alone, they are uneven or beside no words", () => {
    const none = (...drawings: ReadonlyArray<Drawing>) => assert.notMatch(skills(...drawings), /\d\/\d/)
    none(...dots(300, 5), ...dots(314, 5))
    none(...dots(300, 0), ...dots(314, 0))
    none(...dots(300, 3))
    none(...dots(400, 3), ...dots(420, 2))
    const uneven = dots(300, 3).map((one, at) => ({
      ...one,
      box: { ...one.box, x0: one.box.x0 + at * at, x1: one.box.x1 + at * at }
    }))
    none(
      ...uneven,
      ...uneven.map((one) => ({ ...one, box: { ...one.box, y0: one.box.y0 + 14, y1: one.box.y1 + 14 } }))
    )
  })
})
