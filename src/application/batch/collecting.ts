import { Data, Effect, Stream } from "effect"

import type { BatchTally } from "../../domain/batch/cost.ts"
import { manifestKey, preparedOf, decodeManifestLine, type ManifestEntry } from "../../domain/batch/keys.ts"
import { accepted, type ReturnedRecord } from "../../domain/batch/record.ts"
import { addUsage, NO_TOKENS } from "../../domain/cascade/cost.ts"
import type { JobId } from "../../domain/ids.ts"
import { BatchLines } from "../../ports/batch/batch-lines.ts"
import type { BatchJob } from "../../ports/batch/batch-service.ts"
import { BatchObjects, ObjectStoreError } from "../../ports/object-store.ts"
import { eachLine } from "./lines.ts"
import { makeResultsWriter } from "./results.ts"

/** The output is incomplete or malformed, perhaps only for now. */
class CollectFailed extends Data.TaggedError("CollectFailed")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** The files of a batch job's output; the service's own `manifest.json.out` is not one of them. */
const outputFiles = Effect.fnUntraced(function* (job: BatchJob) {
  const objects = yield* BatchObjects
  const found = yield* Stream.runCollect(objects.list(job.outputPrefix))
  return [...found]
    .map(({ key }) => key)
    .filter((key) => key.endsWith(".jsonl.out"))
    .sort()
})

const noTally = (records: number): BatchTally => ({
  returned: 0,
  usage: NO_TOKENS,
  acceptedUsage: NO_TOKENS,
  accepted: 0,
  fallback: records
})

const withReturned = (tally: BatchTally, record: ReturnedRecord): BatchTally => ({
  ...tally,
  returned: tally.returned + 1,
  usage: addUsage(tally.usage, record.usage)
})

const withAccepted = (tally: BatchTally, record: ReturnedRecord): BatchTally => ({
  ...tally,
  acceptedUsage: addUsage(tally.acceptedUsage, record.usage),
  accepted: tally.accepted + 1,
  fallback: tally.fallback - 1
})

const decoder = new TextDecoder()

const readManifest = Effect.fnUntraced(function* (job: BatchJob) {
  const objects = yield* BatchObjects
  const prepared = preparedOf(job.inputPrefix)
  if (prepared === undefined) {
    return yield* new CollectFailed({ reason: `the batch job reads ${job.inputPrefix}, which is not ours` })
  }
  const key = manifestKey(prepared)
  const entries = new Map<string, ManifestEntry>()
  // Nearly all records share their prompt and model: one text of each is kept.
  const texts = new Map<string, string>()
  const once = (text: string): string => {
    const known = texts.get(text) ?? text
    texts.set(known, known)
    return known
  }
  yield* eachLine(objects.get(key, { passing: true }), (line) =>
    decodeManifestLine(decoder.decode(line)).pipe(
      Effect.mapError((cause) => new ObjectStoreError({ reason: "unavailable", key, cause })),
      Effect.map(
        (entry) =>
          void entries.set(entry.recordId, {
            ...entry,
            promptHash: once(entry.promptHash),
            model: once(entry.model)
          })
      )
    )
  )
  return entries
})

/**
 * Describes what is still missing from a batch job's output, as far as the service reports it: a file for each shard, and its
 * records.
 */
const unseenOf = (
  job: BatchJob,
  shards: number,
  seen: { readonly files: number; readonly records: number }
): string | undefined => {
  if (job.status === "Completed" && seen.files < shards) return `${seen.files} of ${shards} output files`
  return seen.records < (job.processed ?? 0)
    ? `${seen.records} of ${job.processed} output records`
    : undefined
}

/** One collect of a job's results. */
interface Collecting {
  readonly jobId: JobId
  readonly attempt: number
  /** Files that were submitted. */
  readonly shards: number
  /** True when incomplete output is accepted. */
  readonly partly: boolean
}

