import { assert, describe, it } from "vitest"

import { withInitials } from "../../../../src/reader/stages/runs/initials.ts"
import { run } from "../page-builder.ts"

const words = [run("very autumn my grandmother", 80, 108), run("baked this cake", 80, 120)]
const texts = (runs: Parameters<typeof withInitials>[0]) => withInitials(runs).map(({ text }) => text)

describe("an initial", () => {
  const initial = run("E", 60, 124, { size: 36 })

  it("begins its word, wherever it is drawn, and its word begins where it does", () => {
    for (const runs of [
      [initial, run("Plum cake", 60, 60), ...words],
      [...words, initial]
    ])
      assert.include(texts(runs), "Every autumn my grandmother")
    const [first] = withInitials([initial, ...words])
    assert.strictEqual(first?.box.x0, 60)
    assert.lengthOf(first?.edges ?? [], "Every autumn my grandmother".length + 1)
  })

  it("is none that is hardly larger, far off, on the words' line, on one line alone, or more than a letter", () => {
    const kept = (one: ReturnType<typeof run>, of = words) =>
      assert.deepStrictEqual(
        texts([one, ...of]),
        [one, ...of].map(({ text }) => text)
      )
    kept(run("E", 60, 124, { size: 16 }))
    kept(run("E", 20, 124, { size: 36 }))
    kept(run("E", 60, 108, { size: 36 }))
    kept(initial, words.slice(0, 1))
    kept(run("EN", 60, 124, { size: 36 }))
  })
})
