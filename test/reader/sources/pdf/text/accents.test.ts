import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { composeAccents, isAccent } from "../../../../../src/reader/sources/pdf/text/accents.ts"

/** Text whose characters start where they are said to, and are as wide. */
const compose = (text: string, starts: ReadonlyArray<number>, width: number | ReadonlyArray<number> = 5) => {
  const units = Uint16Array.from(text, (letter) => letter.charCodeAt(0))
  const edges = Float64Array.from(starts)
  const ends = edges.map((start, at) => start + (typeof width === "number" ? width : (width[at] ?? 0)))
  const length = composeAccents(units, edges, ends, units.length)
  return { text: String.fromCharCode(...units.subarray(0, length)), edges: [...edges.subarray(0, length)] }
}

describe("accents", () => {
  it("over a letter make one letter of the two, before or after it, dotless or not", () => {
    expect(compose("Br\u00a8oker", [0, 5, 10, 9.8, 15, 20, 25])).toEqual({
      text: "Bröker",
      edges: [0, 5, 9.8, 15, 20, 25]
    })
    expect(compose("f\u00a8ur", [0, 5, 5, 10]).text).toBe("für")
    const narrow = compose("Ma\u00a8\u0131eul", [0, 5, 10, 11.1, 13.9, 19, 24], [5, 5, 5, 2.8, 5, 5, 5])
    expect(narrow.text).toBe("Maïeul")
    expect(compose("a\u00af", [0, 0.4]).text).toBe("ā")
    expect(compose("`a deux", [0, 0, 5, 8, 13, 18, 23]).text).toBe("à deux")
  })

  it("belong to the letter below them, also where the word is drawn before them", () => {
    const word = compose("UNIVERSITAT\u00a8", [...Array.from("UNIVERSITAT", (_, at) => 5 * at), 45.5], 5)
    expect(word.text).toBe("UNIVERSITÄT")
    expect(word.edges).toHaveLength(11)
    const many = "\u00a8".repeat(50_000)
    expect(
      compose(
        `a${many}`,
        Array.from({ length: 50_001 }, () => 0)
      ).text
    ).toHaveLength(50_000)
  })

  it("beside a letter, or over none that there is, stay what they are", () => {
    for (const text of ["x^2", "a~b", "`quoted`", "\u00a8x\u00a8", "^^J%"])
      expect(
        compose(
          text,
          Array.from(text, (_, at) => 5 * at)
        ).text
      ).toBe(text)
    // A narrow mark before a wide letter.
    expect(compose("`A", [0, 2.8], [2.8, 7.5]).text).toBe("`A")
    expect(compose("\u00b47", [0, 0.2]).text).toBe("\u00b47")
    expect(compose("\u02dc", [0]).text).toBe("\u02dc")
    expect(isAccent(0x20d7)).toBe(true)
    expect(compose("\u20d7e", [0, 0]).text).toBe("\u20d7e")
  })

  it("never make text longer, and leave other text and its edges alone", () => {
    const some = fc.array(
      fc.record({
        unit: fc.oneof(
          fc.constantFrom(
            "a",
            "e",
            "o",
            "c",
            "n",
            " ",
            "\u00a8",
            "\u00b4",
            "`",
            "^",
            "~",
            "\u02c6",
            "\u00b8",
            "\u0131"
          ),
          fc.string({ minLength: 1, maxLength: 1 })
        ),
        width: fc.double({ min: 0, max: 10, noNaN: true })
      }),
      { maxLength: 20 }
    )
    fc.assert(
      fc.property(some, (all) => {
        const starts: Array<number> = []
        let x = 0
        for (const { width } of all) {
          starts.push(x)
          x += width
        }
        const text = all.map(({ unit }) => unit.charAt(0)).join("")
        const made = compose(
          text,
          starts,
          all.map(({ width }) => width)
        )
        expect(made.text.length).toBe(made.edges.length)
        expect(made.text.normalize("NFD").replaceAll(/\p{M}/gu, "").length).toBeLessThanOrEqual(text.length)
        expect([...made.edges]).toEqual([...made.edges].sort((a, b) => a - b))
        const plain = !/[\u00a8\u00b4`^~\u02c6\u00b8\u00af\u02c7\u02d8-\u02dd]/.test(text)
        expect(plain ? made : { text, edges: starts }).toEqual({ text, edges: starts })
      })
    )
  })
})
