import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Duration, Effect, Layer, Logger, References, Stream } from "effect"

import * as BatchLines from "../../../../src/adapters/bedrock/batch-lines.ts"
import { makeLocalBatch } from "../../../../src/adapters/bedrock/local-batch/batch-service.ts"
import type { LocalBatchFaults } from "../../../../src/adapters/bedrock/local-batch/faults.ts"
import * as PostgresBatch from "../../../../src/adapters/postgres/batch/batch-store.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as PostgresConversion from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import type { DriverSettings } from "../../../../src/application/batch/lane-settings.ts"
import { BatchReplay } from "../../../../src/application/batch/replay.ts"
import { MAX_BATCH_BYTES } from "../../../../src/application/batch/shards.ts"
import { processChunk } from "../../../../src/application/conversion/work/chunk-processing.ts"
import type { JobOptions } from "../../../../src/domain/conversion/job.ts"
import type { JobId } from "../../../../src/domain/ids.ts"
import { BatchService } from "../../../../src/ports/batch/batch-service.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { PageSources } from "../../../../src/ports/conversion/page-sources.ts"
import { type CallPlace, VisionModel } from "../../../../src/ports/conversion/vision-model.ts"
import { BatchObjects, FileObjects } from "../../../../src/ports/object-store.ts"
import { customer } from "../../../adapters/postgres/conversion/world.ts"
import { pdf, WINDOW } from "../../../contracts/conversion/documents-world.ts"
import { pageOf, plainCleaner } from "../../../domain/conversion/world.ts"
import { anyId } from "../../../support/any-id.ts"
import { empty } from "../../../support/postgres/empty.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { untilFound } from "../../../support/until.ts"
import { makeMapObjects } from "../../../support/worlds/map-objects.ts"
import { driverTick } from "./tick.ts"

export const MODEL = "m1"
export const PRICE = { inputUsdPerMtok: 1000, outputUsdPerMtok: 10_000 }

/** What a test can turn: the service's faults, and which pages are blank. */
export class Knobs extends Context.Service<
  Knobs,
  {
    readonly faults: { -readonly [K in keyof LocalBatchFaults]: LocalBatchFaults[K] }
    /** Calls of the model that were made on demand. */
    readonly calls: Array<CallPlace>
    readonly blank: Set<number>
  }
>()("postlane/test/Knobs") {}

const layerKnobs = Layer.sync(Knobs, () => ({ faults: {}, calls: [], blank: new Set<number>() }))

const objects = Layer.mergeAll(
  Layer.sync(FileObjects, () => makeMapObjects()),
  Layer.sync(BatchObjects, () => makeMapObjects())
)

/** A model that answers with what the page holds: 100 tokens in, 10 out. */
export const echo: VisionModel["Service"] = {
  converse: (request) => {
    const bytes = request.messages
      .flatMap(({ content }) => content)
      .flatMap((block) => ("pdf" in block ? [block.pdf] : []))[0]
    return Effect.succeed({
      text: `<p>${new TextDecoder().decode(bytes)}</p>`,
      stopReason: "end_turn",
      usage: { inputTokens: 100, outputTokens: 10 },
      fromBatch: false
    })
  }
}

const onDemand = Layer.effect(
  VisionModel,
  Effect.map(Knobs, ({ calls }) => ({
    converse: (request, place) =>
      Effect.andThen(
        Effect.sync(() => calls.push(place)),
        echo.converse(request, place)
      )
  }))
)

/** Pages of words. */
const sources = Layer.effect(
  PageSources,
  Effect.map(Knobs, ({ blank }) => ({
    facts: () => Effect.die("not here"),
    open: () =>
      Effect.succeed({
        page: (index: number) => {
          const text = `words of page ${index}`
          return Effect.succeed(
            pageOf(index, text, {
              pdf: Effect.succeed(new TextEncoder().encode(text)),
              isBlank: Effect.sync(() => blank.has(index))
            })
          )
        }
      })
  }))
)

const service = Layer.effect(
  BatchService,
  Effect.gen(function* () {
    const { faults } = yield* Knobs
    return yield* makeLocalBatch({ objects: yield* BatchObjects, model: echo, delayMs: 0, faults })
  })
)

/** The lane on PostgreSQL, with objects in memory, the local batch service and pages of words. */
export const laneWorld = Layer.mergeAll(service, onDemand, sources, plainCleaner, BatchReplay.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(objects, layerKnobs, BatchLines.layer, NodeCrypto.layer)),
  Layer.provideMerge(Layer.mergeAll(PostgresBatch.layer, PostgresConversion.layer)),
  Layer.provideMerge(layerPostgres),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

/** Nothing of an earlier test is in the way. */
export const clean = Effect.gen(function* () {
  const { blank, calls, faults } = yield* Knobs
  yield* empty(
    "customers, files, convert_queue, large_conversion_jobs, chunk_jobs, cost_ledger, flyer_jobs, funds_holds, credit_charges, conversion_batch_jobs"
  )
  for (const name of ["failed", "unfinished", "expires", "stops", "fails", "stopLatencyMs"] as const)
    delete faults[name]
  calls.splice(0)
  blank.clear()
})

