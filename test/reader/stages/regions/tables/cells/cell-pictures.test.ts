/** Pictures in the cells of a table stay there. */
import { assert, describe, it } from "vitest"

import { htmlBelowText, picture, rule, run } from "../../../page-builder.ts"

const words = ["Part", "Picture", "Only words", "", "Words and more", ""].flatMap((text, at) =>
  text === "" ? [] : [run(text, 80 + 200 * (at % 2), 216 + (at < 2 ? 0 : at < 4 ? 20 : 70))]
)
const grid = [
  ...[201, 221, 271, 321].map((y) => rule(72, y, 472, y)),
  ...[72, 272, 472].map((x) => rule(x, 201, x, 321))
]
const cells = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<t[dh](?: [^>]*)?>(.*?)<\/t[dh]>/g)].map(([, cell = ""]) =>
    cell.replaceAll(/<img[^>]*>|<\/?p[^>]*>/g, "")
  )

describe("a picture between the rules of a table", () => {
  it("is in its cell, below the words that are above it and above those below", () => {
    const html = htmlBelowText(words, [
      ...grid,
      picture(0, 280, 225, 330, 265),
      picture(1, 80, 295, 120, 319)
    ])
    assert.deepEqual(cells(html), [
      "Part",
      "Picture",
      "Only words",
      "<figure></figure>",
      "Words and more<figure></figure>",
      ""
    ])
    assert.include(
      cells(htmlBelowText(words, [...grid, picture(0, 80, 272, 120, 276 + 30)]))[4],
      "<figure></figure>"
    )
  })

  it("is in none where it covers several, or stands beside the table", () => {
    for (const one of [picture(0, 90, 225, 460, 315), picture(0, 480, 225, 530, 265)]) {
      const html = htmlBelowText(words, [...grid, one])
      assert.include(html, "<figure>")
      assert.isFalse(cells(html).some((cell) => cell.includes("<figure>")))
    }
  })
})
