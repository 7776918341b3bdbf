import { Effect } from "effect"

import readDocument from "../../../src/adapters/docx/docx-reader.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { wordOf, type WordSpec } from "../../support/files/word-files.ts"

const MB = 1024 * 1024

/** The HTML of the bytes of a Word document, the places of its pictures as `#`. */
export const htmlOfBytes = (bytes: Buffer) =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(bytes)
    const answer = yield* Effect.promise(() =>
      readDocument({ kind: "convert", path, pictureBytes: MB, onePictureBytes: MB })
    )
    if (answer.kind !== "converted") return yield* Effect.die(answer)
    const html = answer.content.parts.map((part) => part.html).join("")
    return html.replaceAll(/src="data:[^"]*"/g, 'src="#"')
  }).pipe(Effect.scoped)

/** The HTML of a Word document. */
export const htmlOf = (spec: WordSpec) => htmlOfBytes(wordOf(spec))

/** A run of text. */
export const text = (words: string, properties = ""): string =>
  `<w:r>${properties === "" ? "" : `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${words}</w:t></w:r>`

/** A paragraph of runs. */
export const p = (inner: string, properties = ""): string =>
  `<w:p>${properties === "" ? "" : `<w:pPr>${properties}</w:pPr>`}${inner}</w:p>`
