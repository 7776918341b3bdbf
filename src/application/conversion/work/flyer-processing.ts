import { Effect, Option, Stream } from "effect"
import { encode } from "effect/encoding/Base64"

import { HOLD_WINDOW } from "../../../domain/conversion/job.ts"
import { flyerResultKey } from "../../../domain/conversion/stored-files.ts"
import { type ClaimedFlyer, ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import { LanguageDetector } from "../../../ports/conversion/html-assembly.ts"
import { Pdf, type PdfDocument } from "../../../ports/conversion/pdf.ts"
import { FileObjects } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { flyerPage, unreadablePage, FLYER_END, flyerStart } from "../../../reader/flyer/flyer-page.ts"
import { languageTag } from "../../../reader/html/allowed.ts"
import { type InterfaceWords, wordsFor } from "../../../reader/html/words.ts"
import type { PdfError } from "../../../reader/model/pdf-document.ts"
import { underLease } from "../../leased-work.ts"
import { failureText, isFinal, makeRetries, recordResult, type WorkSettings } from "./attempt.ts"

/** Attempts of a flyer job, worker crashes included. */
export const MAX_FLYER_ATTEMPTS = 3

/** Resolution of the pages' pictures, dots an inch: lower for long documents, so that a browser can hold them. */
const dpiFor = (pages: number): number => (pages <= 20 ? 144 : pages <= 200 ? 110 : 80)

/** Pages read to detect the language when the document does not declare it. */
const SAMPLE_PAGES = 3

const contentOf = (document: PdfDocument, index: number) =>
  Stream.runHead(document.pages({ first: index, end: index + 1 }))

/** The document's language: as declared, else detected from its first pages. */
const languageOf = Effect.fnUntraced(function* (document: PdfDocument) {
  const declared = languageTag(document.facts.lang)
  if (declared !== undefined) return declared
  const { detect } = yield* LanguageDetector
  const end = Math.min(SAMPLE_PAGES, document.facts.pageCount)
  const sample = yield* Stream.runCollect(document.pages({ first: 0, end })).pipe(
    Effect.map((pages) => pages.flatMap(({ runs }) => runs.map(({ text }) => text)).join(" ")),
    Effect.orElseSucceed(() => "")
  )
  return languageTag(yield* detect(sample)) ?? "en"
})

const dataUri = ({ bytes, mediaType }: { readonly bytes: Uint8Array; readonly mediaType: string }): string =>
  `data:${mediaType};base64,${encode(bytes)}`

/**
 * Converts one page. One that cannot be drawn shows its text; one that cannot be read gets a notice, unless the fault is
 * transient.
 */
const onePage = Effect.fnUntraced(function* (
  document: PdfDocument,
  index: number,
  words: InterfaceWords,
  retrying: ReturnType<typeof makeRetries>
) {
  const { pageCount } = document.facts
  const found = yield* retrying(contentOf(document, index))
  if (Option.isNone(found)) return yield* Effect.die(new Error("a page that was asked for did not come"))
  const picture = yield* retrying(document.render(index, dpiFor(pageCount))).pipe(
    Effect.map(dataUri),
    Effect.catchTag("PdfError", (error) =>
      Effect.as(Effect.logWarning(`page ${index + 1} could not be drawn: ${error.message}`), undefined)
    )
  )
  return flyerPage({ content: found.value, picture }, words, pageCount)
})

/** All pages in order; collects those that could not be read. Fails where no page of the document can be read. */
const pagesOf = (
  document: PdfDocument,
  words: InterfaceWords,
  unreadable: Array<number>
): Stream.Stream<string, PdfError> => {
  const retrying = makeRetries()
  let last: PdfError | undefined
  return Stream.range(0, document.facts.pageCount - 1).pipe(
    Stream.mapEffect((index) =>
      onePage(document, index, words, retrying).pipe(
        Effect.catchTag("PdfError", (error) => {
          last = error
          unreadable.push(index + 1)
          return Effect.as(
            Effect.logWarning(`page ${index + 1} could not be read: ${error.message}`),
            unreadablePage(index, words)
          )
        })
      )
    ),
    Stream.concat(
      Stream.suspend(() =>
        unreadable.length === document.facts.pageCount && last !== undefined
          ? Stream.fail(last)
          : Stream.empty
      )
    )
  )
}

const convert = Effect.fnUntraced(function* (claim: ClaimedFlyer) {
  const objects = yield* FileObjects
  const pdf = yield* Pdf
  const document = yield* Effect.flatMap(objects.localPath(claim.objectKey), pdf.open)
  const lang = yield* languageOf(document)
  const words = wordsFor(lang)
  const unreadablePages: Array<number> = []
  const parts = Stream.make(flyerStart(claim.name, lang, words)).pipe(
    Stream.concat(pagesOf(document, words, unreadablePages)),
    Stream.concat(Stream.make(FLYER_END))
  )
  const key = flyerResultKey(claim.fileId, claim.lease)
  yield* objects.put(key, Stream.encodeText(parts), { contentType: "text/html; charset=utf-8" })
  return { key, unreadablePages }
})

/**
 * Makes the layout-true result of a claimed flyer job, page by page: each as a picture, with its words over it. The result is
 * stored before it is recorded. A failed job is tried again, three attempts in all. No model is called, so there are no costs.
 */
export const processFlyer = (
  claim: ClaimedFlyer,
  settings: Pick<WorkSettings, "heartbeat">
): Effect.Effect<void, StoreUnavailable, ConversionStore | FileObjects | Pdf | LanguageDetector> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const objects = yield* FileObjects
    const fail = (error: string, maxAttempts: number) =>
      store.failFlyer(claim, { error, costs: [], maxAttempts })
    // Earlier workers crashed on it.
    if (claim.attempts > MAX_FLYER_ATTEMPTS) {
      yield* fail("This document could not be converted", 1)
      return
    }
    yield* underLease(
      Effect.scoped(convert(claim)),
      {
        name: `flyer job ${claim.id}`,
        heartbeat: () => store.heartbeatFlyer(claim, HOLD_WINDOW),
        release: () => store.failFlyer(claim, { costs: [] }),
        complete: ({ key, unreadablePages }) =>
          recordResult(objects, key, store.finishFlyer(claim, key, [], unreadablePages)),
        fail: (failure) => fail(failureText(failure), isFinal(failure) ? 1 : MAX_FLYER_ATTEMPTS)
      },
      settings.heartbeat
    )
  }).pipe(Effect.annotateLogs({ flyer: claim.id, file: claim.fileId }))