export const settingsOf = (changes: Partial<DriverSettings> = {}): DriverSettings => ({
  preparer: anyId(),
  model: MODEL,
  price: PRICE,
  limits: { minRecords: 1, maxRecords: 1000, maxShardBytes: 1000, maxBytes: MAX_BATCH_BYTES },
  timeoutHours: 24,
  pollEvery: Duration.zero,
  ...changes
})

/** A conversion that waits for the batch, in chunks of two pages. */
export const parked = Effect.fnUntraced(function* (pages = 5, options: JobOptions = {}) {
  const store = yield* ConversionStore
  const owner = yield* customer(1000)
  const fileId = yield* pdf(owner, pages)
  const jobId = anyId()
  const all = { highFidelity: true, ...options }
  yield* store.request({ jobId, fileId, customerId: owner, options: all, window: WINDOW })
  yield* store.createJob(jobId, { status: "waiting_batch", options: all, chunkPages: 2 })
  return { owner, fileId, jobId }
})

/** A conversion whose batch job is submitted, and not looked at yet. */
export const submittedJob = Effect.fnUntraced(function* (pages = 3) {
  const settings = settingsOf()
  const { jobId } = yield* parked(pages)
  yield* tickUntil(settings, isState(jobId, "submitted"))
  return { jobId, settings }
})

/** A batch row as it stands. */
export const rowOf = Effect.fnUntraced(function* (jobId: JobId) {
  const sql = yield* WriteSql
  const rows = yield* sql<{
    readonly state: string
    readonly outcome: string | null
    readonly close_reason: string | null
    readonly end_state: string | null
    readonly attempts: number
    readonly accepted: number
    readonly fallback: number
    readonly records: number
  }>`select state, outcome, close_reason, end_state, attempts, accepted, fallback, records
    from conversion_batch_jobs where job_id = ${jobId}::uuid`
  return rows[0]
})

export const jobOf = Effect.fnUntraced(function* (jobId: JobId) {
  const sql = yield* WriteSql
  const rows = yield* sql<{
    readonly status: string
    readonly options: JobOptions
    readonly cost: number | null
    readonly chunks: ReadonlyArray<string>
    readonly phase: string | null
  }>`select j.status, j.options, j.total_cost_usd::float8 as cost,
      array(select distinct c.status from chunk_jobs c where c.job_id = j.id order by 1) as chunks, f.phase
    from large_conversion_jobs j join files f on f.id = j.file_id where j.id = ${jobId}::uuid`
  return rows[0]!
})

export const ledger = Effect.gen(function* () {
  const sql = yield* WriteSql
  return yield* sql<{
    readonly source: string
    readonly backend: string
    readonly input: number
    readonly output: number
    readonly cost: number
    readonly metadata: Readonly<Record<string, unknown>>
  }>`select source, backend, input_tokens::float8 as input, output_tokens::float8 as output, cost_usd::float8 as cost, metadata
    from cost_ledger order by source, created_at`
})

/** Ticks until something holds. */
export const tickUntil = <E, R>(settings: DriverSettings, holds: Effect.Effect<boolean, E, R>, term = 1) =>
  untilFound(
    "the driver's ticks bring what the test expects",
    Effect.flatMap(holds, (now) =>
      now ? Effect.succeed(true) : Effect.as(driverTick(settings, term), false)
    )
  )

export const isClosed = (jobId: JobId) => Effect.map(rowOf(jobId), (row) => row?.state === "closed")
export const isState = (jobId: JobId, state: string) =>
  Effect.map(rowOf(jobId), (row) => row?.state === state)

/** Works on every chunk that there is; answers the pages' HTML, in order. */
export const convertAll = Effect.fnUntraced(function* (modelId = MODEL, dailyBudgetUsd?: number) {
  const store = yield* ConversionStore
  const files = yield* FileObjects
  const replay = yield* BatchReplay
  const keys: Array<string> = []
  const sql = yield* WriteSql
  while (true) {
    const chunk = yield* store.claimChunk("w", anyId())
    if (chunk === undefined) break
    yield* processChunk(chunk, {
      heartbeat: Duration.seconds(10),
      modelId,
      price: PRICE,
      dailyBudgetUsd
    }).pipe(Effect.provideService(BatchReplay, replay))
    const rows = yield* sql<{ readonly key: string | null }>`select result_key as key from chunk_jobs
      where id = ${chunk.id}::uuid`
    keys.push(rows[0]?.key ?? "failed")
  }
  const texts = yield* Effect.forEach(keys, (key) => Stream.mkString(Stream.decodeText(files.get(key))))
  return texts.join("")
})

/** What is logged of at least this level. */
export const logged = (level: "Warn" | "Error") => {
  const lines: Array<string> = []
  const layers = Layer.mergeAll(
    Logger.layer([Logger.map(Logger.formatSimple, (line) => void lines.push(line))]),
    Layer.succeed(References.MinimumLogLevel, level)
  )
  return { lines, layers }
}
