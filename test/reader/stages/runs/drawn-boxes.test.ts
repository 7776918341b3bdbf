import { assert, describe, it } from "vitest"

import type { Drawing } from "../../../../src/reader/model/page-content.ts"
import { htmlOf, lines, prose, rule, run } from "../page-builder.ts"

type Path = Extract<Drawing, { readonly kind: "path" }>

const square = (x: number, y: number, more: Partial<Path> = {}, side = 10): Drawing => {
  const drawn = rule(x, y - side, x + side, y)
  return drawn.kind === "path" ? { ...drawn, stroked: true, filled: false, ...more } : drawn
}
const cross = (x: number, y: number) => square(x, y, { curved: true })

/** Questions with two boxes each, drawn so. */
const questions = (...drawings: ReadonlyArray<Drawing>): string =>
  htmlOf(
    [
      ...lines(prose(60), 60, 60, 90),
      run("Charges filed?", 60, 300),
      run("Yes", 214, 300),
      run("No", 264, 300),
      run("Was it paid?", 60, 330),
      run("Yes", 214, 330),
      run("No", 264, 330)
    ],
    drawings
  ).replaceAll(/<[^>]*>/g, " ")

const boxes = [square(200, 300), square(250, 300), square(200, 330), square(250, 330)]

describe("drawn boxes", () => {
  it("are open, or crossed where strokes or a fill are in them", () => {
    const text = questions(...boxes, cross(200, 300), square(250, 330, { filled: true, color: 0 }))
    assert.match(text, /☒ Yes\s+☐ No/)
    assert.match(text, /☐ Yes\s+☒ No/)
  })

  it("are crossed by a letter that is in them, which is no word then", () => {
    const text = htmlOf(
      [
        ...lines(prose(60), 60, 60, 90),
        run("x", 202.5, 298),
        run("Paid", 214, 300),
        run("Not paid", 214, 330)
      ],
      [square(200, 300), square(200, 330)]
    ).replaceAll(/<[^>]*>/g, " ")
    assert.match(text, /☒ Paid\s+☐ Not paid/)
    assert.notMatch(text, /\bx\b/)
  })

  it("are crossed by a letter also where its face is higher than they are, and not by one above or beside them", () => {
    const said = (letter: ReturnType<typeof run>): string =>
      htmlOf(
        [
          ...lines(prose(60), 60, 60, 90),
          { ...letter, box: { ...letter.box, y0: letter.box.y0 - 4, y1: letter.box.y1 + 2 } },
          run("Paid", 214, 300),
          run("Not paid", 214, 330)
        ],
        [square(200, 300), square(200, 330)]
      ).replaceAll(/<[^>]*>/g, " ")
    assert.match(said(run("X", 202.5, 298.5)), /☒ Paid\s+☐ Not paid/)
    for (const [x, y] of [
      [202.5, 286],
      [190, 298.5]
    ] as const)
      assert.notInclude(said(run("X", x, y)), "☒")
  })

  it("are none where one stands alone, they are a grid, of any colour, or no words are beside them", () => {
    const none = (...drawings: ReadonlyArray<Drawing>) => assert.notMatch(questions(...drawings), /[☐☒]/)
    none(square(200, 300))
    none(...[0, 1, 2, 3].map((at) => square(170 + 10 * at, 300)))
    none(
      ...boxes.map((box) =>
        box.kind === "path" ? { ...box, stroked: false, filled: true, color: 0xff0000 } : box
      )
    )
    none(square(400, 300), square(400, 330))
    none(square(200, 300, {}, 30), square(200, 330, {}, 30))
  })

  /** An oval of a ballot, and what fills it. */
  const oval = (x: number, y: number, more: Partial<Path> = {}, height = 9): Drawing => {
    const drawn = rule(x, y - height, x + 16, y)
    return drawn.kind === "path" ? { ...drawn, stroked: true, filled: false, curved: true, ...more } : drawn
  }
  const filled = (x: number, y: number) => oval(x, y, { stroked: false, filled: true, color: 0 })

  it("are ovals, too, marked where they are filled, and stay beside their words in a column of their own", () => {
    const ovals = [oval(196, 300), oval(246, 300), oval(196, 330), oval(246, 330)]
    const text = questions(...ovals, filled(196, 300))
    assert.match(text, /☒ Yes\s+☐ No/)
    assert.match(text, /☐ Yes\s+☐ No/)
  })

  it("are no ovals where most are beside no words, or around a sign", () => {
    const dots = Array.from({ length: 9 }, (_, at) => oval(60 + 30 * at, 420 + 11 * at))
    assert.notMatch(questions(oval(196, 300), oval(196, 330), ...dots), /[☐☒]/)
    const signs = htmlOf(
      [
        run("1", 202, 300, { size: 8 }),
        run("First", 216, 300),
        run("2", 202, 330, { size: 8 }),
        run("Next", 216, 330)
      ],
      [oval(196, 302, {}, 14), oval(196, 332, {}, 14)]
    )
    assert.notMatch(signs, /[☐☒]/)
  })
})
