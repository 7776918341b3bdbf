import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer } from "@effect/vitest"
import { Context, Duration, Effect, Layer, References, Stream } from "effect"

import * as BatchLines from "../../../src/adapters/bedrock/batch-lines.ts"
import { makeLocalBatch } from "../../../src/adapters/bedrock/local-batch/batch-service.ts"
import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import * as Html from "../../../src/adapters/html/html-assembly.ts"
import * as LocalModel from "../../../src/adapters/local-model/vision-model.ts"
import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import * as PostgresBatch from "../../../src/adapters/postgres/batch/batch-store.ts"
import * as PostgresConversion from "../../../src/adapters/postgres/conversion/conversion-store.ts"
import { BatchReplay } from "../../../src/application/batch/replay.ts"
import { assembleJob } from "../../../src/application/conversion/work/assembling.ts"
import { processChunk } from "../../../src/application/conversion/work/chunk-processing.ts"
import * as ReadPages from "../../../src/application/conversion/work/read-pages.ts"
import { resultsKey } from "../../../src/domain/batch/keys.ts"
import { fileKey } from "../../../src/domain/conversion/stored-files.ts"
import type { CustomerId, FileId } from "../../../src/domain/ids.ts"
import { BatchService } from "../../../src/ports/batch/batch-service.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { type CallPlace, VisionModel } from "../../../src/ports/conversion/vision-model.ts"
import { BatchObjects, FileObjects } from "../../../src/ports/object-store.ts"
import { customer } from "../../adapters/postgres/conversion/world.ts"
import { WINDOW } from "../../contracts/conversion/documents-world.ts"
import { anyId } from "../../support/any-id.ts"
import { line, pdfOf } from "../../support/files/pdf-writer.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"
import { isClosed, MODEL, PRICE, settingsOf, tickUntil } from "./world/world.ts"

/** Calls that were made on demand. */
class OnDemand extends Context.Service<OnDemand, Array<CallPlace>>()("postlane/test/OnDemand") {}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postlane-lane-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const objects = Layer.unwrap(
  Effect.map(folder, (path) =>
    Layer.mergeAll(
      Layer.succeed(FileObjects, makeDiskObjects(join(path, "files"))),
      Layer.succeed(BatchObjects, makeDiskObjects(join(path, "batch")))
    )
  )
)

const models = Layer.effectContext(
  Effect.gen(function* () {
    const model = yield* VisionModel
    const calls = yield* OnDemand
    const service = yield* makeLocalBatch({ objects: yield* BatchObjects, model, delayMs: 0 })
    return Context.make(BatchService, service).pipe(
      Context.add(VisionModel, {
        converse: (request, place) =>
          Effect.andThen(
            Effect.sync(() => calls.push(place)),
            model.converse(request, place)
          )
      })
    )
  })
).pipe(Layer.provide(LocalModel.layer))

const suite = Layer.mergeAll(models, ReadPages.layer, BatchReplay.layer).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      objects,
      layerPdf(),
      Html.layer,
      BatchLines.layer,
      PostgresBatch.layer,
      PostgresConversion.layer,
      NodeCrypto.layer,
      Layer.sync(OnDemand, () => [])
    )
  ),
  Layer.provideMerge(layerPostgres),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

const PAGES = 7
const BLANK = 3

/** Pages with a heading and a paragraph, one of them blank. */
const source = pdfOf({
  pages: Array.from({ length: PAGES }, (_, at) => ({
    content:
      at === BLANK
        ? ""
        : line(`Chapter ${at + 1}`, 72, 720, { font: "F2", size: 22 }) +
          line(`The words of page ${at + 1}, which are the same in any lane.`, 72, 680)
  }))
})

const upload = Effect.fnUntraced(function* (status: "pending" | "waiting_batch") {
  const store = yield* ConversionStore
  const files = yield* FileObjects
  const owner = yield* customer(100)
  const [fileId, jobId] = [anyId(), anyId()]
  const objectKey = fileKey(fileId)
  yield* files.put(objectKey, Stream.make(source), { contentType: "application/pdf" })
  yield* store.addFile({
    id: fileId,
    customerId: owner,
    name: "a.pdf",
    kind: "pdf",
    sizeBytes: source.length,
    pages: PAGES,
    objectKey
  })
  const options = { highFidelity: true }
  yield* store.request({ jobId, fileId, customerId: owner, options, window: WINDOW })
  yield* store.createJob(jobId, { status, options, chunkPages: 3 })
  return { fileId, jobId, owner }
})

const heartbeat = Duration.seconds(10)

/** Converts what there is, and gives a file's result. */
const resultOf = Effect.fnUntraced(function* ({ fileId, owner }: { fileId: FileId; owner: CustomerId }) {
  const store = yield* ConversionStore
  const files = yield* FileObjects
  const replay = yield* BatchReplay
  while (true) {
    const chunk = yield* store.claimChunk("w", anyId())
    if (chunk === undefined) break
    yield* Effect.provideService(
      processChunk(chunk, { heartbeat, modelId: MODEL, price: PRICE }),
      BatchReplay,
      replay
    )
  }
  const assembly = yield* store.claimAssembly(anyId(), WINDOW)
  if (assembly !== undefined) yield* assembleJob(assembly, { heartbeat })
  const file = yield* store.file(fileId, owner)
  return yield* Stream.mkString(Stream.decodeText(files.get(file?.resultKey ?? "none")))
})

layer(suite, { excludeTestServices: true })("a document through the lane (B3)", (it) => {
  it.effect(
    "is byte for byte what it is on demand, without one hi-fi call; a changed prompt calls for all",
    () =>
      Effect.gen(function* () {
        const calls = yield* OnDemand
        const batch = yield* BatchObjects
        const plain = yield* resultOf(yield* upload("pending"))
        const wanted = [0, 1, 2, 4, 5, 6]
        const hifi = () =>
          calls.flatMap(({ page, tier }) => (tier === "hifi-single-pass" ? [page] : [])).sort((a, b) => a - b)
        assert.deepStrictEqual(hifi(), wanted)
        assert.include(plain, "The words of page 7, which are the same in any lane.")

        calls.splice(0)
        const lane = yield* upload("waiting_batch")
        yield* tickUntil(settingsOf(), isClosed(lane.jobId))
        assert.strictEqual(yield* resultOf(lane), plain)
        assert.deepStrictEqual(hifi(), [])

        const changed = yield* upload("waiting_batch")
        yield* tickUntil(settingsOf(), isClosed(changed.jobId))
        for (const chunk of [0, 1, 2]) {
          const key = resultsKey(changed.jobId, chunk)
          const text = yield* Stream.mkString(Stream.decodeText(batch.get(key)))
          const other = text
            .replaceAll(/"promptHash":"[^"]*"/g, '"promptHash":"of-another-prompt"')
            .replaceAll("same in any lane", "another answer")
          yield* batch.put(key, Stream.make(new TextEncoder().encode(other)), {
            contentType: "application/json"
          })
        }
        assert.strictEqual(yield* resultOf(changed), plain)
        assert.deepStrictEqual(hifi(), wanted)
      })
  )
})
