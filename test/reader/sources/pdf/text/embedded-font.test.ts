/** Fonts whose document does not say which letters their glyphs are, and which say it themselves. */
import { Effect } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { lettersOfFont, lettersOfName } from "../../../../../src/reader/sources/pdf/text/embedded-font.ts"
import { fontsByGlyph } from "../../../../../src/reader/sources/pdf/text/glyph-names.ts"
import { extractBytes } from "../../../../support/files/pdf-files.ts"
import { pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

const numbers = (size: 1 | 2 | 4, ...values: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(size * values.length)
  for (const [at, value] of values.entries()) bytes.writeUIntBE(value, at * size, size)
  return bytes
}
const shorts = (...values: ReadonlyArray<number>) => numbers(2, ...values)
const longs = (...values: ReadonlyArray<number>) => numbers(4, ...values)

/** A font of these tables and no other. */
const fontOf = (tables: Readonly<Record<string, Buffer>>): Buffer => {
  const all = Object.entries(tables)
  let at = 12 + 16 * all.length
  const records = all.map(([name, { length }]) => {
    const record = Buffer.concat([Buffer.from(name), longs(0, at, length)])
    at += length
    return record
  })
  return Buffer.concat([longs(0x10000), shorts(all.length, 0, 0, 0), ...records, ...Object.values(tables)])
}

const table = (format: Buffer, platform = 3, encoding = 1): Buffer =>
  Buffer.concat([shorts(0, 1, platform, encoding), longs(12), format])

/** `letters` are the glyphs from 1 on. */
const bySegments = (letters: string): Buffer => {
  const codes = Array.from(letters, (letter, at) => ({ code: letter.codePointAt(0) ?? 0, glyph: at + 1 }))
  const sorted = codes.toSorted((a, b) => a.code - b.code)
  const segments = [...sorted.map(({ code, glyph }) => [code, code, glyph - code]), [0xffff, 0xffff, 1]]
  const column = (at: number) => shorts(...segments.map((one) => (one[at] ?? 0) & 0xffff))
  return Buffer.concat([
    shorts(4, 0, 0, 2 * segments.length, 0, 0, 0),
    column(1),
    shorts(0),
    column(0),
    column(2),
    shorts(...segments.map(() => 0))
  ])
}
const byGroups = (letters: string): Buffer =>
  Buffer.concat([
    shorts(12, 0),
    longs(0, 0, letters.length),
    ...Array.from(letters, (letter, at) =>
      longs(letter.codePointAt(0) ?? 0, letter.codePointAt(0) ?? 0, at + 1)
    )
  ])
const inRow = (first: number, count: number): Buffer =>
  shorts(6, 0, 0, first, count, ...Array.from({ length: count }, (_, at) => at + 1))

const named = (...names: ReadonlyArray<string | number>): Buffer => {
  const own = names.filter((name) => typeof name === "string")
  return Buffer.concat([
    longs(0x20000),
    Buffer.alloc(28),
    shorts(names.length, ...names.map((name) => (typeof name === "number" ? name : 258 + own.indexOf(name)))),
    ...own.map((name) => Buffer.concat([numbers(1, name.length), Buffer.from(name)]))
  ])
}

const said = (font: Buffer): string => [...lettersOfFont(font).values()].join("")

describe("an embedded font", () => {
  it("says the letters of its glyphs by its table of characters, in each of its forms", () => {
    for (const format of [bySegments("Hafen"), byGroups("Hafen")]) {
      const letters = lettersOfFont(fontOf({ cmap: table(format) }))
      assert.deepStrictEqual(
        [1, 2, 3, 4, 5, 6].map((glyph) => letters.get(glyph)),
        ["H", "a", "f", "e", "n", undefined]
      )
    }
    assert.strictEqual(said(fontOf({ cmap: table(inRow(0x41, 3), 0, 3) })), "ABC")
  })

  it("says them by the names of its glyphs where the table does not", () => {
    const post = named(0, "H", "adieresis", 3 + 0x66 - 0x20, "uni0065", "n.alt", "u1F600", "glyph7", "f_i")
    const letters = lettersOfFont(fontOf({ post }))
    assert.deepStrictEqual(
      [...letters],
      [
        [1, "H"],
        [2, "ä"],
        [3, "f"],
        [4, "e"],
        [5, "n"],
        [6, "😀"]
      ]
    )
    assert.strictEqual(lettersOfFont(fontOf({ cmap: table(bySegments("x")), post })).get(1), "x")
  })

  it("says nothing by a table of symbols, by its own codes, or by control characters", () => {
    assert.strictEqual(said(fontOf({ cmap: table(bySegments("Hafen"), 3, 0) })), "")
    assert.strictEqual(said(fontOf({ cmap: table(bySegments("Hafen"), 1, 0) })), "")
    assert.strictEqual(said(fontOf({ cmap: table(inRow(0, 0x20)) })), "")
    for (const name of ["glyph12", "g7", "cid_20", "uni00", "uniD", "u110000", "uni0007", "", "aa"])
      assert.isUndefined(lettersOfName(name), name)
  })

  it("ends, whatever its bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.constantFrom("cmap", "post"), (bytes, name) => {
        assert.isAtMost(lettersOfFont(bytes).size, 70_000)
        assert.isAtMost(lettersOfFont(fontOf({ [name]: Buffer.from(bytes) })).size, 70_000)
      })
    )
    const endless = Buffer.concat([shorts(12, 0), longs(0, 0, 0xffffffff, 0, 0xffffffff, 1)])
    assert.isAtMost(lettersOfFont(fontOf({ cmap: table(endless) })).size, 200_000)
  })
})

