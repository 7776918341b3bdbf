import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"

import { eachLine, type Line, makeLineCutter } from "../../../src/application/batch/lines.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Lines as text; what is not yet used when the next bytes come is lost. */
const cut = (parts: Iterable<Uint8Array>, maxBytes?: number): Array<string | undefined> => {
  const cutter = makeLineCutter(maxBytes)
  const text = (line: Line) => (line === undefined ? undefined : decoder.decode(line))
  const lines = [...parts].flatMap((part) => cutter.push(part).map(text))
  return [...lines, ...cutter.rest().map(text)]
}

/** Bytes in parts that end at these places. */
const partsOf = (bytes: Uint8Array, ends: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const all = [0, ...ends.map((end) => Math.min(end, bytes.length)).sort((a, b) => a - b), bytes.length]
  return all.slice(1).map((end, at) => bytes.slice(all[at], end))
}

/** Well-formed lines of one to four bytes a character, short ones and such as take several reads. */
const line = fc
  .tuple(fc.string({ unit: "grapheme", maxLength: 12 }), fc.integer({ min: 1, max: 40 }))
  .map(([text, times]) =>
    text
      .replaceAll(/[\n\r]/g, "ü")
      .toWellFormed()
      .repeat(times)
  )
const lineEnd = fc.constantFrom("\n", "\r\n")
const hasWords = (text: string) => Array.from(text).some((character) => character > " ")

describe("cutting bytes into lines", () => {
  it("gives the same lines wherever the bytes are cut, with any line ends, with the last one or without", () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        lineEnd,
        fc.boolean(),
        fc.array(fc.nat(2_000), { maxLength: 12 }),
        (lines, end, ended, cuts) => {
          const bytes = encoder.encode(lines.join(end) + (ended ? end : ""))
          const wanted = lines
            .map((text, at) => (end === "\r\n" && (ended || at < lines.length - 1) ? `${text}\r` : text))
            .filter(hasWords)
          assert.deepStrictEqual(cut(partsOf(bytes, cuts)), wanted)
        }
      )
    )
  })

  it("gives the same lines byte by byte: a character is never torn", () => {
    const lines = ["é€😀", "{}", "x"]
    const bytes = encoder.encode(lines.join("\n"))
    assert.deepStrictEqual(cut(Array.from(bytes, (byte) => new Uint8Array([byte]))), lines)
  })

  it("passes over exactly the lines that are too long, wherever they are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        (lengths, most, cuts) => {
          const lines = lengths.map((length, at) => String(at % 10).repeat(length))
          const wanted = lines.map((text) => (text.length > most ? undefined : text))
          assert.deepStrictEqual(cut(partsOf(encoder.encode(lines.join("\n")), cuts), most), wanted)
        }
      )
    )
  })

  it("lines of one read are good together, the one that an earlier read began among them", () => {
    const cutter = makeLineCutter()
    assert.deepStrictEqual(cutter.push(encoder.encode("beg")), [])
    const lines = cutter.push(encoder.encode("un\nwhole\nthe next one begins here"))
    assert.deepStrictEqual(
      lines.map((one) => decoder.decode(one)),
      ["begun", "whole"]
    )
  })

  it("a stream's lines are used one by one, in order", async () => {
    const used: Array<string> = []
    await Effect.runPromise(
      eachLine(Stream.make(encoder.encode("a\nb"), encoder.encode("b\n\n \r\nc")), (one) =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => void used.push(decoder.decode(one)))
        )
      )
    )
    assert.deepStrictEqual(used, ["a", "bb", "c"])
  })
})
