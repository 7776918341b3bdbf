import { Effect, Stream } from "effect"
import type { Digest } from "effect/crypto/Digest"

import type { ChunkRange } from "../../ports/batch-store.ts"
import { BatchObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import { type OpenPages, PageSources } from "../../ports/page-sources.ts"
import type { PdfError } from "../../ports/pdf.ts"
import { VisionModel } from "../../ports/vision-model.ts"
import type { ConverseRequest } from "../conversion/converse.ts"
import { convertPageWithVision } from "../conversion/vision.ts"
import { makeCapture } from "./capture.ts"
import { inputPrefix, manifestKey } from "./keys.ts"
import type { ManifestEntry } from "./manifest.ts"
import { promptHash } from "./prompt-hash.ts"
import { recordId } from "./record-id.ts"
import { recordLine } from "./record.ts"
import { type BatchLimits, type BatchSkipped, linesOf, present, writeShards, type Written } from "./shards.ts"

/** Pages that are split at once. */
const PAGES_AT_ONCE = 4

/**
 * The hi-fi call of one page, recorded. Undefined for a blank page, one that cannot be read, and one that the model would not
 * take: they are left to the chunk processor.
 */
const capturePage = (
  pages: OpenPages,
  index: number,
  model: string
): Effect.Effect<ConverseRequest | undefined> =>
  Effect.gen(function* () {
    const page = yield* pages.page(index)
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

/** A document to be prepared. */
export interface Preparing {
  readonly objectKey: string
  readonly chunks: ReadonlyArray<ChunkRange>
  /** The preparing's folder. */
  readonly prepared: string
  readonly model: string
  readonly limits: BatchLimits
}

/** The records of a chunk's pages, opened as the chunk processor opens them. */
const chunkRecords = (
  { model, objectKey }: Preparing,
  chunk: ChunkRange,
  noted: (entry: ManifestEntry) => void
): Stream.Stream<Uint8Array, PdfError | ObjectStoreError, PageSources | Digest> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const sources = yield* PageSources
      const pages = yield* sources.open(objectKey, { first: chunk.firstPage, end: chunk.lastPage + 1 })
      return Stream.range(chunk.firstPage, chunk.lastPage).pipe(
        Stream.mapEffect(
          Effect.fnUntraced(function* (page) {
            const request = yield* capturePage(pages, page, model)
            if (request === undefined) return undefined
            const id = recordId({ chunkIndex: chunk.chunkIndex, page })
            const entry = {
              recordId: id,
              chunkIndex: chunk.chunkIndex,
              page,
              promptHash: yield* promptHash(request),
              model: request.modelId
            }
            return { entry, line: recordLine(id, request) }
          }),
          { concurrency: PAGES_AT_ONCE }
        ),
        present,
        Stream.map(({ entry, line }) => {
          noted(entry)
          return line
        })
      )
    })
  )

/** What was uploaded, and where the batch service finds it. */
export interface Prepared extends Written {
  readonly prefix: string
}

/**
 * Captures the hi-fi call of every page that the chunk processor would make, and uploads the records and their manifest
 * (document 3, "Driver" 2 and 3). The manifest comes last: where it is, everything is.
 */
export const prepare = (
  preparing: Preparing
): Effect.Effect<Prepared, PdfError | ObjectStoreError | BatchSkipped, PageSources | BatchObjects | Digest> =>
  Effect.gen(function* () {
    const objects = yield* BatchObjects
    const entries: Array<ManifestEntry> = []
    const records = Stream.flatMap(Stream.fromIterable(preparing.chunks), (chunk) =>
      chunkRecords(preparing, chunk, (entry) => void entries.push(entry))
    )
    const written = yield* writeShards(records, preparing.prepared, preparing.limits)
    yield* objects.put(manifestKey(preparing.prepared), linesOf(entries), {
      contentType: "application/x-ndjson"
    })
    return { ...written, prefix: inputPrefix(preparing.prepared) }
  })
