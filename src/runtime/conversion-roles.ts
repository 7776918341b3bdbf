import { hostname } from "node:os"

import { NodeCrypto } from "@effect/platform-node"
import { Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { BatchReplay } from "../domain/batch/replay.ts"
import { assembleJob } from "../domain/conversion/assembling.ts"
import { processChunk } from "../domain/conversion/chunk-processing.ts"
import { createQueuedJobs } from "../domain/conversion/executor.ts"
import { processFlyer } from "../domain/conversion/flyer-processing.ts"
import { processInline } from "../domain/conversion/inline-processing.ts"
import { HOLD_WINDOW, MAX_CHUNK_ATTEMPTS } from "../domain/conversion/job.ts"
import { staleAfter } from "../domain/conversion/lease.ts"
import { purgeFiles } from "../domain/conversion/purging.ts"
import { ConversionStore } from "../ports/conversion-store.ts"
import { batchAnchor, laneOf } from "./batch-layers.ts"
import { leaderTicking } from "./leadership.ts"
import type { Settings } from "./settings.ts"
import { background, ticking } from "./supervisor.ts"

/** Pieces of work under way at once in one process. */
const WORKERS = 2

/** How long a worker that found nothing to do waits. */
const IDLE = Duration.millis(400)

/** How often the queue `convert` is looked at. */
const EXECUTE_EVERY = Duration.millis(300)

/** How often orphans, stuck files and the budget are looked after; half a lease at most. */
const upkeepEvery = (heartbeat: Duration.Duration): Duration.Duration =>
  Duration.clamp(heartbeat, { minimum: Duration.millis(200), maximum: Duration.seconds(10) })

const heartbeatOf = ({ conversion }: Settings): Duration.Duration =>
  Duration.millis(conversion.heartbeatIntervalMs)

/** Does the first work that there is; false where there is none. */
const workOnce = (settings: Settings, worker: string) =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const random = yield* SecureRandom
    const heartbeat = heartbeatOf(settings)
    const lease = yield* random.uuidV7()
    const assembly = yield* store.claimAssembly(lease, staleAfter(heartbeat))
    if (assembly !== undefined) {
      yield* assembleJob(assembly, { heartbeat })
      return true
    }
    const { id: modelId, ...price } = settings.conversion.model
    const inline = yield* store.claimInline(lease, staleAfter(heartbeat))
    if (inline !== undefined) {
      yield* processInline(inline, { heartbeat, modelId, price })
      return true
    }
    const chunk = yield* store.claimChunk(worker, lease)
    if (chunk !== undefined) {
      yield* Effect.provideService(
        processChunk(chunk, { heartbeat, modelId, price }),
        BatchReplay,
        yield* BatchReplay
      )
      return true
    }
    const flyer = yield* store.claimFlyer(lease, staleAfter(heartbeat))
    if (flyer !== undefined) {
      yield* processFlyer(flyer, { heartbeat })
      return true
    }
    return false
  })

const worker = (settings: Settings, slot: number) => {
  const name = `${hostname()}/${process.pid}/${slot}`
  return background(
    `chunk-worker-${slot}`,
    workOnce(settings, name).pipe(
      Effect.flatMap((worked) => (worked ? Effect.void : Effect.sleep(IDLE))),
      Effect.forever
    )
  )
}

/** The workers of a process: chunks, assemblies and what is converted inline. */
export const conversionWorkers = (settings: Settings) =>
  Layer.mergeAll(
    worker(settings, 1),
    ...Array.from({ length: WORKERS - 1 }, (_, n) => worker(settings, n + 2))
  ).pipe(Layer.provide(NodeCrypto.layer))

const upkeep = (settings: Settings) =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    const stale = staleAfter(heartbeatOf(settings))
    while ((yield* store.recoverOrphan(stale, MAX_CHUNK_ATTEMPTS)) > 0);
    yield* store.sweep(HOLD_WINDOW, stale)
    while ((yield* store.deleteFileOfClosedAccount) > 0);
    yield* store.applyBudget(settings.conversion.dailyBudgetUsd)
    yield* purgeFiles
  })

/** What the anchor does: makes the jobs that were asked for, and, while it leads, looks after all of them. */
export const conversionAnchor = (settings: Settings) =>
  Layer.mergeAll(
    ticking("convert-executor", EXECUTE_EVERY, createQueuedJobs(laneOf(settings))),
    leaderTicking("conversion-upkeep", upkeepEvery(heartbeatOf(settings)), upkeep(settings)),
    batchAnchor(settings)
  )
