import { Duration, Effect, Layer, Random, Redacted, Stream } from "effect"

import { makeDiskObjects } from "../../src/adapters/disk/object-store.ts"
import { layer as layerClients } from "../../src/adapters/postgres/client.ts"
import { layer as layerStore } from "../../src/adapters/postgres/conversion/conversion-store.ts"
import { assembleJob } from "../../src/application/conversion/work/assembling.ts"
import { processChunk } from "../../src/application/conversion/work/chunk-processing.ts"
import { staleAfter } from "../../src/application/leased-work.ts"
import { HOLD_WINDOW } from "../../src/domain/conversion/job.ts"
import { ConversionStore } from "../../src/ports/conversion/conversion-store.ts"
import { HtmlAssembly } from "../../src/ports/conversion/html-assembly.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { VisionModel } from "../../src/ports/conversion/vision-model.ts"
import { FileObjects } from "../../src/ports/object-store.ts"
import { Surveyor } from "../../src/reader/html/survey.ts"
import { pageOf } from "../domain/conversion/world.ts"
import { anyId } from "../support/any-id.ts"
import { HEARTBEAT_MS, PAGES, wordsOf } from "./conversion-world.ts"

/**
 * A worker on a real database and a real folder of objects, with pages and a model that take their time: what is killed and
 * frozen by `conversion.test.ts`. Works on two things at once, and gathers the orphans of the others.
 */
const { DB_URL = "", OBJECTS = "", PAGE_MS = "40", WORKER = "" } = process.env

const HEARTBEAT = Duration.millis(HEARTBEAT_MS)
const PRICE = { inputUsdPerMtok: 1, outputUsdPerMtok: 1 }

/** More than a worker is killed here: no job fails for it. */
const MAX_ATTEMPTS = 1_000

const slowly = Effect.flatMap(Random.nextIntBetween(2, Number(PAGE_MS)), (ms) =>
  Effect.sleep(Duration.millis(ms))
)

const ports = Layer.mergeAll(
  Layer.succeed(FileObjects, makeDiskObjects(OBJECTS)),
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
    open: () => Effect.succeed({ page: (index) => Effect.as(slowly, pageOf(index, wordsOf(index))) })
  }),
  Layer.succeed(VisionModel, {
    converse: (_, { page }) =>
      Effect.as(slowly, {
        text: wordsOf(page),
        stopReason: "end_turn",
        usage: { inputTokens: 1_000, outputTokens: 1_000 },
        fromBatch: false
      })
  }),
  Layer.succeed(HtmlAssembly, {
    clean: Effect.succeed,
    survey: (pages) => Effect.as(Stream.runDrain(pages), new Surveyor().survey()),
    assemble: ({ pages }) => Stream.mapEffect(pages, ({ html }) => Effect.as(slowly, `${html}\n`))
  }),
  layerStore.pipe(
    Layer.provide(layerClients({ url: Redacted.make(DB_URL), maxWriteConnections: 4, maxReadConnections: 1 }))
  )
)

const workOnce = Effect.gen(function* () {
  const store = yield* ConversionStore
  const assembly = yield* store.claimAssembly(anyId(), staleAfter(HEARTBEAT))
  if (assembly !== undefined) return yield* assembleJob(assembly, { heartbeat: HEARTBEAT })
  const chunk = yield* store.claimChunk(WORKER, anyId())
  if (chunk === undefined) return yield* Effect.sleep("50 millis")
  return yield* processChunk(chunk, { heartbeat: HEARTBEAT, modelId: "m", price: PRICE })
})

const recover = Effect.gen(function* () {
  const store = yield* ConversionStore
  while ((yield* store.recoverOrphan(staleAfter(HEARTBEAT), MAX_ATTEMPTS)) > 0);
  yield* store.sweep(HOLD_WINDOW, staleAfter(HEARTBEAT))
  yield* Effect.sleep(HEARTBEAT)
})

/** A database that does not answer for a moment ends no worker. */
const forEver = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.forever(Effect.catchCause(work, (cause) => Effect.logError("again after", cause)))

console.log("ready")
await Effect.runPromise(
  Effect.all([forEver(workOnce), forEver(workOnce), forEver(recover)], { concurrency: "unbounded" }).pipe(
    Effect.provide(ports)
  )
)
