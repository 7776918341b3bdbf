import { assert, describe, it } from "vitest"

import { htmlOf, lines, prose, run } from "../page-builder.ts"

/** The words of a paragraph of which a line ends and the next one begins so. */
const joined = (end: string, start: string): string =>
  htmlOf([
    run(`These words are set so that a line ends with ${end}`, 60, 60),
    run(`${start} and goes on below.`, 60, 72),
    ...lines(prose(330), 60, 120, 45)
  ])

describe("a line that ends inside of a word", () => {
  it("goes on without a space behind a dash, or in an address", () => {
    for (const [end, start] of [
      ["737–", "9"],
      ["a day—", "or two"],
      ["https://", "www.example.com/a"]
    ] as const)
      assert.include(joined(end, start), `with ${end}${start} and goes`)
  })

  it("has its space where the dash has one before it, and where no word begins behind it", () => {
    for (const [end, start] of [
      ["a pause –", "it"],
      ["from 1990–", "(still)"],
      ["either/or,", "it"],
      ["Kinder- ", "und"]
    ] as const)
      assert.include(joined(end, start), `with ${end.trim()} ${start} and goes`)
  })
})
