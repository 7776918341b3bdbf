/** What is read of a document's fonts. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { bitmapFont } from "../../../../support/files/bitmap-font.ts"
import { extractBytes } from "../../../../support/files/pdf-files.ts"
import { line, pdfOf, type PdfWriter, ref } from "../../../../support/files/pdf-writer.ts"

/** Resources with a form that has a line in each font, 20 points apart. */
const formOf = (writer: PdfWriter, fonts: ReadonlyArray<number>, text: ReadonlyArray<string>) => {
  const form = writer.stream(
    text.map((words, at) => line(words, 72, 700 - 20 * at, { font: `G${at}` })).join(""),
    {
      dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << ${fonts.map((font, at) => `/G${at} ${ref(font)}`).join(" ")} >> >>`
    }
  )
  return { resources: `/XObject << /Form ${ref(form)} >>` }
}

it.live(
  "a font whose narrow letters are as wide as its wide ones is monospaced, whatever its name and flags say, but for signs of mathematics",
  () =>
    Effect.gen(function* () {
      // Widths of the letters from a to z, before a brace that is wider; a subset without narrow letters tells nothing.
      const widths = {
        t1xtt: Array.from({ length: 26 }, () => 525),
        CMEX10: Array.from({ length: 26 }, () => 525),
        Words: Array.from("abcdefghijklmnopqrstuvwxyz", (letter) => ("ijlrt".includes(letter) ? 280 : 560)),
        Wide: Array.from("abcdefghijklmnopqrstuvwxyz", (letter) => ("mw".includes(letter) ? 525 : 0))
      }
      const bytes = pdfOf({
        pages: [{ content: "/Form Do\n" }],
        more: (writer) => {
          const fonts = Object.entries(widths).map(([name, of]) => {
            const descriptor = writer.object(
              `<< /Type /FontDescriptor /FontName /${name} /Flags 4 /MissingWidth 0 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 >>`
            )
            return writer.object(
              `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /FontDescriptor ${ref(descriptor)} /FirstChar 97 /LastChar 123 /Widths [${of.join(" ")} 900] >>`
            )
          })
          return formOf(
            writer,
            fonts,
            fonts.map(() => "mwm")
          )
        }
      })
      const { facts } = yield* extractBytes(bytes)
      assert.deepStrictEqual(
        Object.keys(widths).map((name) => facts.fonts.find((face) => face.name === name)?.monospace),
        [true, false, false, false]
      )
    })
)

it.live(
  "a font of which a document has figures alone, as wide as each other in nearly all faces, is not monospaced for it",
  () =>
    Effect.gen(function* () {
      const bytes = pdfOf({
        pages: [{ content: "/Form Do\n" }],
        more: (writer) => {
          const descriptor = writer.object(
            "<< /Type /FontDescriptor /FontName /Figures-Bold /Flags 32 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 >>"
          )
          const font = writer.object(
            `<< /Type /Font /Subtype /TrueType /BaseFont /Figures-Bold /Encoding /WinAnsiEncoding /FontDescriptor ${ref(descriptor)} /FirstChar 48 /LastChar 50 /Widths [500 500 500] >>`
          )
          return formOf(writer, [font], ["2021"])
        }
      })
      const { facts } = yield* extractBytes(bytes)
      assert.deepStrictEqual(
        facts.fonts.map(({ monospace, name }) => [name, monospace]),
        [["Figures-Bold", false]]
      )
    })
)

it.live(
  "where letters are as wide as the sign for those a subset lacks, the page says whether a font is monospaced",
  () =>
    Effect.gen(function* () {
      // The ink of one letter is wider than its face's letters are.
      const text = { Code: "little mimic", Inked: "little WMMM", Words: "little mimic", Short: "mmm" }
      const width: Record<string, number> = { Code: 900, Inked: 880, Words: 280, Short: 900 }
      const bytes = pdfOf({
        pages: [{ content: "/Form Do\n" }],
        more: (writer) => {
          const fonts = Object.keys(text).map((name) => {
            const descriptor = writer.object(
              `<< /Type /FontDescriptor /FontName /${name} /Flags 32 /MissingWidth ${width[name]} /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 >>`
            )
            // Code 0 is what pdfium finds for a sign that there is none for; a brace is wider.
            const of = Array.from({ length: 123 }, (_, code) =>
              name === "Words" && "mw".includes(String.fromCharCode(code)) ? 560 : width[name]
            )
            return writer.object(
              `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /FontDescriptor ${ref(descriptor)} /Encoding /WinAnsiEncoding /FirstChar 0 /LastChar 123 /Widths [${of.join(" ")} 999] >>`
            )
          })
          return formOf(writer, fonts, Object.values(text))
        }
      })
      const { facts } = yield* extractBytes(bytes)
      assert.deepStrictEqual(
        Object.keys(text).map((name) => facts.fonts.find((face) => face.name === name)?.monospace),
        [true, true, false, false]
      )
    })
)

it.live(
  "bitmaps of letters without a name are monospaced where they move the pen as far, but for a dot",
  () =>
    Effect.gen(function* () {
      const letters = "abcdefghijklmnopqrstuvwxyz"
      const widths = {
        code: Array.from(letters, (letter) => ("mw".includes(letter) ? 53 : 52)),
        words: Array.from(letters, (letter) => ("ijlrt".includes(letter) ? 28 : 53)),
        // The page has no narrow letters of it.
        unknown: Array.from(letters, () => 52)
      }
      // Cork's codes of the ligature of f and i, the sign of a section and the sharp s, which no name tells.
      const text = { code: "little mimic", words: "little mimic \u001cle \u009f gro\u00ff", unknown: "mmmm" }
      const bytes = pdfOf({
        pages: [{ content: "/Form Do\n" }],
        more: (writer) => {
          const fonts = Object.values(widths).map((of) => bitmapFont(writer, of))
          return formOf(writer, fonts, Object.values(text))
        }
      })
      const { facts, pages } = yield* extractBytes(bytes)
      assert.deepStrictEqual(
        Object.values(text).map(
          (words, at) =>
            facts.fonts[pages[0]?.runs.find((run) => Math.abs(run.baseline - 92 - 20 * at) < 1)?.font ?? -1]
              ?.monospace ?? words
        ),
        [true, false, false]
      )
      assert.include(pages[0]?.runs.map((run) => run.text).join(""), "little mimic ﬁle § groß")
    })
)
