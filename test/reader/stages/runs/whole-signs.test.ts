import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { withWholeSigns } from "../../../../src/reader/stages/runs/whole-signs.ts"
import { run } from "../page-builder.ts"

const texts = (...runs: ReadonlyArray<TextRun>): ReadonlyArray<string> =>
  withWholeSigns(runs).map(({ text }) => text)

describe("signs that are drawn in parts", () => {
  it("are whole: long arrows of one run, whose letters keep their places", () => {
    assert.deepStrictEqual(texts(run("A −−→ B ↦−→ C ⇐⇒ D", 60, 100)), ["A ⟶ B ⟼ C ⟺ D"])
    const [whole] = withWholeSigns([run("A −−→ B", 60, 100)])
    assert.strictEqual(whole?.edges.length, whole?.text.length === undefined ? 0 : whole.text.length + 1)
    assert.strictEqual(whole?.edges.at(-2), 60 + 6 * 5)
    const bare = { ...run("A −−→ B", 60, 100), edges: [] }
    assert.strictEqual(withWholeSigns([bare])[0]?.edges.at(-1), 60 + 7 * 5)
  })

  it("are whole where their parts are of two faces and overlap", () => {
    assert.deepStrictEqual(texts(run("x =", 60, 100), run("⇒ y", 73, 100)), ["x ", "⟹ y"])
    assert.deepStrictEqual(texts(run("=", 60, 100), run("⇒", 63, 100), run("z", 90, 100)), ["⟹", "z"])
    assert.deepStrictEqual(texts(run("a", 55, 100), run("\u0338", 60, 100), run("= b", 60.5, 100)), [
      "a",
      "≠ b"
    ])
    assert.deepStrictEqual(texts(run("\u0338∈", 60, 100)), ["∉"])
    assert.deepStrictEqual(texts(run("←", 60, 100), run("↩", 63, 100)), ["↩"])
    assert.deepStrictEqual(texts(run("↪", 60, 100), run("→ b", 63, 100)), ["↪ b"])
    assert.deepStrictEqual(texts(run("‹‹a››", 60, 100), run("‹b›", 90, 100)), ["«a»", "‹b›"])
  })

  it("stay apart where they stand side by side, on two lines, or make no sign", () => {
    assert.deepStrictEqual(texts(run("x =", 60, 100), run("⇒ y", 80, 100)), ["x =", "⇒ y"])
    assert.deepStrictEqual(texts(run("x =", 60, 100), run("⇒ y", 73, 112)), ["x =", "⇒ y"])
    assert.deepStrictEqual(texts(run("a − b → c", 60, 100)), ["a − b → c"])
    assert.deepStrictEqual(texts(run("=\u0338 b", 60, 100), run("\u0338b", 90, 100)), [
      "=\u0338 b",
      "\u0338b"
    ])
  })
})
