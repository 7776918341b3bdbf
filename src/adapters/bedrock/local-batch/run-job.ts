import { Effect, Option, Stream } from "effect"

import type { VisionModel } from "../../../ports/conversion/vision-model.ts"
import type { ObjectStoreError, ObjectStoreService } from "../../../ports/object-store.ts"
import { callOf, decodeRecord, type InputRecord } from "../batch-lines.ts"
import { fateOf, type LocalBatchFaults } from "./faults.ts"
import type { Asked, Ended } from "./state.ts"

/** Records that are answered concurrently. */
const AT_ONCE = 2

/** What running a job needs. */
interface RunOptions {
  readonly objects: ObjectStoreService
  readonly model: VisionModel["Service"]
  readonly faults: LocalBatchFaults
  /** Whether a stop was requested; checked before each record. */
  readonly stopping: Effect.Effect<boolean>
}

const place = { tier: "hifi-single-pass", page: 0 } as const

/** An answer in the shape of the Converse API, or the error of a record. */
const answer = (record: InputRecord, modelId: string, { faults, model }: RunOptions) =>
  fateOf(record.recordId, faults) === "failed"
    ? Effect.succeed({ error: { errorCode: 500, errorMessage: "the model failed" } })
    : model.converse(callOf(modelId, record), place).pipe(
        Effect.map(({ stopReason, text, usage }) => ({
          modelOutput: {
            output: { message: { role: "assistant", content: [{ text }] } },
            stopReason,
            usage: { ...usage, totalTokens: usage.inputTokens + usage.outputTokens }
          }
        })),
        Effect.catch(({ message }) => Effect.succeed({ error: { errorCode: 400, errorMessage: message } }))
      )

const encoder = new TextEncoder()

const inputFiles = (objects: ObjectStoreService, prefix: string) =>
  Effect.map(Stream.runCollect(objects.list(prefix)), (found) =>
    [...found]
      .map(({ key }) => key)
      .filter((key) => key.endsWith(".jsonl"))
      .sort()
  )

/**
 * Answers every record of a job with the model and writes the output as Bedrock does: a file for each input file, records with
 * their input echoed, and a count of them. Run again after a crash, it overwrites the output with the same bytes.
 */
export const runJob = (
  job: Asked,
  outputPrefix: string,
  options: RunOptions
): Effect.Effect<Ended, ObjectStoreError> =>
  Effect.gen(function* () {
    const { faults, objects } = options
    const cutShort: Pick<Ended, "status" | "message"> | undefined =
      faults.expires === true
        ? { status: "Expired", message: "timed out" }
        : faults.stops === true
          ? { status: "Stopped" }
          : undefined
    if (cutShort !== undefined && faults.unfinished === undefined) return { ...cutShort, processed: 0 }
    if (faults.fails !== undefined) {
      return { status: "Failed", message: faults.fails, processed: 0 } as const
    }
    const files = yield* inputFiles(objects, job.inputPrefix)
    if (files.length === 0) {
      return { status: "Failed", message: "there is no input", processed: 0 } as const
    }
    let total = 0
    let processed = 0
    let stopped = false
    const one = Effect.fnUntraced(function* (line: string) {
      total += 1
      const record = decodeRecord(line)
      if (Option.isSome(record) && fateOf(record.value.recordId, faults) === "unfinished") return ""
      stopped = stopped || (yield* options.stopping)
      if (stopped) return ""
      processed += 1
      if (Option.isNone(record)) {
        return `${JSON.stringify({ error: { errorCode: 400, errorMessage: "the record cannot be read" } })}\n`
      }
      const { modelInput, recordId } = record.value
      const answered = yield* answer(record.value, job.model, options)
      return `${JSON.stringify({ recordId, modelInput, ...answered })}\n`
    })
    for (const key of files) {
      const lines = objects.get(key).pipe(
        Stream.decodeText(),
        Stream.splitLines,
        Stream.filter((line) => line !== ""),
        Stream.mapEffect(one, { concurrency: AT_ONCE }),
        Stream.map((line) => encoder.encode(line))
      )
      const name = key.slice(key.lastIndexOf("/") + 1)
      yield* objects.put(`${outputPrefix}${name}.out`, lines, { contentType: "application/jsonl" })
    }
    const counts = { totalRecordCount: total, processedRecordCount: processed }
    yield* objects.put(
      `${outputPrefix}manifest.json.out`,
      Stream.make(encoder.encode(JSON.stringify(counts))),
      { contentType: "application/json" }
    )
    if (stopped) return { status: "Stopped", processed } as const
    if (cutShort !== undefined) return { ...cutShort, processed }
    return { status: processed < total ? "PartiallyCompleted" : "Completed", processed } as const
  })
