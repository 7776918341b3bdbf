import { hostname } from "node:os"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Duration } from "effect"
import * as Mac from "effect/crypto/Mac"

import { makeBedrockVision } from "../../adapters/bedrock/vision-model.ts"
import * as Inspector from "../../adapters/document-inspection/inspector.ts"
import { layerDocx } from "../../adapters/docx/docx-converter.ts"
import * as Html from "../../adapters/html/html-assembly.ts"
import * as LocalModel from "../../adapters/local-model/vision-model.ts"
import * as MailTemplates from "../../adapters/mail-templates/mail-templates.ts"
import { layerPdf } from "../../adapters/pdf/pdf.ts"
import * as BulkOrders from "../../adapters/postgres/conversion/bulk-orders.ts"
import * as PostgresConversion from "../../adapters/postgres/conversion/conversion-store.ts"
import * as SharedFiles from "../../adapters/postgres/conversion/shared-files.ts"
import * as StoreIdentities from "../../adapters/postgres/conversion/store-identities.ts"
import * as ReaderProcess from "../../adapters/reader-process/reader-process.ts"
import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import { layerTesseract } from "../../adapters/tesseract/recognition.ts"
import { BatchTimeoutHours } from "../../application/batch/lane-settings.ts"
import { pacedModel } from "../../application/cascade/paced-model.ts"
import { HifiTemperature } from "../../application/cascade/vision.ts"
import { watchedModel } from "../../application/cascade/watched-model.ts"
import {
  BULK_MESSAGE_INTERVAL,
  BulkMessages,
  BulkMessageSender,
  layer as bulkMessages
} from "../../application/conversion/bulk-messages.ts"
import * as Bulk from "../../application/conversion/bulk.ts"
import { Conversions, createQueuedJobs } from "../../application/conversion/conversions.ts"
import { FileWatch } from "../../application/conversion/file-watch.ts"
import * as ResultPages from "../../application/conversion/result-pages.ts"
import * as Sharing from "../../application/conversion/sharing.ts"
import { purgeFiles, sweepUploads, Uploads } from "../../application/conversion/uploads.ts"
import * as ReadPages from "../../application/conversion/work/read-pages.ts"
import { workOnce } from "../../application/conversion/work/worker.ts"
import { staleAfter } from "../../application/leased-work.ts"
import { onOwnStores } from "../../application/own-stores.ts"
import { listenToBell } from "../../application/work-bell.ts"
import { HOLD_WINDOW, MAX_CHUNK_ATTEMPTS } from "../../domain/conversion/job.ts"
import { formatMailbox } from "../../domain/mail/address.ts"
import { ConversionStore } from "../../ports/conversion/conversion-store.ts"
import { VisionModel } from "../../ports/conversion/vision-model.ts"
import { leaderTicking } from "../process/leadership.ts"
import { ticking, workers } from "../process/supervisor.ts"
import type { ConversionSettings, SharingSettings } from "../settings/settings.ts"
import { batchLane, batchDuties, laneOf } from "./batch.ts"
import { guardedObjects, usesLocalModel, whereOwn } from "./objects.ts"

/** Scans are recognised, or stay pictures. */
const recognition = (options: ConversionSettings["conversion"]["recognition"]) =>
  options === undefined ? Layer.empty : layerTesseract(options)

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
      (made) => Effect.map(pacedModel(made), watchedModel)
    )
  )
}

/** Files, jobs and what conversions are made with: the batch lane, shared results and bulk orders among it. */
export const conversion = (settings: ConversionSettings & SharingSettings, credentials: CredentialSource) =>
  Layer.merge(sharing(settings), batchLane(settings, credentials)).pipe(
    Layer.provideMerge(core(settings, credentials))
  )

const core = (settings: ConversionSettings, credentials: CredentialSource) =>
  Layer.mergeAll(Uploads.layer, Conversions.layer, FileWatch.layer, ResultPages.layer).pipe(
    Layer.provide(Inspector.layer),
    Layer.provideMerge(ReadPages.layer),
    Layer.provideMerge(model(settings, credentials)),
    Layer.provideMerge(Layer.succeed(HifiTemperature, settings.conversion.temperature)),
    Layer.provideMerge(Layer.succeed(BatchTimeoutHours, settings.batch.timeoutHours)),
    Layer.provideMerge(
      Layer.mergeAll(
        layerPdf(),
        Layer.provide(guardedObjects(settings, credentials), StoreIdentities.layer),
        PostgresConversion.layer,
        Layer.provide(layerDocx(), ReaderProcess.layer),
        Html.layer,
        recognition(settings.conversion.recognition)
      )
    ),
    Layer.provide(NodeCrypto.layer)
  )

/** Mailboxes of convert-by-email (INBOUND-13). */
const SENDER_MAILBOX = "noreply"
const CONVERT_MAILBOX = "convert"

/** Shared results and bulk orders, on a database and a mailer. */
const sharing = (settings: SharingSettings) => {
  const sender = Layer.succeed(BulkMessageSender, {
    from: formatMailbox({
      name: settings.sending.from.name,
      local: SENDER_MAILBOX,
      domain: settings.domains.sender
    }),
    replyTo: `${CONVERT_MAILBOX}@${settings.domains.legacy}`
  })
  return Layer.mergeAll(Sharing.layer, Bulk.layer, bulkMessages).pipe(
    Layer.provideMerge(SharedFiles.layer({ baseUrl: settings.http.baseUrl })),
    Layer.provide([BulkOrders.layer, MailTemplates.layer, Mac.layerWebCrypto, sender]),
    Layer.provide(NodeCrypto.layer)
  )
}

/** The leader mails owners that their bulk orders have ended. */
export const bulkMessageDuties = leaderTicking(
  "bulk-messages",
  BULK_MESSAGE_INTERVAL,
  BulkMessages.use(({ sendDue }) => sendDue)
)

/** Pieces of work in progress at once in one process. */
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
  const { dailyBudgetUsd, perOwner, withoutModel } = settings.conversion
  const work = {
    heartbeat: heartbeatOf(settings),
    modelId,
    price,
    perOwner,
    dailyBudgetUsd,
    withoutModel
  }
  return workers(
    "chunk-worker",
    { count: WORKERS, idle: IDLE, listen: listenToBell("conversions") },
    (slot) => whereOwn(workOnce(`${hostname()}/${process.pid}/${slot}`, work))
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
    yield* onOwnStores(purgeFiles, undefined)
  })

/** How often objects that belong to no file are looked for: all keys are listed. */
const SWEEP_EVERY = Duration.hours(1)

/** Nothing waits for a sweep: where the store does not answer, the next one tries again. */
const sweepFiles = onOwnStores(Effect.asVoid(sweepUploads), undefined).pipe(
  Effect.catchTag("ObjectStoreError", (error) =>
    Effect.logWarning("the object store of files does not answer: the next sweep tries again", error.cause)
  )
)

/** Conversion upkeep: makes the requested jobs and, while this process leads, maintains all of them. */
export const conversionDuties = (settings: ConversionSettings) =>
  Layer.mergeAll(
    ticking(
      "convert-executor",
      EXECUTE_EVERY,
      createQueuedJobs(laneOf(settings)),
      listenToBell("conversions")
    ),
    leaderTicking("conversion-upkeep", upkeepEvery(heartbeatOf(settings)), upkeep(settings)),
    leaderTicking("file-sweeper", SWEEP_EVERY, sweepFiles),
    batchDuties(settings)
  )
