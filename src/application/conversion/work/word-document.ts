import { Effect } from "effect"

import { DocxConverter } from "../../../ports/conversion/documents.ts"
import { HtmlAssembly } from "../../../ports/conversion/html-assembly.ts"
import { allowedText } from "../../../reader/model/html-tree.ts"
import { DocxError, type DocxPart } from "../../../reader/model/word-document.ts"

/** Text outside of tags, white space and characters left out that no HTML may have. */
const textLength = (html: string): number => allowedText(html.replaceAll(/<[^<>]*>|\s+/g, "")).length

/** Sanitising removes markup, never text. */
const KEPT = 0.99

const tooLong = new DocxError({
  reason: "too-large",
  message: "This Word document has a part that is too long to be converted. Split it up, then send the parts."
})

/** Joins the parts again: tags that were closed and reopened only for the cut are removed. */
export const joinParts = (parts: ReadonlyArray<DocxPart>): string => {
  const all: Array<string> = []
  for (const { goesOn, html } of parts) {
    const before = all.at(-1)
    const closing = goesOn.split(/(?=<)/).toReversed().join("").replaceAll("<", "</")
    if (goesOn !== "" && before?.endsWith(closing) === true && html.startsWith(goesOn)) {
      all[all.length - 1] = before.slice(0, -closing.length)
      all.push(html.slice(goesOn.length))
    } else all.push(html)
  }
  return all.join("")
}

/**
 * A Word document as a clean fragment. Each part is sanitised by itself; pictures are inserted after that, since they were never
 * the document's words. Fails where sanitising would lose words.
 */
export const docxHtml = Effect.fnUntraced(function* (path: string) {
  const { clean } = yield* HtmlAssembly
  const { convert } = yield* DocxConverter
  const { pages, parts, pictures, title } = yield* convert(path)
  const cleaned = yield* Effect.forEach(parts, ({ goesOn, html }) =>
    Effect.flatMap(clean(html), (found) =>
      textLength(found) < KEPT * textLength(html)
        ? Effect.fail(tooLong)
        : Effect.succeed({ goesOn, html: found })
    )
  )
  const html = joinParts(cleaned).replaceAll(/src="([^"]{1,200})"/g, (whole, place: string) => {
    const source = pictures.get(place)
    return source === undefined ? whole : `src="${source}"`
  })
  return { title, html, pages }
})
