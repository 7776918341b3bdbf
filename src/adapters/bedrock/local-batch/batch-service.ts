import { Clock, Effect, FiberSet, type Scope, Stream } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import { type BatchJob, type BatchService, BatchServiceError } from "../../../ports/batch/batch-service.ts"
import type { VisionModel } from "../../../ports/conversion/vision-model.ts"
import type { ObjectStoreError, ObjectStoreService } from "../../../ports/object-store.ts"
import type { LocalBatchFaults } from "./faults.ts"
import { runJob } from "./run-job.ts"
import { Asked, Ended, notesOn, Stopping } from "./state.ts"

interface LocalBatchOptions {
  /** Where the jobs' inputs are, their outputs go, and the jobs themselves are noted. */
  readonly objects: ObjectStoreService
  readonly model: VisionModel["Service"]
  /** How long a job waits before it runs, milliseconds. */
  readonly delayMs: number
  readonly faults?: LocalBatchFaults | undefined
}

/** How often a running job asks whether it is to stop, at most. */
const ASK_EVERY_MS = 200

const ARN = "arn:aws:bedrock:local:000000000000:model-invocation-job/"

const unavailable = (cause: ObjectStoreError) =>
  new BatchServiceError({ reason: "unavailable", message: "the object store does not answer", cause })

const missing = (arn: string) =>
  new BatchServiceError({ reason: "missing", message: `there is no batch job ${arn}` })

/** The service's state in this process; the jobs themselves are in the object store. */
interface LocalBatch extends LocalBatchOptions {
  readonly faults: LocalBatchFaults
  readonly notes: ReturnType<typeof notesOn>
  readonly fibers: FiberSet.FiberSet
  /** Ids of the jobs that run in this process. */
  readonly running: Set<string>
}

const outputOf = (id: string, job: Asked) => `${job.outputPrefix}${id}/`

/** Whether a stop was requested; looks at most every {@link ASK_EVERY_MS}. */
const askedToStop = ({ notes }: LocalBatch, id: string) => {
  let answer = false
  let askedAt = -Infinity
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (!answer && now - askedAt >= ASK_EVERY_MS) {
      askedAt = now
      const found = yield* Effect.orElseSucceed(notes.read(Stopping, id, "stop"), () => undefined)
      answer = found !== undefined
    }
    return answer
  })
}

const run = (local: LocalBatch, id: string, job: Asked) =>
  Effect.gen(function* () {
    const { delayMs, notes } = local
    const wait = job.submittedAt + delayMs - (yield* Clock.currentTimeMillis)
    if (wait > 0) yield* Effect.sleep(wait)
    const stopping = askedToStop(local, id)
    if (yield* stopping) return
    const ended = yield* runJob(job, outputOf(id, job), { ...local, stopping })
    // The end of a requested stop follows from the time of the request.
    const asked = ended.status === "Stopped" && (yield* notes.read(Stopping, id, "stop")) !== undefined
    if (!asked && (yield* notes.read(Ended, id, "end")) === undefined) yield* notes.write(id, "end", ended)
  }).pipe(
    Effect.catch((error) => Effect.logWarning("a local batch job failed; it is run again", error)),
    Effect.ensuring(Effect.sync(() => local.running.delete(id)))
  )

const start = (local: LocalBatch, id: string, job: Asked) =>
  Effect.suspend(() => {
    if (local.running.has(id)) return Effect.void
    local.running.add(id)
    return Effect.asVoid(FiberSet.run(local.fibers, run(local, id, job)))
  })

/** Records in the output of a job that was stopped. */
const processedOf = ({ objects }: LocalBatch, id: string, job: Asked) =>
  objects.list(outputOf(id, job)).pipe(
    Stream.filter(({ key }) => key.endsWith(".jsonl.out")),
    Stream.flatMap(({ key }) => objects.get(key)),
    Stream.runFold(
      () => 0,
      (lines, bytes) => bytes.reduce((sum, byte) => (byte === 10 ? sum + 1 : sum), lines)
    )
  )

