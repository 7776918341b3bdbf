import { Data, Effect, Stream } from "effect"

import { askedOf, HOLD_WINDOW, MAX_CHUNK_ATTEMPTS } from "../../../domain/conversion/job.ts"
import { LegibilityTally, NO_MODEL } from "../../../domain/conversion/page-line.ts"
import { resultKey } from "../../../domain/conversion/stored-files.ts"
import { type ClaimedAssembly, ConversionStore } from "../../../ports/conversion/conversion-store.ts"
import { HtmlAssembly, type PageFragment } from "../../../ports/conversion/html-assembly.ts"
import { PageSources } from "../../../ports/conversion/page-sources.ts"
import { FileObjects, type ObjectStoreError } from "../../../ports/object-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { underLease } from "../../leased-work.ts"
import { storedLines } from "../stored-lines.ts"
import { recordResult, type WorkSettings } from "./attempt.ts"

const encoder = new TextEncoder()

/** Streams a chunk's pages, line by line; each is counted. */
export const pagesOf = (
  objects: FileObjects["Service"],
  key: string,
  tally: LegibilityTally
): Stream.Stream<PageFragment, ObjectStoreError> =>
  storedLines(objects, key).pipe(
    Stream.map((line) => {
      tally.add(line)
      return { index: line.page, label: line.label, html: line.html }
    })
  )

/** A conversion that asked for high fidelity, and got it on no page. */
class NoModel extends Data.TaggedError("NoModel")<{}> {}

const write = Effect.fnUntraced(function* (
  assembly: ClaimedAssembly,
  withoutModel: WorkSettings["withoutModel"]
) {
  const objects = yield* FileObjects
  const { assemble, survey: surveyOf } = yield* HtmlAssembly
  const sources = yield* PageSources
  const facts = yield* sources.facts(assembly.objectKey)
  const tally = new LegibilityTally()
  const pages = Stream.flatMap(Stream.fromIterable(assembly.chunkKeys), (key) => pagesOf(objects, key, tally))
  const survey = yield* surveyOf(pages, facts)
  const { noModelPages, noneByModel } = tally.fidelity
  if (noneByModel && withoutModel !== "standard") return yield* new NoModel()
  const parts = assemble({ facts, name: assembly.fileName, notes: tally.notes, pages, survey })
  const key = resultKey(assembly.jobId, assembly.lease)
  yield* objects.put(
    key,
    Stream.map(parts, (part) => encoder.encode(part)),
    { contentType: "text/html; charset=utf-8" }
  )
  const made = { ...tally.making, options: askedOf(assembly.options) }
  return { key, legibility: tally.legibility, noModelPages, made }
})

/**
 * Assembles a job's result from its chunks' pages and stores it; only then is it completed and charged, in one step, for the
 * pages that could be read (DOC-14). Fails the job after several failed attempts, where no page could be read, and where high
 * fidelity was asked for and no page got it.
 */
export const assembleJob = (
  assembly: ClaimedAssembly,
  settings: Pick<WorkSettings, "heartbeat" | "withoutModel">
): Effect.Effect<void, StoreUnavailable, ConversionStore | FileObjects | HtmlAssembly | PageSources> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const objects = yield* FileObjects
    const fail = store.failJob(assembly.jobId, "The result could not be put together", assembly.lease)
    // Every assembler so far crashed before it could report a failure.
    if (assembly.attempts > MAX_CHUNK_ATTEMPTS) return yield* Effect.asVoid(fail)
    yield* underLease(
      write(assembly, settings.withoutModel),
      {
        name: `assembly of job ${assembly.jobId}`,
        heartbeat: () => store.heartbeatAssembly(assembly, HOLD_WINDOW),
        release: () => store.handBackAssembly(assembly),
        complete: ({ key, legibility, made, noModelPages }) =>
          recordResult(objects, key, store.finishJob(assembly, key, legibility, noModelPages, made)),
        fail: (failure) => {
          if (failure._tag === "NoModel") return store.failJob(assembly.jobId, NO_MODEL, assembly.lease)
          // Otherwise the lease runs out, and it is tried again.
          return assembly.attempts >= MAX_CHUNK_ATTEMPTS ? fail : Effect.void
        }
      },
      settings.heartbeat
    )
  }).pipe(Effect.annotateLogs({ job: assembly.jobId }))