/**
 * Reads a batch job's output line by line and writes one results file a chunk (BATCH-16, BATCH-20). Every returned record is
 * counted, accepted or not; of two with one id the first is used; lines that are not records are skipped. Output that is not
 * visible yet is waited for, but `partly` takes what is there: pages without a record are converted on demand.
 */
export const collect = (
  collecting: Collecting,
  job: BatchJob
): Effect.Effect<BatchTally, ObjectStoreError | CollectFailed, BatchObjects | BatchLines> =>
  Effect.gen(function* () {
    const objects = yield* BatchObjects
    const { read } = yield* BatchLines
    const waiting = yield* readManifest(job)
    const files = yield* outputFiles(job)
    if (files.length === 0) return yield* new CollectFailed({ reason: "there is no output" })
    const writer = makeResultsWriter(objects, collecting, waiting.values())
    const submitted = waiting.size
    let tally = noTally(submitted)
    let unreadable = 0
    for (const key of files) {
      yield* eachLine(objects.get(key, { passing: true }), (line) =>
        Effect.suspend(() => {
          const record = line === undefined ? undefined : read(line)
          if (record === undefined) {
            unreadable += 1
            return Effect.void
          }
          tally = withReturned(tally, record)
          const entry = waiting.get(record.recordId)
          if (entry === undefined) return Effect.void
          waiting.delete(record.recordId)
          const taken = accepted(record)
          if (taken.answer !== undefined) tally = withAccepted(tally, taken)
          return writer.add(entry, taken)
        })
      )
    }
    if (tally.returned === 0) return yield* new CollectFailed({ reason: "the output holds no record" })
    // An unreadable line was a record. A line with a repeated or unknown id was not.
    const records = submitted - waiting.size + unreadable
    const unseen = unseenOf(job, collecting.shards, { files: files.length, records })
    if (unseen !== undefined && !collecting.partly) {
      return yield* new CollectFailed({ reason: `only ${unseen} can be seen` })
    }
    if (unseen !== undefined) yield* Effect.logError(`only ${unseen} can be seen: the bill is too low`)
    yield* writer.finish
    if (unreadable > 0) yield* Effect.logWarning(`${unreadable} lines of the batch output are no records`)
    return tally
  })

/** The records that were submitted, to know others by; undefined where the list of them is gone. */
const submittedRecords = (job: BatchJob) =>
  readManifest(job).pipe(
    Effect.catchTag("CollectFailed", () => Effect.succeed(undefined)),
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.succeed(undefined)
    )
  )

/**
 * Counts what a batch job returned, for its bill; none of it is used. `whole` is false where some output could not be read: it
 * may appear later.
 */
export const tallyOnly = (
  records: number,
  job: BatchJob
): Effect.Effect<{ readonly tally: BatchTally; readonly whole: boolean }, never, BatchObjects | BatchLines> =>
  Effect.gen(function* () {
    const objects = yield* BatchObjects
    const { read } = yield* BatchLines
    const seen = new Set<string>()
    let tally = noTally(records)
    let unreadable = 0
    let whole = true
    const unread = (error: ObjectStoreError) => {
      whole = false
      return Effect.logWarning("output of a batch job could not be read", error)
    }
    const known =
      job.processed === undefined
        ? undefined
        : yield* submittedRecords(job).pipe(
            Effect.catchTag("ObjectStoreError", (error) => Effect.as(unread(error), undefined))
          )
    const files = yield* outputFiles(job).pipe(
      Effect.catchTag("ObjectStoreError", (error) => Effect.as(unread(error), []))
    )
    for (const key of files) {
      yield* eachLine(objects.get(key, { passing: true }), (line) =>
        Effect.sync(() => {
          const record = line === undefined ? undefined : read(line)
          if (record === undefined) unreadable += 1
          else {
            if (known?.has(record.recordId) ?? true) seen.add(record.recordId)
            tally = withReturned(tally, record)
          }
        })
      ).pipe(Effect.catchTag("ObjectStoreError", unread))
    }
    return { tally, whole: whole && seen.size + unreadable >= (job.processed ?? 0) }
  })
