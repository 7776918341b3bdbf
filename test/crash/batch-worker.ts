import { writeSync } from "node:fs"
import { join } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Duration, Effect, Layer, Logger, Random, Redacted, References, Stream } from "effect"

import * as BatchLines from "../../src/adapters/bedrock/batch-lines.ts"
import { makeBedrockBatch } from "../../src/adapters/bedrock/batch-service.ts"
import { makeDiskObjects } from "../../src/adapters/disk/object-store.ts"
import { layer as layerBatchStore } from "../../src/adapters/postgres/batch/batch-store.ts"
import { layer as layerClients } from "../../src/adapters/postgres/client.ts"
import { layer as layerStore } from "../../src/adapters/postgres/conversion/conversion-store.ts"
import { layer as layerLeases } from "../../src/adapters/postgres/leadership.ts"
import { pollTick, prepareTick, releaseTick } from "../../src/application/batch/driver.ts"
import { BatchReplay } from "../../src/application/batch/replay.ts"
import { MAX_BATCH_BYTES } from "../../src/application/batch/shards.ts"
import { assembleJob } from "../../src/application/conversion/work/assembling.ts"
import { processChunk } from "../../src/application/conversion/work/chunk-processing.ts"
import { staleAfter } from "../../src/application/leased-work.ts"
import { HOLD_WINDOW } from "../../src/domain/conversion/job.ts"
import { BatchService } from "../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../src/ports/conversion/conversion-store.ts"
import { HtmlAssembly } from "../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { VisionModel } from "../../src/ports/conversion/vision-model.ts"
import { Leadership } from "../../src/ports/leadership.ts"
import { BatchObjects, FileObjects } from "../../src/ports/object-store.ts"
import { Surveyor } from "../../src/reader/html/survey.ts"
import { layer as layerLeadership, leaderTicking } from "../../src/runtime/process/leadership.ts"
import { Supervisors } from "../../src/runtime/process/supervisor.ts"
import { pageOf } from "../domain/conversion/world.ts"
import { anyId } from "../support/any-id.ts"
import { gated, gatedObjects, makeGate } from "./batch-gate.ts"
import { BUCKET, LEASE_MS, MODEL, PRICE, TICKED, USAGE } from "./batch-times.ts"
import { HEARTBEAT_MS, PAGES, wordsOf } from "./conversion-world.ts"

/**
 * A process of the batch lane on a real database and a real folder of objects. `ROLE=leader`: takes part in the election and
 * drives the lane while it leads, with Bedrock's API at `BEDROCK`; hurts itself where the file `ARM` says so. `ROLE=worker`: converts chunks, with batch results, and looks after orphans.
 */
const { ARM = "", BEDROCK = "", DB_URL = "", OBJECTS = "", ROLE = "" } = process.env

const HEARTBEAT = Duration.millis(HEARTBEAT_MS)

const gate = makeGate(ARM)

const slowly = Effect.flatMap(Random.nextIntBetween(1, 6), (ms) => Effect.sleep(Duration.millis(ms)))

/** Answers with the words of the page that it gets. */
const model: VisionModel["Service"] = {
  converse: (request) => {
    const bytes = request.messages
      .flatMap(({ content }) => content)
      .flatMap((block) => ("pdf" in block ? [block.pdf] : []))[0]
    return Effect.as(slowly, {
      text: new TextDecoder().decode(bytes),
      stopReason: "end_turn",
      usage: USAGE,
      fromBatch: false
    })
  }
}

