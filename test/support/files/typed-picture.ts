import { Effect } from "effect"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { temporaryPdf } from "./pdf-files.ts"
import { line, pdfOf } from "./pdf-writer.ts"

/** Few lines, since each takes a recogniser a tenth of a second. */
const LINES = [
  "The keeper of the light went up the narrow stairs",
  "each evening before the sun was down, and wrote in",
  "his book what he had seen of ships and of weather."
]

/** Words that a recogniser has to find on the typed picture. */
export const TYPED_WORDS = ["keeper", "narrow stairs", "evening before", "weather."]

/** A small typed page of a heading and a paragraph, and its picture. */
export const typedPdf = pdfOf({
  pages: [
    {
      content:
        line("Harbour Lights", 36, 170, { size: 18 }) +
        LINES.map((text, at) => line(text, 36, 130 - at * 15)).join(""),
      mediaBox: [0, 0, 360, 216]
    }
  ]
})

export const typedPicture = Effect.gen(function* () {
  const document = yield* (yield* Pdf).open(yield* temporaryPdf(typedPdf))
  return { picture: yield* document.scan(0), words: TYPED_WORDS }
}).pipe(Effect.scoped, Effect.provide(layerPdf({ threads: 1 })), Effect.orDie)