/** Status of a job. Ends a job that is due, and runs one again that a crash interrupted. */
const statusOf = Effect.fnUntraced(function* (local: LocalBatch, id: string, job: Asked) {
  const { notes } = local
  const ended = yield* notes.read(Ended, id, "end")
  if (ended !== undefined) return ended
  const now = yield* Clock.currentTimeMillis
  const stop = yield* notes.read(Stopping, id, "stop")
  if (stop !== undefined) {
    if (now < stop.stoppedAt || local.running.has(id)) return { status: "Stopping" } as const
    const stopped = { status: "Stopped", processed: yield* processedOf(local, id, job) } as const
    yield* notes.write(id, "end", stopped)
    return stopped
  }
  if (now >= job.submittedAt + job.timeoutHours * 3_600_000) {
    const expired = { status: "Expired", message: "timed out", processed: 0 } as const
    yield* notes.write(id, "end", expired)
    return expired
  }
  yield* start(local, id, job)
  return { status: now < job.submittedAt + local.delayMs ? "Submitted" : "InProgress" } as const
})

const jobOf = ({ notes }: LocalBatch, arn: string) => {
  const id = arn.startsWith(ARN) ? arn.slice(ARN.length) : ""
  if (!/^[a-z0-9]{12}$/.test(id)) return Effect.fail(missing(arn))
  return notes.read(Asked, id, "job").pipe(
    Effect.mapError(unavailable),
    Effect.flatMap((job) => (job === undefined ? Effect.fail(missing(arn)) : Effect.succeed({ id, job })))
  )
}

const get = Effect.fnUntraced(function* (local: LocalBatch, arn: string) {
  const { id, job } = yield* jobOf(local, arn)
  const standing: {
    readonly status: BatchJob["status"]
    readonly message?: string
    readonly processed?: number
  } = yield* Effect.mapError(statusOf(local, id, job), unavailable)
  return {
    arn,
    name: job.name,
    status: standing.status,
    message: standing.message,
    inputPrefix: job.inputPrefix,
    outputPrefix: outputOf(id, job),
    processed: standing.processed
  }
})

/**
 * Replaces the batch service in an installation without one: reads the same records from the object store, answers them with the
 * model after a while, and writes the same output. Jobs are notes in the object store and outlive the process; one that a crash
 * interrupted is run again when it is next asked for. Several processes on one machine may share it.
 */
export const makeLocalBatch = Effect.fnUntraced(function* (
  options: LocalBatchOptions
): Effect.fn.Return<BatchService["Service"], never, Scope.Scope | Digest> {
  const digest = yield* Digest
  const notes = notesOn(options.objects)
  const local: LocalBatch = {
    ...options,
    faults: options.faults ?? {},
    notes,
    fibers: yield* FiberSet.make(),
    running: new Set()
  }

  /** The same for a name, as the token of a request would have it: twelve characters of `[a-z0-9]`. */
  const idOf = (name: string) =>
    Effect.map(digest.digestHex(sha256, new TextEncoder().encode(name)), (hex) => hex.slice(0, 12))

  return {
    create: Effect.fnUntraced(function* (asked) {
      const id = yield* idOf(asked.name)
      const found = yield* notes.read(Asked, id, "job")
      const job = found ?? { ...asked, submittedAt: yield* Clock.currentTimeMillis }
      if (found === undefined) yield* notes.write(id, "job", job)
      yield* start(local, id, job)
      return `${ARN}${id}`
    }, Effect.mapError(unavailable)),

    get: (arn) => get(local, arn),

    findByName: Effect.fnUntraced(function* (name) {
      const id = yield* idOf(name)
      return (yield* notes.read(Asked, id, "job")) === undefined ? undefined : `${ARN}${id}`
    }, Effect.mapError(unavailable)),

    stop: Effect.fnUntraced(function* (arn) {
      const { id } = yield* jobOf(local, arn)
      const now = yield* Clock.currentTimeMillis
      const known = yield* Effect.mapError(notes.read(Stopping, id, "stop"), unavailable)
      if (known !== undefined) return
      yield* Effect.mapError(
        notes.write(id, "stop", { stoppedAt: now + (local.faults.stopLatencyMs ?? 0) }),
        unavailable
      )
    })
  }
})
