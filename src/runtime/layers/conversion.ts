import { hostname } from "node:os"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Duration } from "effect"

import { makeBedrockVision } from "../../adapters/bedrock/vision-model.ts"
import * as Inspector from "../../adapters/document-inspection/inspector.ts"
import { layerDocx } from "../../adapters/docx/docx-converter.ts"
import * as Html from "../../adapters/html/html-assembly.ts"
import * as Eld from "../../adapters/language-detection/eld.ts"
import * as LocalModel from "../../adapters/local-model/vision-model.ts"
import { layerPdf } from "../../adapters/pdf/pdf.ts"
import * as PostgresConversion from "../../adapters/postgres/conversion/conversion-store.ts"
import * as ReaderProcess from "../../adapters/reader-process/reader-process.ts"
import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import { pacedModel } from "../../domain/conversion/cascade/paced-model.ts"
import { Conversions, createQueuedJobs } from "../../domain/conversion/conversions.ts"
import { FileWatch } from "../../domain/conversion/file-watch.ts"
import { HOLD_WINDOW, MAX_CHUNK_ATTEMPTS } from "../../domain/conversion/job.ts"
import { Uploads, purgeFiles } from "../../domain/conversion/uploads.ts"
import * as ReadPages from "../../domain/conversion/work/read-pages.ts"
import { workOnce } from "../../domain/conversion/work/worker.ts"
import { staleAfter } from "../../domain/leased-work.ts"
import { ConversionStore } from "../../ports/conversion/conversion-store.ts"
import { VisionModel } from "../../ports/conversion/vision-model.ts"
import { leaderTicking } from "../process/leadership.ts"
import { ticking, workers } from "../process/supervisor.ts"
import type { ConversionSettings } from "../settings/settings.ts"
import { batchLane, batchAnchor, laneOf } from "./batch.ts"
import { usesLocalModel, objects } from "./objects.ts"

/** The hi-fi model, paced. */
const model = (settings: ConversionSettings, credentials: CredentialSource) => {
  if (usesLocalModel(settings)) return LocalModel.layer
  return Layer.effect(
    VisionModel,
    Effect.flatMap(
      makeBedrockVision({
        region: settings.cloud.region,
        endpoint: settings.cloud.bedrockRuntimeEndpoint,
        credentials
      }),
      pacedModel
    )
  )
}

/** What conversions are made with, on a database; the batch lane among it. */
export const conversion = (settings: ConversionSettings, credentials: CredentialSource) =>
  Layer.provideMerge(batchLane(settings, credentials), core(settings, credentials))

const core = (settings: ConversionSettings, credentials: CredentialSource) =>
  Layer.mergeAll(Uploads.layer, Conversions.layer, FileWatch.layer).pipe(
    Layer.provide(Inspector.layer),
    Layer.provideMerge(ReadPages.layer),
    Layer.provideMerge(model(settings, credentials)),
    Layer.provideMerge(
      Layer.mergeAll(
        layerPdf(),
        objects(settings, credentials),
        PostgresConversion.layer,
        Layer.provide(layerDocx(), ReaderProcess.layer),
        Layer.provideMerge(Html.layer, Eld.layer)
      )
    ),
    Layer.provide(NodeCrypto.layer)
  )

/** Pieces of work under way at once in one process. */
const WORKERS = 2

/** How long a worker that found nothing to do waits. */
const IDLE = Duration.millis(400)

/** How often the queue `convert` is looked at. */
const EXECUTE_EVERY = Duration.millis(300)

/** How often orphans, stuck files and the budget are checked; half a lease at most. */
const upkeepEvery = (heartbeat: Duration.Duration): Duration.Duration =>
  Duration.clamp(heartbeat, { minimum: Duration.millis(200), maximum: Duration.seconds(10) })

const heartbeatOf = (settings: ConversionSettings): Duration.Duration =>
  Duration.millis(settings.conversion.heartbeatIntervalMs)

/** The workers of a process: chunks, assemblies, flyers and what is converted inline. */
export const conversionWorkers = (settings: ConversionSettings) => {
  const { id: modelId, ...price } = settings.conversion.model
  const work = { heartbeat: heartbeatOf(settings), modelId, price }
  return workers("chunk-worker", { count: WORKERS, idle: IDLE }, (slot) =>
    workOnce(`${hostname()}/${process.pid}/${slot}`, work)
  ).pipe(Layer.provide(NodeCrypto.layer))
}

const upkeep = (settings: ConversionSettings) =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const stale = staleAfter(heartbeatOf(settings))
    while ((yield* store.recoverOrphan(stale, MAX_CHUNK_ATTEMPTS)) > 0);
    yield* store.sweep(HOLD_WINDOW, stale)
    while ((yield* store.deleteFileOfClosedAccount) > 0);
    yield* store.applyBudget(settings.conversion.dailyBudgetUsd)
    yield* purgeFiles
  })

/** Conversion upkeep: makes the requested jobs and, while this process leads, maintains all of them. */
export const conversionAnchor = (settings: ConversionSettings) =>
  Layer.mergeAll(
    ticking("convert-executor", EXECUTE_EVERY, createQueuedJobs(laneOf(settings))),
    leaderTicking("conversion-upkeep", upkeepEvery(heartbeatOf(settings)), upkeep(settings)),
    batchAnchor(settings)
  )