const ports = Layer.mergeAll(
  Layer.succeed(FileObjects, makeDiskObjects(join(OBJECTS, "files"))),
  Layer.succeed(BatchObjects, gatedObjects(makeDiskObjects(join(OBJECTS, "batch")), gate)),
  Layer.succeed(VisionModel, model),
  BatchLines.layer,
  Layer.succeed(PageSources, {
    facts: () =>
      Effect.succeed({
        pageCount: PAGES,
        title: undefined,
        author: undefined,
        lang: undefined,
        tagged: false,
        outline: [],
        fonts: []
      }),
    open: () =>
      Effect.succeed({
        page: (index) =>
          slowly.pipe(
            Effect.andThen(gate("page", "within")),
            Effect.as(
              pageOf(index, wordsOf(index), { pdf: Effect.succeed(new TextEncoder().encode(wordsOf(index))) })
            )
          )
      })
  }),
  Layer.succeed(HtmlAssembly, {
    clean: Effect.succeed,
    survey: (pages) => Effect.as(Stream.runDrain(pages), new Surveyor().survey()),
    assemble: ({ pages }) => Stream.map(pages, ({ html }) => `${html}\n`)
  }),
  Layer.mergeAll(
    layerStore,
    layerLeases,
    Layer.effect(
      BatchStore,
      Effect.map(BatchStore, (store) => gated("store", store, gate))
    ).pipe(Layer.provide(layerBatchStore))
  ).pipe(
    Layer.provide(layerClients({ url: Redacted.make(DB_URL), maxWriteConnections: 3, maxReadConnections: 1 }))
  ),
  NodeCrypto.layer
)

const service = Layer.effect(
  BatchService,
  Effect.gen(function* () {
    const made = yield* makeBedrockBatch({
      region: "us-east-1",
      endpoint: BEDROCK,
      credentials: { accessKeyId: "AKIDTEST", secretAccessKey: "secret" },
      bucket: BUCKET,
      roleArn: "arn:aws:iam::123456789012:role/batch"
    })
    return gated("service", made, gate)
  })
)

const settings = {
  preparer: anyId(),
  model: MODEL,
  price: PRICE,
  limits: { minRecords: 1, maxRecords: 1000, maxShardBytes: 4_000, maxBytes: MAX_BATCH_BYTES },
  timeoutHours: 24,
  pollEvery: Duration.millis(100)
}

let running = 0

/** Tells when the last of the ticks under way has ended. */
const telling = <A, E, R>(tick: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    running += 1
    return tick
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        running -= 1
        if (running === 0) writeSync(1, `${TICKED}\n`)
      })
    )
  )

const preparing = Effect.gen(function* () {
  const { term } = yield* Leadership
  const mine = yield* term
  if (mine !== undefined) yield* prepareTick(settings, mine)
})

const leader = Layer.mergeAll(
  leaderTicking("batch-driver", "100 millis", telling(pollTick(settings))),
  leaderTicking("batch-releaser", "100 millis", telling(releaseTick(settings))),
  leaderTicking("batch-preparer", "100 millis", telling(preparing))
).pipe(
  Layer.provide(service),
  Layer.provide(layerLeadership({ ttlMs: LEASE_MS })),
  Layer.provide(Supervisors.layer),
  Layer.launch
)

const workOnce = Effect.gen(function* () {
  const store = yield* ConversionStore
  const assembly = yield* store.claimAssembly(anyId(), staleAfter(HEARTBEAT))
  if (assembly !== undefined) return yield* assembleJob(assembly, { heartbeat: HEARTBEAT })
  const chunk = yield* store.claimChunk("worker", anyId())
  if (chunk === undefined) return yield* Effect.sleep("50 millis")
  return yield* processChunk(chunk, { heartbeat: HEARTBEAT, modelId: MODEL, price: PRICE })
}).pipe(Effect.provide(BatchReplay.layer))

const upkeep = Effect.gen(function* () {
  const store = yield* ConversionStore
  while ((yield* store.recoverOrphan(staleAfter(HEARTBEAT), 1_000)) > 0);
  yield* store.sweep(HOLD_WINDOW, staleAfter(HEARTBEAT))
  yield* Effect.sleep(HEARTBEAT)
})

/** A database that does not answer for a moment ends no worker. */
const forEver = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.forever(Effect.catchCause(work, (cause) => Effect.logError("again after", cause)))

const worker = Effect.all([forEver(workOnce), forEver(workOnce), forEver(upkeep)], {
  concurrency: "unbounded"
})

// Its output is for the gate alone.
const logs = Layer.mergeAll(
  Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void writeSync(2, `${line}\n`))]),
  Layer.succeed(References.MinimumLogLevel, "Info")
)

writeSync(1, "ready\n")
const surroundings = Layer.provideMerge(ports, logs)
await Effect.runPromise(
  ROLE === "leader"
    ? Effect.provide(leader, surroundings)
    : Effect.provide(Effect.asVoid(worker), surroundings)
)
