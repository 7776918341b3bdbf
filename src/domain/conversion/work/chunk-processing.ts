import { Data, Duration, Effect, Result, Schedule, type Scope, Stream } from "effect"

import { type ClaimedChunk, ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { HtmlAssembly } from "../../../ports/conversion/html-assembly.ts"
import { type OpenPages, PageSources } from "../../../ports/conversion/page-sources.ts"
import type { PdfError } from "../../../ports/conversion/pdf.ts"
import { VisionModel, type VisionModelError } from "../../../ports/conversion/vision-model.ts"
import { FileObjects, type ObjectStoreError } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { withBatchResults } from "../../batch/replay.ts"
import { convertPage, type PageResult } from "../cascade/cascade.ts"
import { type CostEntry, estimateLlmCost, type ModelPrice } from "../cascade/cost.ts"
import { type Meter, meteredModel } from "../cascade/paced-model.ts"
import { convertWhole, isWholeChunk } from "../cascade/whole-chunk.ts"
import { chunkResultKey, notice, type PageLine } from "../chunk-result.ts"
import { HOLD_WINDOW, MAX_CHUNK_ATTEMPTS, usesCascade } from "../job.ts"
import { untilLost, dropResult, lastWord } from "./leased-work.ts"
import { isTransient } from "./transient.ts"

/** Settings of chunk processing. */
interface ChunkSettings {
  readonly heartbeat: Duration.Duration
  readonly modelId: string
  readonly price: ModelPrice
}

/** Concurrent model calls of one chunk; the pacing limits them over all chunks. */
const PAGES_AT_MODEL = 4

/** Delay before a failed chunk is tried again; five times as long each further time. */
const RETRY_FIRST = Duration.seconds(20)

/** While the database does not answer, a chunk's completion write is repeated: its pages are paid for. */
const TELL_AGAIN = Schedule.spaced("5 seconds").pipe(Schedule.upTo({ times: 5 }))

/** This worker has lost the chunk: no new page is begun. */
class Stopped extends Data.TaggedError("Stopped")<{}> {}

type PageFailure = PdfError | VisionModelError | ObjectStoreError

/** State of one chunk while it is processed. */
interface Progress {
  pagesDone: number
  /** Why no new page is begun. */
  ended: PageFailure | Stopped | undefined
}

/** Stops the chunk once this worker has lost it. */
const watchLease = Effect.fnUntraced(function* (
  chunk: ClaimedChunk,
  progress: Progress,
  interval: Duration.Duration
) {
  const store = yield* ConversionStore
  yield* untilLost(
    Effect.suspend(() => store.heartbeatChunk(chunk, progress.pagesDone, HOLD_WINDOW)),
    interval
  )
  progress.ended ??= new Stopped()
})

/**
 * Converts one page; does nothing where the chunk has ended. A page that cannot be read does not fail the others, and a failure
 * does not interrupt those under way: their answers are paid for and have to be counted.
 */
const onePage = Effect.fnUntraced(function* (
  pages: OpenPages,
  index: number,
  chunk: ClaimedChunk,
  settings: ChunkSettings,
  progress: Progress
) {
  if (progress.ended !== undefined) return undefined
  return yield* pages.page(index).pipe(
    Effect.flatMap((page) =>
      convertPage(page, {
        options: chunk.options,
        modelId: settings.modelId,
        mayDegrade: chunk.attempts >= MAX_CHUNK_ATTEMPTS
      })
    ),
    Effect.tap(({ degraded }) =>
      degraded
        ? Effect.logWarning(`page ${index + 1}: no model answered, the layout tier stands in`)
        : Effect.void
    ),
    Effect.map(({ html, label, page, tier }: PageResult): PageLine => ({ html, label, page, tier })),
    Effect.catchTag("PdfError", (error) =>
      Effect.as(Effect.logWarning(`page ${index + 1} could not be read: ${error.message}`), notice(index))
    ),
    Effect.tap(() =>
      Effect.sync(() => {
        progress.pagesDone += 1
      })
    ),
    Effect.catch((failure) =>
      Effect.sync(() => {
        progress.ended ??= failure
        return undefined
      })
    )
  )
})

/** All pages of the chunk in one call; undefined where one of them cannot be read. */
const wholeChunk = Effect.fnUntraced(function* (
  pages: OpenPages,
  chunk: ClaimedChunk,
  settings: ChunkSettings,
  progress: Progress
) {
  const indexes = Array.from({ length: chunk.lastPage - chunk.firstPage + 1 }, (_, n) => chunk.firstPage + n)
  return yield* convertWhole(pages, indexes, {
    options: chunk.options,
    modelId: settings.modelId,
    mayDegrade: chunk.attempts >= MAX_CHUNK_ATTEMPTS
  }).pipe(
    Effect.tap((lines) => Effect.sync(() => void (progress.pagesDone = lines.length))),
    Effect.catchTag("PdfError", () => Effect.undefined)
  )
})

const encoder = new TextEncoder()

const convert = Effect.fnUntraced(function* (
  chunk: ClaimedChunk,
  settings: ChunkSettings,
  progress: Progress
) {
  const sources = yield* PageSources
  const objects = yield* FileObjects
  const pages = yield* sources.open(chunk.objectKey, { first: chunk.firstPage, end: chunk.lastPage + 1 })
  const whole = Effect.suspend(() =>
    progress.pagesDone <= chunk.lastPage - chunk.firstPage && progress.ended !== undefined
      ? Effect.fail(progress.ended)
      : Effect.void
  )
  const oneByOne = Stream.range(chunk.firstPage, chunk.lastPage).pipe(
    Stream.mapEffect((index) => onePage(pages, index, chunk, settings, progress), {
      concurrency: usesCascade(chunk.options) ? PAGES_AT_MODEL : 1
    }),
    Stream.filter((line) => line !== undefined)
  )
  const together = wholeChunk(pages, chunk, settings, progress).pipe(
    // If one page cannot be read, the others are read one by one.
    Effect.map((found) => (found === undefined ? oneByOne : Stream.fromIterable(found))),
    Stream.unwrap
  )
  const lines = (isWholeChunk(chunk.options) ? together : oneByOne).pipe(
    Stream.map((line) => encoder.encode(`${JSON.stringify(line)}\n`)),
    // An object exists whole or not at all: one that lacks pages is never written.
    Stream.concat(Stream.drain(Stream.fromEffect(whole)))
  )
  const key = chunkResultKey(chunk.jobId, chunk.chunkIndex, chunk.lease)
  yield* objects.put(key, lines, { contentType: "application/x-ndjson" })
  return key
})

/** One entry an attempt, with the lease as its id, so that writing it twice books it once. */
const costsOf = (
  chunk: ClaimedChunk,
  meter: Meter,
  { modelId, price }: ChunkSettings
): ReadonlyArray<CostEntry> =>
  meter.calls === 0
    ? []
    : [
        {
          id: chunk.lease,
          jobId: chunk.jobId,
          chunkId: chunk.id,
          source: "chunk-scheduler",
          backend: "chunked-vision",
          model: modelId,
          usage: meter.usage,
          costUsd: estimateLlmCost(meter.usage, price),
          metadata: { calls: meter.calls, batchServed: meter.batchServed, attempt: chunk.attempts }
        }
      ]

/** Whether the same document would fail in the same way again. */
const isFinal = (failure: PageFailure): boolean =>
  (failure._tag === "PdfError" && !isTransient(failure)) ||
  (failure._tag === "ObjectStoreError" && failure.reason === "missing")

const wordsOf = (failure: PageFailure): string => {
  switch (failure._tag) {
    case "PdfError":
      return failure.message
    case "VisionModelError":
      return "The model that converts pages does not answer"
    case "ObjectStoreError":
      return failure.reason === "missing" ? "The uploaded file is gone" : "The file store does not answer"
  }
}

/**
 * Converts a claimed chunk: page by page, with heartbeats, its result stored before it is recorded. A chunk that was stopped
 * begins no new page; what its pages cost is booked, its result dropped (DOC-13). A failed one is tried again later. When the
 * program stops, the chunk is released.
 */
export const processChunk = (
  chunk: ClaimedChunk,
  settings: ChunkSettings
): Effect.Effect<
  void,
  StoreUnavailable,
  ConversionStore | PageSources | FileObjects | VisionModel | HtmlAssembly
> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    let answering = yield* VisionModel
    const { meter, model } = meteredModel({
      converse: (request, place) => answering.converse(request, place)
    })
    const progress: Progress = { pagesDone: 0, ended: undefined }
    const costs = () => costsOf(chunk, meter, settings)
    const work: Effect.Effect<
      string,
      PageFailure | Stopped,
      PageSources | FileObjects | HtmlAssembly | Scope.Scope | ConversionStore
    > = Effect.gen(function* () {
      yield* Effect.forkScoped(watchLease(chunk, progress, settings.heartbeat), { startImmediately: true })
      answering = yield* withBatchResults(chunk, answering)
      return yield* convert(chunk, settings, progress)
    }).pipe(Effect.provideService(VisionModel, model))

    const ended = yield* Effect.result(Effect.scoped(work)).pipe(
      Effect.onInterrupt(() => lastWord(store.handBackChunk(chunk, costs())))
    )
    if (Result.isSuccess(ended)) {
      const answer = yield* Effect.retry(store.completeChunk(chunk, ended.success, costs()), TELL_AGAIN)
      if (answer === "stale") yield* dropResult(ended.success)
      return
    }
    const failure = ended.failure
    if (failure._tag === "Stopped") {
      return yield* Effect.retry(store.bookCosts(costs()), TELL_AGAIN)
    }
    yield* Effect.logWarning(
      `chunk ${chunk.chunkIndex} of job ${chunk.jobId} failed: ${wordsOf(failure)}`,
      failure
    )
    const told = store.failChunk(chunk, {
      error: wordsOf(failure),
      costs: costs(),
      retryIn: Duration.times(RETRY_FIRST, 5 ** (chunk.attempts - 1)),
      maxAttempts: isFinal(failure) ? 1 : MAX_CHUNK_ATTEMPTS
    })
    yield* Effect.retry(told, TELL_AGAIN)
  }).pipe(Effect.annotateLogs({ job: chunk.jobId, chunk: chunk.chunkIndex }))
