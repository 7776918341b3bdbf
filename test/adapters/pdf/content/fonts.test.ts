/** What is read of a document's fonts. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { extractBytes } from "../../../support/files/pdf-files.ts"
import { line, pdfOf, ref } from "../../../support/files/pdf-writer.ts"

it.live(
  "a font whose narrow letters are as wide as its wide ones is monospaced, whatever its name and flags say",
  () =>
    Effect.gen(function* () {
      // Widths of the letters from a to z, before a brace that is wider; a subset without narrow letters tells nothing.
      const widths = {
        t1xtt: Array.from({ length: 26 }, () => 525),
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
          const form = writer.stream(
            fonts.map((_, at) => line("mwm", 72, 700 - 20 * at, { font: `G${at}` })).join(""),
            {
              dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << ${fonts.map((font, at) => `/G${at} ${ref(font)}`).join(" ")} >> >>`
            }
          )
          return { resources: `/XObject << /Form ${ref(form)} >>` }
        }
      })
      const { facts } = yield* extractBytes(bytes)
      assert.deepStrictEqual(
        Object.keys(widths).map((name) => facts.fonts.find((face) => face.name === name)?.monospace),
        [true, false, false]
      )
    })
)
