import { type Duration, Effect, Option, Result, Schema, Stream } from "effect"

import { type ClaimedAssembly, ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import { HtmlAssembly, type PageFragment } from "../../../ports/conversion/html-assembly.ts"
import { PageSources } from "../../../ports/conversion/page-sources.ts"
import { FileObjects, ObjectStoreError } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { fileKey, PageLine, resultKey } from "../chunk-result.ts"
import { HOLD_WINDOW, MAX_CHUNK_ATTEMPTS } from "../job.ts"
import { LegibilityTally } from "../legibility.ts"
import { dropResult, lastWord, whileHeld } from "./leased-work.ts"

const decodeLine = Schema.decodeUnknownEffect(Schema.fromJsonString(PageLine))

const encoder = new TextEncoder()

/** Streams a chunk's pages, line by line; each is counted. */
export const pagesOf = (
  objects: FileObjects["Service"],
  key: string,
  tally: LegibilityTally
): Stream.Stream<PageFragment, ObjectStoreError> =>
  objects.get(key).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line !== ""),
    Stream.mapEffect((line) =>
      Effect.mapError(
        decodeLine(line),
        (cause) => new ObjectStoreError({ reason: "unavailable", key, cause })
      )
    ),
    Stream.map((line) => {
      tally.add(line)
      return { index: line.page, label: line.label, html: line.html }
    })
  )

const write = Effect.fnUntraced(function* (assembly: ClaimedAssembly) {
  const objects = yield* FileObjects
  const { assemble } = yield* HtmlAssembly
  const sources = yield* PageSources
  const facts = yield* sources.facts(fileKey(assembly.fileId))
  const tally = new LegibilityTally()
  const pages = Stream.flatMap(Stream.fromIterable(assembly.chunkKeys), (key) => pagesOf(objects, key, tally))
  const parts = assemble({ facts, name: assembly.fileName, pages })
  const key = resultKey(assembly.jobId, assembly.lease)
  yield* objects.put(
    key,
    Stream.map(parts, (part) => encoder.encode(part)),
    { contentType: "text/html; charset=utf-8" }
  )
  return { key, legibility: tally.legibility }
})

/**
 * Assembles a job's result from its chunks' pages and stores it; only then is it completed and charged, in one step, for the
 * pages that could be read (DOC-14). The work is dropped where another process has claimed the job meanwhile. Fails the job after
 * several failed attempts, or where no page could be read.
 */
export const assembleJob = (
  assembly: ClaimedAssembly,
  settings: { readonly heartbeat: Duration.Duration }
): Effect.Effect<void, StoreUnavailable, ConversionStore | FileObjects | HtmlAssembly | PageSources> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const fail = store.failJob(assembly.jobId, "The result could not be put together", assembly.lease)
    // Every assembler so far crashed before it could report a failure.
    if (assembly.attempts > MAX_CHUNK_ATTEMPTS) return yield* Effect.asVoid(fail)
    const written = yield* whileHeld(
      write(assembly),
      store.heartbeatAssembly(assembly, HOLD_WINDOW),
      settings.heartbeat
    ).pipe(
      Effect.result,
      Effect.onInterrupt(() => lastWord(store.handBackAssembly(assembly)))
    )
    if (Result.isSuccess(written)) {
      if (Option.isNone(written.success)) return
      const { key, legibility } = written.success.value
      const answer = yield* store.finishJob(assembly, key, legibility)
      if (answer !== "completed") yield* dropResult(key)
      return
    }
    yield* Effect.logWarning(`the result of job ${assembly.jobId} could not be put together`, written.failure)
    // Otherwise the lease runs out, and it is tried again.
    if (assembly.attempts >= MAX_CHUNK_ATTEMPTS) yield* fail
  }).pipe(Effect.annotateLogs({ job: assembly.jobId }))
