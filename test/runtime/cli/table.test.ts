import { assert, describe, it } from "@effect/vitest"
import { CliOutput } from "effect/cli"
import fc from "fast-check"

import { layoutTable, cut, pad, visible } from "../../../src/runtime/cli/table.ts"

/** Escape sequences, other controls, marks that turn the direction of writing, halves of characters. */
const OBEYED = /[\p{Cc}\p{Bidi_Control}\p{Cs}]/u
const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("\u001b[2J\u001b[1;1H", "\u202egpj.exe", "a\r\nb", "\ud800", "ファイル", "👩‍👩‍👧", "\u009b31m")
)

interface Row {
  readonly a: string
  readonly b: string
  readonly c: string
}
const COLUMNS = [
  { title: "A", cell: (row: Row) => row.a, flexible: true },
  { title: "B", cell: (row: Row) => row.b },
  { title: "C", cell: (row: Row) => row.c, flexible: true }
]

describe("text for a terminal", () => {
  it("foreign text is one line that commands nothing", () => {
    assert.strictEqual(visible("Subject:\r\n\tx"), "Subject: x")
    assert.strictEqual(visible("\u001b[31mred"), "\ufffd[31mred")
    assert.strictEqual(visible("Grüße 👩‍👩‍👧 ファイル"), "Grüße 👩‍👩‍👧 ファイル")
    fc.assert(fc.property(hostile, (text) => assert.notMatch(visible(text), OBEYED)))
  })

  it("cut and pad keep to the columns of the terminal", () => {
    assert.strictEqual(cut("abcdef", 4), "abc…")
    assert.strictEqual(cut("abcd", 4), "abcd")
    assert.strictEqual(cut("ファイル", 5), "ファ…")
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 40 }), (text, columns) => {
        const shown = visible(text)
        assert.isAtMost(CliOutput.displayWidth(cut(shown, columns)), columns)
        assert.isAtLeast(CliOutput.displayWidth(pad(cut(shown, columns), columns)), columns)
      })
    )
  })
})

describe("a table", () => {
  const rows = fc.array(
    fc.record({ a: hostile, b: fc.constantFrom("sent", "delivery_delayed"), c: hostile }),
    {
      maxLength: 5
    }
  )

  it("fits every terminal, whatever is in it", () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 200 }), (all, width) => {
        const table = layoutTable(COLUMNS, all, width)
        for (const line of [table.heading ?? "", ...all.map(table.line)]) {
          assert.isAtMost(CliOutput.displayWidth(line), width, JSON.stringify(line))
          assert.notMatch(line, OBEYED)
        }
      })
    )
  })

  it("cuts what may be cut, and leaves the rest whole while there is room", () => {
    const row = { a: "a".repeat(60), b: "delivery_delayed", c: "c".repeat(20) }
    const table = layoutTable(COLUMNS, [row], 60)
    assert.strictEqual(table.line(row), `${"a".repeat(19)}…  delivery_delayed  ${"c".repeat(20)}`)
    const wide = layoutTable(COLUMNS, [row], 200)
    assert.strictEqual(wide.line(row), `${row.a}  ${row.b}  ${row.c}`)
  })

  it("elsewhere cells stand whole, with one tab between them and none in them", () => {
    fc.assert(
      fc.property(rows, (all) => {
        const table = layoutTable(COLUMNS, all, undefined)
        assert.isUndefined(table.heading)
        for (const row of all) {
          assert.deepStrictEqual(table.line(row).split("\t"), [row.a, row.b, row.c].map(visible))
        }
      })
    )
  })
})
