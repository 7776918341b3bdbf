import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { mkdtempSync, writeFileSync, mkdirSync, rmSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { makeDiskObjects } from "/work/main/src/adapters/disk/object-store.ts"
import { layerPdf } from "/work/main/src/adapters/pdf/pdf.ts"
import * as ReadPages from "/work/main/src/domain/conversion/read-pages.ts"
import { collect } from "/work/main/src/domain/batch/collecting.ts"
import { prepare } from "/work/main/src/domain/batch/preparing.ts"
import { manifestKey } from "/work/main/src/domain/batch/keys.ts"
import { linesOf } from "/work/main/src/domain/batch/shards.ts"
import { BatchObjects, FileObjects } from "/work/main/src/ports/object-store.ts"
import { Pdf } from "/work/main/src/ports/pdf.ts"
import { numbered } from "/work/main/test/support/pdf-samples.ts"
const dir = mkdtempSync("/tmp/bb-")
const objects = makeDiskObjects(join(dir, "o"))
const PAGES = 600
const env = ReadPages.layer.pipe(Layer.provideMerge(Layer.mergeAll(layerPdf(), Layer.succeed(FileObjects, objects), Layer.succeed(BatchObjects, objects), NodeCrypto.layer)))
const peak = { rss: 0 }
setInterval(() => { peak.rss = Math.max(peak.rss, process.memoryUsage().rss) }, 20).unref()
const main = Effect.gen(function* () {
  yield* objects.put("files/x/source", Stream.make(numbered(PAGES)), { contentType: "application/pdf" })
  const pdf = yield* Pdf
  const path = yield* objects.localPath("files/x/source")
  const doc = yield* pdf.open(path)
  let t = performance.now()
  yield* Stream.runDrain(doc.split({ first: 0, end: PAGES }))
  const split = performance.now() - t
  const chunks = Array.from({ length: PAGES / 20 }, (_, n) => ({ chunkIndex: n, firstPage: n * 20, lastPage: n * 20 + 19 }))
  t = performance.now()
  const done = yield* prepare({ objectKey: "files/x/source", chunks, prepared: "batch/j/l/", model: "m", limits: { minRecords: 1, maxRecords: 1e6, maxShardBytes: 2e8, maxBytes: 4.5e9 } })
  const prep = performance.now() - t
  console.log({ pages: PAGES, splitPagesPerS: Math.round(PAGES / split * 1000), preparePagesPerS: Math.round(PAGES / prep * 1000), ...done })
  // collect
  const N = 50_000
  const doc64 = "A".repeat(20_000)
  const html = "<p>" + "word ".repeat(800) + "</p>"
  const entries = Array.from({ length: N }, (_, p) => ({ recordId: `c${Math.floor(p / 20)}-p${p}`, chunkIndex: Math.floor(p / 20), page: p, promptHash: "h", model: "m" }))
  yield* objects.put(manifestKey("batch/k/l/"), linesOf(entries), { contentType: "x" })
  const enc = new TextEncoder()
  const order = process.argv[2] === "random" ? [...entries].sort((a, b) => (Math.imul(a.page + 1, 2654435761) >>> 0) - (Math.imul(b.page + 1, 2654435761) >>> 0)) : entries
  yield* objects.put("batch/k/l/output/x/s.jsonl.out", Stream.map(Stream.fromIterable(order), (e) => enc.encode(JSON.stringify({ recordId: e.recordId, modelInput: { d: doc64 }, modelOutput: { output: { message: { content: [{ text: html }] } }, stopReason: "end_turn", usage: { inputTokens: 1, outputTokens: 2 } } }) + "\n")), { contentType: "x" })
  globalThis.gc?.(); peak.rss = 0
  t = performance.now()
  let n = 0
  yield* objects.get("batch/k/l/output/x/s.jsonl.out").pipe(Stream.decodeText(), Stream.splitLines, Stream.runForEach((l) => Effect.sync(() => { JSON.parse(l); n++ })))
  const base = performance.now() - t
  const basePeak = peak.rss
  globalThis.gc?.(); peak.rss = 0
  t = performance.now()
  const tally = yield* collect("k", { arn: "a", name: "n", status: "Completed", message: undefined, inputPrefix: "batch/k/l/input/", outputPrefix: "batch/k/l/output/x/", processed: undefined })
  const col = performance.now() - t
  console.log({ n, baseRecPerS: Math.round(N / base * 1000), collectRecPerS: Math.round(N / col * 1000), basePeakMB: Math.round(basePeak / 1e6), collectPeakMB: Math.round(peak.rss / 1e6), accepted: tally.accepted })
}).pipe(Effect.scoped, Effect.provide(env))
await Effect.runPromise(main).finally(() => rmSync(dir, { recursive: true, force: true }))
process.exit(0)