const GLYPHS = 40

/** What a program needs to draw it: forty glyphs without ink. */
const DRAWN = {
  glyf: Buffer.alloc(4),
  head: Buffer.concat([
    longs(0x10000, 0x10000, 0, 0x5f0f3cf5),
    shorts(0, 1000),
    Buffer.alloc(16),
    shorts(0, 0, 600, 800, 0, 8, 2, 0, 0)
  ]),
  hhea: Buffer.concat([longs(0x10000), shorts(800, 0xff38, 0, 600), Buffer.alloc(22), shorts(1)]),
  hmtx: Buffer.concat([shorts(600), Buffer.alloc(2 * GLYPHS)]),
  loca: Buffer.alloc(2 * GLYPHS + 2),
  maxp: Buffer.concat([longs(0x10000), shorts(GLYPHS), Buffer.alloc(26)])
}

const LETTERS = " Reportsakfny.ch'd"

/** A page of one font without a table of characters of the document's; its codes are the numbers of its glyphs. */
const pdf = (text: string, font: Buffer, { mapped = false, said: says = false } = {}): Buffer =>
  pdfOf({
    pages: [
      {
        content: `BT /G 11 Tf 1 0 0 1 60 700 Tm <${Array.from(text, (letter) => (LETTERS.indexOf(letter) + 1).toString(16).padStart(4, "0")).join("")}> Tj ET\n`
      }
    ],
    more: (writer) => {
      const file = writer.stream(font, { dictionary: `/Length1 ${font.length}` })
      const descriptor = writer.object(
        `<< /Type /FontDescriptor /FontName /ABCDEF+Tiny /Flags 4 /FontBBox [0 -200 600 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 /FontFile2 ${ref(file)} >>`
      )
      const map = mapped
        ? ref(writer.stream(Buffer.concat(Array.from({ length: 40 }, (_, at) => shorts(at)))))
        : "/Identity"
      const toUnicode = says
        ? `/ToUnicode ${ref(writer.stream("/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000><ffff> endcodespacerange 1 beginbfrange <0001><0040><0041> endbfrange endcmap end"))}`
        : ""
      const cid = writer.object(
        `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEF+Tiny /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor ${ref(descriptor)} /DW 600 /CIDToGIDMap ${map} >>`
      )
      const whole = writer.object(
        `<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEF+Tiny /Encoding /Identity-H /DescendantFonts [${ref(cid)}] ${toUnicode} >>`
      )
      return { fonts: `/G ${ref(whole)}` }
    }
  })

const textOf = async (bytes: Buffer): Promise<string> => {
  const { pages } = await Effect.runPromise(extractBytes(bytes))
  return (pages[0]?.runs ?? []).map(({ text }) => text).join("|")
}

describe("a page of such a font", () => {
  const font = fontOf({ ...DRAWN, cmap: table(bySegments(LETTERS)) })

  it("is read by what the font says, its spaces among them", async () => {
    assert.strictEqual(await textOf(pdf("Reports are kept.", font)), "Reports are kept.")
    assert.strictEqual(
      await textOf(
        pdf("Reports", fontOf({ ...DRAWN, post: named(0, "space", "R", "e", "p", "o", "r", "t", "s") }))
      ),
      "Reports"
    )
  })

  it("has the replacement character where the font says nothing of a glyph", async () => {
    assert.strictEqual(
      await textOf(pdf("Reports", fontOf({ ...DRAWN, cmap: table(bySegments(" Rep")) }))),
      "Rep\ufffd\ufffd\ufffd\ufffd"
    )
  })

  it("is read as the document says where it does, and by its codes where a table leads to other glyphs", async () => {
    assert.strictEqual(await textOf(pdf("Re", font, { said: true })), "BC")
    assert.notStrictEqual(await textOf(pdf("Reports", font, { mapped: true })), "Reports")
  })

  it("is found by its dictionaries alone, in linear time", () => {
    for (const part of ["/BaseFont/a", "/BaseFont/a/DescendantFonts[", "/BaseFont/a/CIDSystemInfo"])
      assert.deepStrictEqual([...fontsByGlyph(Buffer.from(part.repeat(4_000_000 / part.length)))], [])
  })
})
