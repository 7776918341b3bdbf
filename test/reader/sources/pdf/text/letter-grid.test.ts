import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import {
  mayBeOnGrid,
  withoutGridSpaces,
  withoutTracking
} from "../../../../../src/reader/sources/pdf/text/letter-grid.ts"

const SIZE = 10

/** What is left of a text whose letters have these beginnings and widths; spaces reach from one letter to the next. */
const left = (
  text: string,
  letters: ReadonlyArray<readonly [start: number, width: number]>,
  typewriter: boolean | "tracked"
): string => {
  const units = Uint16Array.from(text, (letter) => letter.charCodeAt(0))
  const [edges, ends] = [new Float64Array(text.length), new Float64Array(text.length)]
  let letter = 0
  for (const [at, sign] of text.split("").entries()) {
    const [start, width] = letters[letter] ?? [0, 0]
    const [before, wide] = letters[letter - 1] ?? [0, 0]
    edges[at] = sign === " " ? before + wide : start
    ends[at] = sign === " " ? start : start + width
    if (sign !== " ") letter += 1
  }
  const all = { units, edges, ends, length: text.length }
  const length = typewriter === "tracked" ? withoutTracking(all, SIZE) : withoutGridSpaces(all, typewriter)
  return String.fromCharCode(...units.subarray(0, length))
}

/** Letters in the middle of cells of a grid, a place left out where the words have a space. */
const onGrid = (words: string, widths: ReadonlyArray<number>, cell: number) =>
  words.split("").flatMap((letter, at) => {
    const width = widths[at % widths.length] ?? 0
    return letter === " " ? [] : [[at * cell + (cell - width) / 2, width] as const]
  })

/** Letters of differing widths with these gaps behind them. */
const apart = (gaps: ReadonlyArray<number>) => {
  let end = 0
  return [0, ...gaps].map((gap, at): readonly [number, number] => {
    const start = end + gap
    end = start + ([3, 5.5, 4, 6][at % 4] ?? 0)
    return [start, end - start]
  })
}

describe("letters of a grid", () => {
  it("are words, as the places say that are left out between them", () => {
    expect(left("t i t l e o f i t", onGrid("title of it", [3, 5.5, 4], 6), false)).toBe("title of it")
  })

  it("are letters where they stand apart by spaces: of differing widths, or digits of one", () => {
    const widths = [3, 5.5, 4, 5, 3.5, 6]
    let end = 0
    const spaced = widths.map((width): readonly [number, number] => {
      const start = end + 3
      end = start + width
      return [start, width]
    })
    expect(left("a b c d e f", spaced, false)).toBe("a b c d e f")
    expect(left("1 2 3 4 5 6", onGrid("123456", [5], 8), false)).toBe("1 2 3 4 5 6")
  })

  it("of typewriter are words where they are nearer than its space is wide", () => {
    expect(left("t v z @ P", onGrid("tvz@P", [5], 6.3), true)).toBe("tvz@P")
    expect(left("a b c", onGrid("a b c", [5], 5.5), true)).toBe("a b c")
    // A face that only says that it is typewriter.
    expect(left("a b c", onGrid("abc", [5, 3], 6.3), true)).toBe("a b c")
  })

  it("or set apart by one gap are words, which wider gaps end; pairs may be kerned", () => {
    const tracked = [1.4, 1.4, 1.2, 1.4, 3.4, 1.4, 0.4, 1.4]
    expect(left("t r a c k e d t e", apart(tracked), "tracked")).toBe("track edte")
    expect(left("t r a cke d", apart([1.4, 1.4, 1.2, 0.9, 1.4, 1.4]), "tracked")).toBe("tracked")
  })

  it("or set as wide apart as spaces are words where nearly all gaps are alike, and wider ones end words", () => {
    const wide = [3, 6.8, 3, 7, 3, 3, 3.1, 3, 3]
    expect(left("i t i s n e a r e r", apart(wide), "tracked")).toBe("it is nearer")
    expect(left("i t i s n e a r e r", apart([3, 6.8, 3, 7, 2.2, 2.6, 3.6, 3, 3]), "tracked")).toBe(
      "i t i s n e a r e r"
    )
  })

  it("that stand apart by spaces, or mostly close, are left alone", () => {
    expect(left("a b c d e f", apart([2.5, 2.5, 2.5, 2.5, 2.5]), "tracked")).toBe("a b c d e f")
    expect(left("a b c d", apart([1.4, 1.4, 1.4]), "tracked")).toBe("a b c d")
    expect(left("to be or so", apart([0, 1.5, 0, 1.5, 0, 1.5, 0]), "tracked")).toBe("to be or so")
    expect(left("a b c d e f g", apart([0.6, 1.9, 0.8, 1.2, 1.6, 0.6]), "tracked")).toBe("a b c d e f g")
  })

  it("lose nothing but spaces", () => {
    const letter = fc.tuple(fc.double({ min: -50, max: 50 }), fc.double({ min: -1, max: 9 }))
    fc.assert(
      fc.property(
        fc.stringMatching(/^[ab ]{0,30}$/),
        fc.array(letter),
        fc.constantFrom(true, false, "tracked" as const),
        (text, letters, typewriter) => {
          expect(left(text, letters, typewriter).replaceAll(" ", "")).toBe(text.replaceAll(" ", ""))
        }
      )
    )
  })

  it("are not looked for in text of words", () => {
    expect(mayBeOnGrid(4, "words of a usual text".length, false)).toBe(false)
    expect(mayBeOnGrid(4, "t i t l e".length, false)).toBe(true)
    expect(mayBeOnGrid(1, "words of".length, true)).toBe(true)
  })
})
