import { Effect } from "effect"

import { hasWords, type PageLine } from "../../../domain/conversion/page-line.ts"
import { type OpenPages, PageSources } from "../../../ports/conversion/page-sources.ts"
import { TextRecognition } from "../../../ports/conversion/text-recognition.ts"
import { withOwnPicture } from "../../../reader/html/scan.ts"
import { PdfError } from "../../../reader/model/pdf-document.ts"
import { pictureOnly } from "../../cascade/whole-chunk.ts"

/** An uploaded picture: where it is stored, and itself as a data URI. */
interface UploadedPicture {
  readonly objectKey: string
  readonly name: string
  readonly source: string
}

/** What became of it: `layout` where it stays a picture. */
interface StandardPicture {
  readonly html: string
  readonly tier: PageLine["tier"]
  readonly hasText: boolean
}

/** A picture that cannot be decoded is a page that cannot be read: there is no result, and nothing is charged. */
const undecodable = new PdfError({
  reason: "broken",
  message: "This picture is damaged and cannot be shown. Save a new copy, then send that."
})

/**
 * A picture without a model: recognised on this machine as a scanned page is, else the picture alone, with a note why. Fails where it
 * cannot be decoded.
 */
export const standardPicture = Effect.fnUntraced(function* ({ name, objectKey, source }: UploadedPicture) {
  const { atOnce } = yield* TextRecognition
  const alone = (why: Parameters<typeof pictureOnly>[2]): StandardPicture => ({
    html: pictureOnly(name, source, why),
    tier: "layout",
    hasText: false
  })
  const sources = yield* PageSources
  const read = Effect.fnUntraced(function* (pages: OpenPages) {
    if (atOnce === 0) return alone("not-asked")
    const { recognised } = yield* pages.page(0)
    const { html, tier } = yield* recognised
    const found: StandardPicture = { html: withOwnPicture(html, source), tier, hasText: hasWords(html) }
    return tier === "recognised" || tier === "poorly-recognised" ? found : alone("nothing-on-it")
  })
  return yield* sources.open(objectKey, { first: 0, end: 1 }).pipe(
    Effect.flatMap(read),
    Effect.catchTag("PdfError", ({ cause, reason }) =>
      Effect.andThen(
        Effect.logWarning(`a picture was not read: ${reason}`, cause),
        reason === "broken" ? Effect.fail(undecodable) : Effect.succeed(alone("not-read"))
      )
    ),
    Effect.scoped
  )
})
