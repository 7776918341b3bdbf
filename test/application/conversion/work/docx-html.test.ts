import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"

import { layer as layerAssembly } from "../../../../src/adapters/html/html-assembly.ts"
import { docxHtml, joinParts } from "../../../../src/application/conversion/work/word-document.ts"
import { DocxConverter } from "../../../../src/ports/conversion/documents.ts"
import { type DocxPart, MAX_PART } from "../../../../src/reader/model/word-document.ts"
import { splitBlocks } from "../../../../src/reader/sources/docx/split-blocks.ts"

const row = (at: number) => `<tr><td><p>${at} ${"x".repeat(500)}</p></td><td><img src="a" /></td></tr>`
const rows = (count: number) => Array.from({ length: count }, (_, at) => row(at)).join("")

/** A converter that gives these parts, without pictures. */
const giving = (parts: ReadonlyArray<DocxPart>) =>
  Layer.mock(DocxConverter, {
    convert: () =>
      Effect.succeed({
        title: undefined,
        parts,
        pages: 1,
        pictures: new Map<string, string>()
      })
  })

it.prop(
  "cut anywhere and joined again it is the same",
  {
    blocks: Schema.Array(
      Schema.Tuple([
        Schema.Literals(["p", "table", "list", "nested"]),
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 700 }))
      ])
    )
  },
  ({ blocks }) => {
    const html = blocks
      .map(([kind, count]) => {
        if (kind === "p") return `<p>${"y".repeat(count * 100)}</p>`
        if (kind === "table")
          return `<table><thead><tr><th>H</th></tr></thead><tbody>${rows(count)}</tbody></table>`
        const items = Array.from({ length: count }, (_, at) => `<li>${at} ${"z".repeat(400)}</li>`).join("")
        return kind === "list"
          ? `<ol>${items}</ol>`
          : `<ul><li>Outer<ul><li>Inner</li></ul></li>${items}</ul>`
      })
      .join("")
    const parts = splitBlocks(html, MAX_PART)
    assert.isDefined(parts)
    assert.strictEqual(joinParts(parts ?? []), html)
    assert.isTrue((parts ?? []).every((part) => part.html.length <= MAX_PART))
  },
  { arbitrary: { runs: 60 } }
)

it("what stands inside of a cell, or of an item with a name, is not cut: it would have to be there twice", () => {
  assert.isUndefined(splitBlocks(`<table><tr><td><table>${rows(1000)}</table></td></tr></table>`, MAX_PART))
  const items = `<li>${"z".repeat(400)}</li>`.repeat(1000)
  assert.isUndefined(splitBlocks(`<ol><li id="footnote-1"><ul>${items}</ul></li></ol>`, MAX_PART))
})

layer(layerAssembly)("a long document", (test) => {
  test.effect("loses none of its words when it is cleaned, and its tables stay whole", () =>
    Effect.gen(function* () {
      const html = `<table>${rows(1500)}</table><p>End</p>`
      const parts = splitBlocks(html, MAX_PART) ?? []
      assert.isAbove(parts.length, 5)
      const cleaned = yield* Effect.provide(docxHtml("x"), giving(parts))
      assert.strictEqual(cleaned.html.match(/<tr>/g)?.length, 1500)
      assert.strictEqual(cleaned.html.match(/<table>/g)?.length, 1)
      assert.match(cleaned.html, /<p>1499 x+<\/p>.*<p>End<\/p>$/s)
    })
  )

  test.effect("characters that no HTML may have are no words, however short the part is", () =>
    Effect.gen(function* () {
      // As old programs leave them that take one character set for another.
      const short = [{ html: "<p>It\u0092s all\ufdd0</p>", goesOn: "" }]
      const cleaned = yield* Effect.provide(docxHtml("x"), giving(short))
      assert.strictEqual(cleaned.html, "<p>Its all</p>")
    })
  )

  test.effect("a part that the cleaner cuts off is an error, not a loss", () =>
    Effect.gen(function* () {
      const long = [{ html: `<p>${"word ".repeat(2_000_000)}</p>`, goesOn: "" }]
      const error = yield* Effect.flip(Effect.provide(docxHtml("x"), giving(long)))
      assert.strictEqual(error.reason, "too-large")
    })
  )
})
