import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Stream } from "effect"

import * as BatchLines from "../../../src/adapters/bedrock/batch-lines.ts"
import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import { collect } from "../../../src/application/batch/collecting.ts"
import { prepare } from "../../../src/application/batch/preparing.ts"
import { MAX_BATCH_BYTES, MEGABYTE } from "../../../src/application/batch/shards.ts"
import { inputPrefix, outputPrefix, preparedPrefix } from "../../../src/domain/batch/keys.ts"
import { recordId } from "../../../src/domain/batch/record.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { pageOf } from "../../domain/conversion/world.ts"
import { anyId } from "../../support/any-id.ts"

/**
 * A process that takes one step of a batch of so many records in a folder and prints {@link BatchFigures}: its peak memory is
 * its own. `prepare` uploads shards and manifest, `answer` acts as the batch service, `collect` reads the output.
 */
const [step = "", folder = "", count = "0"] = process.argv.slice(2)

/** What a step came to. */
export interface BatchFigures {
  readonly records: number
  readonly seconds: number
  /** Of the processor, all threads together. */
  readonly cpuSeconds: number
  readonly peakBytes: number
  /** Resident when the step began. */
  readonly startBytes: number
  /** Read or written. */
  readonly bytes: number
}

const RECORDS = Number(count)
const CHUNK_PAGES = 20
/** Of a page's PDF: with its prompt a record has some 88 KB, so that 50,000 of them are 4.4 GB. */
const PAGE_BYTES = 65_000
/** Of an answer's text. */
const ANSWER = "<p>Words as they stand on a page that somebody has set with care.</p>\n".repeat(40)
const LINES_A_WRITE = 50

const prepared = preparedPrefix(anyId("bench"), anyId("lease"))
const output = `${outputPrefix(prepared)}job/`

/** Bytes that differ from page to page and do not compress. */
const noise = new Uint8Array(PAGE_BYTES * 2)
for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536))
const bytesOf = (page: number) => noise.slice(page % PAGE_BYTES, (page % PAGE_BYTES) + PAGE_BYTES)

const sources = Layer.succeed(PageSources, {
  facts: () => Effect.die("not here"),
  open: () =>
    Effect.succeed({
      page: (index) =>
        Effect.sync(() =>
          pageOf(index, `Words of page ${index} in its text layer`, {
            pdf: Effect.sync(() => bytesOf(index))
          })
        )
    })
})

const chunks = Array.from({ length: Math.ceil(RECORDS / CHUNK_PAGES) }, (_, chunkIndex) => ({
  chunkIndex,
  firstPage: chunkIndex * CHUNK_PAGES,
  lastPage: Math.min((chunkIndex + 1) * CHUNK_PAGES, RECORDS) - 1
}))

const preparing = Effect.map(
  prepare({
    objectKey: "files/bench/source",
    chunks,
    prepared,
    model: "bench",
    limits: {
      minRecords: 1,
      maxRecords: 50_000,
      maxShardBytes: 200 * MEGABYTE,
      maxBytes: MAX_BATCH_BYTES
    }
  }),
  ({ bytes }) => bytes
)

/** The worst order there is: neighbours are as far apart as can be, so that hardly a chunk is whole before the end. */
const farApart = (at: number): number => {
  const rows = Math.ceil(RECORDS / CHUNK_PAGES)
  return (at % rows) * CHUNK_PAGES + Math.floor(at / rows)
}

const answering = Effect.gen(function* () {
  const objects = yield* BatchObjects
  const encoder = new TextEncoder()
  const echo = "A".repeat(Math.ceil((PAGE_BYTES * 4) / 3))
  const modelOutput = {
    output: { message: { role: "assistant", content: [{ text: ANSWER }] } },
    stopReason: "end_turn",
    usage: { inputTokens: 2_000, outputTokens: 700 }
  }
  const lineOf = (at: number): string => {
    const page = farApart(at)
    if (page >= RECORDS) return ""
    const id = recordId({ chunkIndex: Math.floor(page / CHUNK_PAGES), page })
    return `${JSON.stringify({ recordId: id, modelInput: { bytes: echo }, modelOutput })}\n`
  }
  const shards = [...(yield* Stream.runCollect(objects.list(inputPrefix(prepared))))].length
  const all = chunks.length * CHUNK_PAGES
  const each = Math.ceil(all / shards)
  let bytes = 0
  for (let shard = 0; shard < shards; shard++) {
    const end = Math.min((shard + 1) * each, all)
    const writes = Stream.unfold(shard * each, (at) =>
      Effect.sync(() => {
        if (at >= end) return undefined
        const next = Math.min(at + LINES_A_WRITE, end)
        const lines = Array.from({ length: next - at }, (_, n) => lineOf(at + n))
        return [encoder.encode(lines.join("")), next] as const
      })
    )
    bytes += yield* objects.put(`${output}shard-${shard}.jsonl.out`, writes, {
      contentType: "application/jsonl"
    })
  }
  return bytes
})

const collecting = Effect.gen(function* () {
  const objects = yield* BatchObjects
  const { accepted } = yield* collect(
    { jobId: anyId("bench"), attempt: 1, shards: 0, partly: false },
    {
      arn: "arn:bench",
      name: "bench",
      status: "Completed",
      message: undefined,
      inputPrefix: inputPrefix(prepared),
      outputPrefix: output,
      processed: RECORDS
    }
  )
  if (accepted !== RECORDS) return yield* Effect.die(new Error(`${accepted} of ${RECORDS} were accepted`))
  const files = yield* Stream.runCollect(objects.list(output))
  return [...files].reduce((sum, { size }) => sum + size, 0)
})

const STEPS = { prepare: preparing, answer: answering, collect: collecting }

const measure = Effect.gen(function* () {
  const startBytes = process.memoryUsage.rss()
  const started = performance.now()
  const cpu = process.cpuUsage()
  const bytes = yield* STEPS[step as keyof typeof STEPS]
  const used = process.cpuUsage(cpu)
  const figures: BatchFigures = {
    records: RECORDS,
    seconds: (performance.now() - started) / 1_000,
    cpuSeconds: (used.user + used.system) / 1e6,
    peakBytes: process.resourceUsage().maxRSS * 1_024,
    startBytes,
    bytes
  }
  return figures
})

const surroundings = Layer.mergeAll(
  sources,
  Layer.succeed(BatchObjects, makeDiskObjects(folder)),
  BatchLines.layer,
  NodeCrypto.layer
)
console.log(JSON.stringify(await Effect.runPromise(Effect.provide(measure, surroundings))))
