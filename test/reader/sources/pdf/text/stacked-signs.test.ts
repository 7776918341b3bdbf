/** Signs that are written downwards, upright: by a font that does so, or one by one. */
import { Effect } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import { extractBytes } from "../../../../support/files/pdf-files.ts"
import { pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

const hex = (text: string): string => {
  const bytes = Buffer.from(text, "utf16le")
  return bytes.swap16().toString("hex")
}

/** Japanese fonts that are not in the file: `V` writes downwards, `H` from the left. */
const pdf = (content: string): Buffer =>
  pdfOf({
    pages: [{ content, mediaBox: [0, 0, 595, 842] }],
    more: (writer) => {
      const descriptor = writer.object(
        "<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 850 /Descent -150 /CapHeight 700 /StemV 80 >>"
      )
      const font = writer.object(
        `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor ${ref(descriptor)} /DW 1000 >>`
      )
      const fonts = ["V", "H"].map((way) => {
        const id = writer.object(
          `<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3-UniJIS-UTF16-${way} /Encoding /UniJIS-UTF16-${way} /DescendantFonts [${ref(font)}] >>`
        )
        return `/${way} ${ref(id)}`
      })
      return { fonts: fonts.join(" ") }
    }
  })

const shown = (text: string, x: number, y: number, font: "V" | "H", size: number): string =>
  `BT /${font} ${size} Tf 1 0 0 1 ${x} ${y} Tm <${hex(text)}> Tj ET\n`

/** Columns from the right: each in one piece, or sign by sign. */
const columns = (
  texts: ReadonlyArray<string>,
  { each = false, pitch = 1.7, size = 14 }: { each?: boolean; pitch?: number; size?: number } = {}
): string =>
  texts
    .map((text, at) => {
      const x = 520 - at * pitch * size
      if (!each) return shown(text, x, 780, "V", size)
      return Array.from(text, (sign, row) =>
        shown(sign, x - size / 2, 780 - size * (row + 0.88), "H", size)
      ).join("")
    })
    .join("")

const extracted = (content: string) => Effect.runPromise(extractBytes(pdf(content)))

const htmlOf = async (content: string): Promise<string> => {
  const { facts, pages } = await extracted(content)
  return layoutPages({ facts, fonts: facts.fonts, pages, others: NO_STATISTICS })
    .map(({ html }) => html)
    .join("")
}

const said = async (content: string): Promise<ReadonlyArray<string>> =>
  Array.from((await htmlOf(content)).matchAll(/<(?:p|h\d|td|th)[^>]*>([^<]*)/g), ([, text = ""]) => text)

const FIRST = ["第一の列はここから始まり", "第二の列がその次に続いて", "第三の列で文は終わります。"]
const SECOND = ["次の段落の一列目である。", "次の段落の二列目で終わる。"]

describe("signs that are written downwards", () => {
  for (const each of [false, true])
    it(`are read from the right, ${each ? "sign by sign" : "in a font that writes so"}`, async () => {
      const content = columns([...FIRST, "", ...SECOND], { each })
      assert.deepStrictEqual(await said(content), [FIRST.join(""), SECOND.join("")])
    })

  it("are as they were written, whatever their size, their columns and their way", async () => {
    const sign = fc.integer({ min: 0x4e00, max: 0x4fff }).map((code) => String.fromCodePoint(code))
    const text = fc.array(sign, { minLength: 4, maxLength: 20 }).map((signs) => signs.join(""))
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 6 }),
        fc.record({
          each: fc.boolean(),
          pitch: fc.constantFrom(1.4, 1.7, 2.2),
          size: fc.integer({ min: 8, max: 20 })
        }),
        async (texts, set) => {
          const { pages } = await extracted(columns(texts, set))
          const runs = (pages[0]?.runs ?? []).toSorted((a, b) => b.box.x0 - a.box.x0)
          assert.deepStrictEqual(
            runs.map((run) => [run.text, run.angle, run.stacked]),
            texts.map((one) => [one, 90, true])
          )
        }
      ),
      { numRuns: 25 }
    )
  })

  it("have figures beside one another in one place, and other letters turned in theirs", async () => {
    const column = columns(["船は全部で"])
    // Two narrow figures in the place of one sign, then the rest of the sentence.
    const figures = "BT /F1 7 Tf 1 0 0 1 516.1 699 Tm (12) Tj ET\n"
    const rest = shown("隻あった。", 520, 696, "V", 14)
    const turned = "BT /F1 14 Tf 0 -1 1 0 515 626 Tm (Boat) Tj ET\n"
    const end = shown("という船もある。", 520, 597, "V", 14)
    assert.deepStrictEqual(await said(column + figures + rest + turned + end), [
      "船は全部で12隻あった。Boatという船もある。"
    ])
  })

  it("keep the pictures beside them upright", async () => {
    const drawing = Array.from(
      { length: 12 },
      (_, at) =>
        `0.${at % 9} 0.4 0.6 rg ${150 + 9 * at} ${300 + 8 * at} m 240 420 l 200 ${330 + 5 * at} l f\n`
    ).join("")
    const html = await htmlOf(columns(FIRST) + drawing)
    const [, place = ""] = /data-region="([^"]*)"/.exec(html) ?? []
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, ...turn] = place.split(" ").map(Number)
    assert.deepStrictEqual(turn, [])
    assert.isTrue(x0 <= 151 && x1 >= 239 && x1 < 300, place)
    assert.isTrue(y0 <= 423 && y1 >= 541 && y0 > 380 && y1 < 560, place)
  })
})

describe("signs that are not written downwards", () => {
  it("are lines from the left", async () => {
    const lines = Array.from({ length: 6 }, (_, at) =>
      shown("港の船は毎年五月に数えられ門に書かれる", 60, 760 - 20 * at, "H", 14)
    )
    const { pages } = await extracted(lines.join(""))
    assert.isTrue(pages[0]?.runs.every(({ angle, stacked }) => angle === 0 && stacked === undefined))
  })

  it("are a list of one sign a line, and cells of one sign", async () => {
    const list = ["是", "否", "是", "否", "是"].map((sign, at) => shown(sign, 60, 700 - 24 * at, "H", 14))
    const { pages } = await extracted(list.join(""))
    assert.isTrue(pages[0]?.runs.every(({ angle }) => angle === 0))
  })

  it("are the signs of a grid that is filled line by line", async () => {
    const grid = Array.from({ length: 5 }, (_, row) =>
      Array.from("港の船は毎年五月に", (sign, at) => shown(sign, 60 + 20 * at, 700 - 20 * row, "H", 16)).join(
        ""
      )
    )
    const { pages } = await extracted(grid.join(""))
    assert.isTrue(pages[0]?.runs.every(({ angle }) => angle === 0))
  })
})
