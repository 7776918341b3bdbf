import { Effect, Fiber, Result } from "effect"

import type { PdfDocument } from "../../../ports/conversion/pdf.ts"
import type { Recogniser } from "../../../ports/conversion/text-recognition.ts"
import type { LayoutPage } from "../../../reader/model/layout-page.ts"
import { PdfError, type PageRange, type ReadScan } from "../../../reader/model/pdf-document.ts"
import type { RecognisedText } from "../../../reader/model/recognised-text.ts"
import { showsText } from "../../../reader/recognition/recognised-text.ts"

/** Pages of a range that may fail, each at its time limit, before the others are left as they are. */
const MAX_FAILURES = 3

/** A range of pages, with what is needed to recognise the scanned ones. */
interface Scans {
  readonly document: Pick<PdfDocument, "facts" | "layoutRead" | "scan">
  readonly range: PageRange
  readonly layout: (index: number) => Effect.Effect<LayoutPage, PdfError>
  readonly isBlank: (index: number) => Effect.Effect<boolean, PdfError>
  readonly recogniser: Recogniser
}

/** A page without recognition. Codes in place of letters are not text, and are not charged. */
const unread = (page: LayoutPage): Effect.Effect<LayoutPage, PdfError> =>
  page.isRubble === true
    ? Effect.fail(
        new PdfError({
          reason: "broken",
          page: page.index,
          message:
            "The file does not say which letters this page's signs are, and they were not read from its picture."
        })
      )
    : Effect.succeed(page)

/** A page's picture, read: `undefined` where that failed, `not-text` where there is nothing to read. */
type Read = RecognisedText | undefined | "not-text"

/**
 * Reads the scanned pages of a range. A page is read when it is asked for, and the next ones ahead of their turn, as many as can be
 * read at once; each is laid out with its neighbours of the range, whatever was read before, so that the result is always the same.
 */
export const makeRecognised = Effect.fnUntraced(function* ({
  document,
  isBlank,
  layout,
  range,
  recogniser: { atOnce, maxPages, read }
}: Scans) {
  const scope = yield* Effect.scope
  const fibers = new Map<number, Fiber.Fiber<Read, PdfError>>()
  let failures = 0
  const hints = { lang: document.facts.lang }

  const readPage = Effect.fnUntraced(function* (index: number) {
    const { isScan } = yield* layout(index)
    if (isScan !== true || (yield* isBlank(index))) return "not-text" as const
    if (failures >= MAX_FAILURES || index >= maxPages) return undefined
    const found = yield* Effect.result(read(yield* document.scan(index), hints))
    if (Result.isFailure(found)) {
      failures += 1
      yield* Effect.logWarning(`page ${index + 1} was not recognised: ${found.failure.reason}`)
      return undefined
    }
    return showsText(found.success) ? found.success : ("not-text" as const)
  })
  const begin = (index: number) =>
    Effect.gen(function* () {
      const known = fibers.get(index)
      if (known !== undefined) return known
      const fiber = yield* Effect.forkIn(readPage(index), scope)
      fibers.set(index, fiber)
      return fiber
    })
  /** An unreadable neighbour counts as missing. */
  const neighbour = (index: number) =>
    index < range.first || index >= range.end
      ? Effect.succeed([])
      : Effect.flatMap(begin(index), Fiber.join).pipe(
          Effect.map((text): ReadonlyArray<ReadScan> => (text === "not-text" ? [] : [{ page: index, text }])),
          Effect.catch(() => Effect.succeed([]))
        )

  return (index: number): Effect.Effect<LayoutPage, PdfError> =>
    Effect.gen(function* () {
      const page = yield* layout(index)
      if (page.isScan !== true || atOnce === 0) return yield* unread(page)
      const ahead = Math.min(range.end - 1, index + Math.max(1, atOnce - 1))
      for (let next = index; next <= ahead; next++) yield* begin(next)
      const text = yield* Effect.flatMap(begin(index), Fiber.join)
      if (text === "not-text") return yield* unread(page)
      const [before, after] = [yield* neighbour(index - 1), yield* neighbour(index + 1)]
      return yield* document.layoutRead(index, [...before, { page: index, text }, ...after])
    })
})
