import { Data, Duration, Effect, Stream } from "effect"

import {
  HOLD_WINDOW,
  layoutOptionsOf,
  MAX_CHUNK_ATTEMPTS,
  usesCascade
} from "../../../domain/conversion/job.ts"
import { isModelTier, notice, type PageLine } from "../../../domain/conversion/page-line.ts"
import { chunkResultKey } from "../../../domain/conversion/stored-files.ts"
import { type ClaimedChunk, ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import type { HtmlAssembly } from "../../../ports/conversion/html-assembly.ts"
import { type OpenPages, PageSources } from "../../../ports/conversion/page-sources.ts"
import { VisionModel, type VisionModelError } from "../../../ports/conversion/vision-model.ts"
import { FileObjects, type ObjectStoreError } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import type { PdfError } from "../../../reader/model/pdf-document.ts"
import { withBatchResults } from "../../batch/replay.ts"
import { convertPage, type PageResult } from "../../cascade/cascade.ts"
import { convertWhole, isWholeChunk } from "../../cascade/whole-chunk.ts"
import { underLease } from "../../leased-work.ts"
import {
  costsOf,
  failureText,
  isFinal,
  makeBooking,
  makeMeter,
  metered,
  recordResult,
  withinBudget,
  type WorkSettings
} from "./attempt.ts"

/** Concurrent model calls of one chunk; the pacing limits them over all chunks. */
const PAGES_AT_MODEL = 4

/** Delay before a failed chunk is tried again; five times as long each further time. */
const RETRY_FIRST = Duration.seconds(20)

/** Wait of a chunk with batch results when the day's budget has no room for its other calls. */
const RETRY_BUDGET = Duration.minutes(15)

/** This worker has lost the chunk: no new page is begun. */
class Stopped extends Data.TaggedError("Stopped")<{}> {}

type PageFailure = PdfError | VisionModelError | ObjectStoreError

/** State of one chunk while it is processed. */
interface Progress {
  pagesDone: number
  /** Pages that the model or the account refused, or that it gave no answer to. */
  unanswered: number
  /** Why no new page is begun. */
  ended: PageFailure | Stopped | undefined
}

const unansweredOf = (lines: ReadonlyArray<PageLine>): number =>
  lines.filter(({ noModel }) => noModel === "refused" || noModel === "unavailable").length

/**
 * Converts one page; does nothing where the chunk has ended. A page that cannot be read does not fail the others, and a failure
 * does not interrupt those under way: their answers are paid for and have to be counted.
 */
const onePage = Effect.fnUntraced(function* (
  pages: OpenPages,
  index: number,
  chunk: ClaimedChunk,
  settings: WorkSettings,
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
    Effect.tap(({ noModel }) =>
      noModel === undefined
        ? Effect.void
        : Effect.logWarning(
            `page ${index + 1}: no model converted it (${noModel}), falling back to the layout tier`
          )
    ),
    Effect.map(({ doubts, html, label, noModel, page, tier }: PageResult): PageLine => ({
      doubts,
      html,
      label,
      // A chunk with an unreadable page is not given to a model that takes it as a whole.
      noModel: noModel ?? (isWholeChunk(chunk.options) && tier !== "blank" ? "unfit" : undefined),
      page,
      tier
    })),
    Effect.catchTag("PdfError", (error) =>
      Effect.as(Effect.logWarning(`page ${index + 1} could not be read: ${error.message}`), notice(index))
    ),
    Effect.tap((line) =>
      Effect.sync(() => {
        progress.pagesDone += 1
        progress.unanswered += unansweredOf([line])
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
  settings: WorkSettings,
  progress: Progress
) {
  const indexes = Array.from({ length: chunk.lastPage - chunk.firstPage + 1 }, (_, n) => chunk.firstPage + n)
  return yield* convertWhole(pages, indexes, {
    options: chunk.options,
    modelId: settings.modelId,
    mayDegrade: chunk.attempts >= MAX_CHUNK_ATTEMPTS
  }).pipe(
    Effect.tap((lines) =>
      Effect.sync(() => {
        progress.pagesDone = lines.length
        progress.unanswered = unansweredOf(lines)
      })
    ),
    Effect.catchTag("PdfError", () => Effect.undefined)
  )
})

const encoder = new TextEncoder()

const convert = Effect.fnUntraced(function* (
  chunk: ClaimedChunk,
  settings: WorkSettings,
  progress: Progress
) {
  const sources = yield* PageSources
  const objects = yield* FileObjects
  const pages = yield* sources.open(
    chunk.objectKey,
    { first: chunk.firstPage, end: chunk.lastPage + 1 },
    layoutOptionsOf(chunk.options)
  )
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
    Stream.map((line) => (isModelTier(line.tier) ? { ...line, model: settings.modelId } : line)),
    Stream.map((line) => encoder.encode(`${JSON.stringify(line)}\n`)),
    // An object exists whole or not at all: one that lacks pages is never written.
    Stream.concat(Stream.drain(Stream.fromEffect(whole)))
  )
  const key = chunkResultKey(chunk.jobId, chunk.chunkIndex, chunk.lease)
  yield* objects.put(key, lines, { contentType: "application/x-ndjson" })
  return key
})

/**
 * Converts a claimed chunk, its result stored before it is recorded. Once the lease is lost it begins no new page; what its pages
 * cost is booked, its result dropped (DOC-13). A failed chunk is tried again later. When the program stops, it is released.
 */
export const processChunk = (
  chunk: ClaimedChunk,
  settings: WorkSettings
): Effect.Effect<
  void,
  StoreUnavailable,
  ConversionStore | PageSources | FileObjects | VisionModel | HtmlAssembly
> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const objects = yield* FileObjects
    const meter = makeMeter()
    const progress: Progress = { pagesDone: 0, unanswered: 0, ended: undefined }
    const costs = () =>
      costsOf(meter, settings, {
        id: chunk.lease,
        jobId: chunk.jobId,
        chunkId: chunk.id,
        source: "chunk-scheduler",
        backend: "chunked-vision",
        metadata: { calls: meter.calls, batchServed: meter.batchServed, attempt: chunk.attempts }
      })
    const booking = makeBooking(meter, () => store.bookCosts(costs()))
    const work = Effect.gen(function* () {
      const asked = yield* VisionModel
      const model = yield* withBatchResults(
        chunk,
        chunk.options._batchPrimed === true
          ? withinBudget(asked, settings.dailyBudgetUsd, store.modelCostToday)
          : asked
      )
      return yield* Effect.provideService(
        convert(chunk, settings, progress),
        VisionModel,
        metered(model, meter)
      )
    })
    yield* underLease(
      Effect.catchTag(Effect.scoped(work), "Stopped", () => Effect.undefined),
      {
        name: `chunk ${chunk.chunkIndex} of job ${chunk.jobId}`,
        heartbeat: () => booking(store.heartbeatChunk(chunk, progress.pagesDone, HOLD_WINDOW)),
        release: () => store.handBackChunk(chunk, costs()),
        complete: (key) =>
          recordResult(
            objects,
            key,
            store.completeChunk(chunk, key, costs(), {
              unanswered: progress.unanswered,
              served: meter.batchServed
            })
          ),
        fail: (failure: PageFailure) =>
          failure._tag === "VisionModelError" && failure.reason === "budget"
            ? store.handBackChunk(chunk, costs(), RETRY_BUDGET)
            : store.failChunk(chunk, {
                error: failureText(failure),
                costs: costs(),
                retryIn: Duration.times(RETRY_FIRST, 5 ** (chunk.attempts - 1)),
                maxAttempts: isFinal(failure) ? 1 : MAX_CHUNK_ATTEMPTS
              }),
        lost: () => store.bookCosts(costs()),
        stop: () => {
          progress.ended ??= new Stopped()
        }
      },
      settings.heartbeat
    )
  }).pipe(Effect.annotateLogs({ job: chunk.jobId, chunk: chunk.chunkIndex }))
