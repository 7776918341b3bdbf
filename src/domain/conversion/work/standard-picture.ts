import { Effect } from "effect"

import { PageSources } from "../../../ports/conversion/page-sources.ts"
import { TextRecognition } from "../../../ports/conversion/text-recognition.ts"
import { pictureOnly } from "../cascade/whole-chunk.ts"
import { withOwnPicture } from "../html/scan.ts"
import { hasWords, type PageLine } from "../page-line.ts"

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

/**
 * A picture without a model: recognised on this machine as a scanned page is, else the picture alone, with a note why. What cannot be
 * decoded here, a browser may still show.
 */
export const standardPicture = Effect.fnUntraced(function* ({ name, objectKey, source }: UploadedPicture) {
  const { atOnce } = yield* TextRecognition
  const alone = (why: Parameters<typeof pictureOnly>[2]): StandardPicture => ({
    html: pictureOnly(name, source, why),
    tier: "layout",
    hasText: false
  })
  if (atOnce === 0) return alone("not-asked")
  const sources = yield* PageSources
  return yield* sources.open(objectKey, { first: 0, end: 1 }).pipe(
    Effect.flatMap((pages) => pages.page(0)),
    Effect.flatMap(({ recognised }) => recognised),
    Effect.map(({ html, tier }): StandardPicture =>
      tier === "recognised" || tier === "poorly-recognised"
        ? { html: withOwnPicture(html, source), tier, hasText: hasWords(html) }
        : alone("nothing-on-it")
    ),
    Effect.catchTag("PdfError", ({ cause, reason }) =>
      Effect.as(Effect.logWarning(`a picture was not read: ${reason}`, cause), alone("not-read"))
    ),
    Effect.scoped
  )
})
