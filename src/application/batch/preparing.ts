import { Effect, Stream } from "effect"
import type { Digest } from "effect/crypto/Digest"

import { inputPrefix, manifestKey, type ManifestEntry } from "../../domain/batch/keys.ts"
import { recordId, type RecordPlace } from "../../domain/batch/record.ts"
import type { ModelCall } from "../../domain/cascade/model-call.ts"
import { BatchLines } from "../../ports/batch/batch-lines.ts"
import type { ChunkRange } from "../../ports/batch/batch-store.ts"
import { type OpenPages, PageSources } from "../../ports/conversion/page-sources.ts"
import { VisionModel } from "../../ports/conversion/vision-model.ts"
import { BatchObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import type { PageRange, PdfError } from "../../reader/model/pdf-document.ts"
import { convertPageWithVision } from "../cascade/vision.ts"
import { makeCapture, hashOf, promptText } from "./capture.ts"
import { type BatchLimits, type BatchSkipped, linesOf, present, writeShards, type Written } from "./shards.ts"

/**
 * The hi-fi call of one page, recorded. Undefined for a blank or unreadable page, and for one that the model would not accept:
 * these are left to the chunk processor.
 */
const capturePage = (pages: OpenPages, index: number, model: string): Effect.Effect<ModelCall | undefined> =>
  Effect.gen(function* () {
    const page = yield* pages.page(index)
    // Split first: for most pages that already shows that they are not blank.
    yield* page.pdf
    if (yield* page.isBlank) return undefined
    const capture = makeCapture()
    yield* convertPageWithVision(page, model).pipe(
      Effect.provideService(VisionModel, capture.model),
      Effect.catchTag("VisionModelError", ({ reason, message }) =>
        reason === "captured" ? Effect.void : Effect.logDebug(`a page is left out of the batch: ${message}`)
      )
    )
    return capture.take()
  }).pipe(
    Effect.catchTag("PdfError", ({ message }) =>
      Effect.as(Effect.logDebug(`page ${index + 1} is left out of the batch: ${message}`), undefined)
    )
  )

/** A document to prepare. */
interface Preparing {
  readonly objectKey: string
  readonly chunks: ReadonlyArray<ChunkRange>
  /** The folder of this prepare. */
  readonly prepared: string
  readonly model: string
  readonly limits: BatchLimits
}

/** The pages of all chunks, in order. */
function* placesOf(chunks: ReadonlyArray<ChunkRange>): Generator<RecordPlace> {
  for (const { chunkIndex, firstPage, lastPage } of chunks) {
    for (let page = firstPage; page <= lastPage; page++) yield { chunkIndex, page }
  }
}

const rangeOf = (chunks: ReadonlyArray<ChunkRange>): PageRange => ({
  first: chunks.reduce((least, { firstPage }) => Math.min(least, firstPage), Number.POSITIVE_INFINITY),
  end: chunks.reduce((most, { lastPage }) => Math.max(most, lastPage + 1), 0)
})

/** Caches the prompt hashes of one document: as a rule all of its pages have the same prompt. */
const makeHashes = () => {
  let known: { readonly text: string; readonly hash: string } | undefined
  return Effect.fnUntraced(function* (call: ModelCall) {
    const text = promptText(call)
    if (known?.text !== text) known = { text, hash: yield* hashOf(text) }
    return known.hash
  })
}

/**
 * The records of a document's pages. The document is opened once for all chunks: opening it, and finding out how best to split
 * it, takes as long as splitting dozens of pages. Records come one by one, each valid until the next; pages are read ahead.
 */
const recordsOf = (
  { chunks, model, objectKey }: Preparing,
  noted: (entry: ManifestEntry) => void
): Stream.Stream<Uint8Array, PdfError | ObjectStoreError, PageSources | BatchLines | Digest> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const sources = yield* PageSources
      const pages = yield* sources.open(objectKey, rangeOf(chunks))
      const release = pages.release ?? (() => Effect.void)
      const hash = makeHashes()
      const lineOf = (yield* BatchLines).makeWriter()
      return Stream.fromIterable(placesOf(chunks)).pipe(
        Stream.mapEffect(
          Effect.fnUntraced(function* (place) {
            const call = yield* capturePage(pages, place.page, model)
            if (call === undefined) return undefined
            const id = recordId(place)
            noted({ recordId: id, ...place, promptHash: yield* hash(call), model: call.model })
            const line = lineOf(id, call)
            yield* release(place.page)
            return line
          })
        ),
        present
      )
    })
  )

/** What was uploaded, and where the batch service finds it. */
interface Prepared extends Written {
  readonly prefix: string
}

/**
 * Captures the hi-fi call of every page that the chunk processor would make, and uploads the records and their manifest
 * (BATCH-11, BATCH-12). The manifest is written last: where it exists, everything does.
 */
export const prepare = (
  preparing: Preparing
): Effect.Effect<
  Prepared,
  PdfError | ObjectStoreError | BatchSkipped,
  PageSources | BatchObjects | BatchLines | Digest
> =>
  Effect.gen(function* () {
    const objects = yield* BatchObjects
    const entries: Array<ManifestEntry> = []
    const records = recordsOf(preparing, (entry) => void entries.push(entry))
    const written = yield* writeShards(records, preparing.prepared, preparing.limits)
    yield* objects.put(manifestKey(preparing.prepared), linesOf(entries), {
      contentType: "application/x-ndjson"
    })
    return { ...written, prefix: inputPrefix(preparing.prepared) }
  })
