import { assert, it } from "vitest"

import { htmlOf, prose, run } from "../page-builder.ts"

/** A line of so many letters, of which the last is no space. */
const line = (letters: number, seed: number): string => `${prose(30, seed).slice(0, letters - 2)}es`

/** A justified text, lines that are longer, and an item whose second line is set in. */
const pageWith = (longer: number): string =>
  htmlOf([
    ...Array.from({ length: 8 }, (_, at) => run(line(60, at), 60, 100 + 12 * at)),
    ...Array.from({ length: longer }, (_, at) => run(line(80, at + 20), 60, 240 + 40 * at)),
    run("Ann Stone knows more than most what is to be done so that we".padEnd(60, "e"), 60, 500),
    run("go on below it.", 90, 512),
    run("Bob Stone knows it as well, and so do the others.", 60, 524)
  ])

it("a line that ends where a justified text's lines do is full, though a few stick out", () => {
  assert.match(pageWith(1), /so that we go on below it\.<\/p>/)
  assert.include(pageWith(4), "so that we</p>")
})
