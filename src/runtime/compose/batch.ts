import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import * as BatchLines from "../../adapters/bedrock/batch-lines.ts"
import { makeBedrockBatch } from "../../adapters/bedrock/batch-service.ts"
import { makeLocalBatch } from "../../adapters/bedrock/local-batch/batch-service.ts"
import * as PostgresBatch from "../../adapters/postgres/batch/batch-store.ts"
import * as PostgresReport from "../../adapters/postgres/conversion/job-report.ts"
import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import { BatchControls } from "../../application/batch/controls.ts"
import { pollTick, prepareTick, purgeBatches, releaseTick } from "../../application/batch/driver.ts"
import type { DriverSettings } from "../../application/batch/lane-settings.ts"
import { BatchReplay } from "../../application/batch/replay.ts"
import { MAX_BATCH_BYTES, MEGABYTE } from "../../application/batch/shards.ts"
import { onOwnStores } from "../../application/own-stores.ts"
import { BatchService, BatchServiceError } from "../../ports/batch/batch-service.ts"
import { VisionModel } from "../../ports/conversion/vision-model.ts"
import { Leadership } from "../../ports/leadership.ts"
import { BatchObjects } from "../../ports/object-store.ts"
import { leaderTicking } from "../process/leadership.ts"
import type { BatchSettings } from "../settings/settings.ts"

/** How often objects of ended batches are looked for. */
const PURGE_EVERY = Duration.minutes(10)

/** Whether the batch lane is on: switched on, with a bucket and a role (BATCH-1). */
export const laneOf = ({ batch }: BatchSettings) => ({
  on: batch.enabled && batch.bucket !== undefined && batch.roleArn !== undefined,
  minPages: batch.minPages,
  minRecords: batch.minRecords
})

/** Whether the local batch service is used: embedded, without cloud credentials or a configured endpoint. */
export const usesLocalBatch = ({ cloud, embedded }: BatchSettings): boolean =>
  embedded && cloud.credentials === undefined && cloud.bedrockEndpoint === undefined

const localService = ({ batch }: BatchSettings) =>
  Effect.gen(function* () {
    const { expires, failed, fails, stop, stops, unfinished } = batch.local.faults
    return yield* makeLocalBatch({
      objects: yield* BatchObjects,
      model: yield* VisionModel,
      delayMs: batch.local.delaySeconds * 1000,
      faults: {
        failed,
        unfinished,
        expires,
        stops,
        fails: fails === true ? "the drill wants it" : undefined,
        stopLatencyMs: (stop ?? 0) * 1000
      }
    })
  })

/** Without a bucket or a role there is no batch job that it could be asked for. */
const noService = Effect.sync(() => {
  const refused = Effect.fail(
    new BatchServiceError({ reason: "unavailable", message: "the batch lane has no bucket or no role" })
  )
  return BatchService.of({
    create: () => refused,
    get: () => refused,
    findByName: () => refused,
    stop: () => refused
  })
})

const service = (settings: BatchSettings, credentials: CredentialSource) => {
  if (usesLocalBatch(settings)) return Layer.effect(BatchService, localService(settings))
  const { bucket, roleArn } = settings.batch
  if (bucket === undefined || roleArn === undefined) return Layer.effect(BatchService, noService)
  return Layer.effect(
    BatchService,
    makeBedrockBatch({
      region: settings.cloud.region,
      endpoint: settings.cloud.bedrockEndpoint,
      credentials,
      bucket,
      roleArn
    })
  )
}

/** Layers of the batch lane, on top of those of conversions. */
export const batchLane = (settings: BatchSettings, credentials: CredentialSource) =>
  Layer.mergeAll(BatchControls.layer, BatchReplay.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        service(settings, credentials),
        BatchLines.layer,
        PostgresBatch.layer,
        PostgresReport.layer
      )
    ),
    Layer.provide(NodeCrypto.layer)
  )

const driverSettings = ({ batch, conversion }: BatchSettings, preparer: string): DriverSettings => {
  const { id, ...price } = conversion.model
  return {
    preparer,
    model: id,
    price,
    dailyBudgetUsd: conversion.dailyBudgetUsd,
    limits: {
      minRecords: batch.minRecords,
      maxRecords: batch.maxRecords,
      maxShardBytes: batch.maxFileMb * MEGABYTE,
      maxBytes: MAX_BATCH_BYTES
    },
    timeoutHours: batch.timeoutHours,
    pollEvery: Duration.seconds(batch.pollSeconds)
  }
}

const driver = (settings: BatchSettings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const random = yield* SecureRandom
      const mine = driverSettings(settings, yield* random.uuidV7())
      const leadership = yield* Leadership
      const every = Duration.seconds(settings.batch.driverTickSeconds)
      return Layer.mergeAll(
        leaderTicking("batch-driver", every, onOwnStores(pollTick(mine), undefined)),
        leaderTicking("batch-releaser", every, releaseTick(mine)),
        leaderTicking(
          "batch-preparer",
          every,
          Effect.flatMap(leadership.term, (term) =>
            term === undefined ? Effect.void : onOwnStores(prepareTick(mine, term), undefined)
          )
        )
      )
    })
  )

/** What the leader does for the batch lane: drives it where it is on, and cleans up in any case. */
export const batchDuties = (settings: BatchSettings) =>
  Layer.mergeAll(
    laneOf(settings).on ? driver(settings) : Layer.empty,
    leaderTicking("batch-tidying", PURGE_EVERY, onOwnStores(purgeBatches, undefined))
  ).pipe(Layer.provide(NodeCrypto.layer))
