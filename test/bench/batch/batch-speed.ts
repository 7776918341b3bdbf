import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Stream } from "effect"

import * as BatchLines from "../../../src/adapters/bedrock/batch-lines.ts"
import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { collect } from "../../../src/application/batch/collecting.ts"
import { prepare } from "../../../src/application/batch/preparing.ts"
import { linesOf, MAX_BATCH_BYTES, MEGABYTE } from "../../../src/application/batch/shards.ts"
import * as ReadPages from "../../../src/application/conversion/work/read-pages.ts"
import { manifestKey } from "../../../src/domain/batch/keys.ts"
import { recordId } from "../../../src/domain/batch/record.ts"
import { CHUNK_PAGES } from "../../../src/domain/conversion/job.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { BatchObjects, FileObjects, type ObjectStoreService } from "../../../src/ports/object-store.ts"
import { anyId } from "../../support/any-id.ts"
import { writeLargePdf } from "../../support/files/pdf-large.ts"
import { median } from "../measure.ts"

/** Work of the batch lane beside the bare part of it that cannot be done without, in the same rounds. */
export interface SpeedLine {
  readonly name: string
  /** Pages, or records. */
  readonly items: number
  readonly perSecond: number
  readonly barePerSecond: number
  /** Of the processor, all threads and the system's share together. */
  readonly cpuMs: number
  readonly bareCpuMs: number
  /** Medians of the rounds' ratios. */
  readonly ratio: number
  readonly cpuRatio: number
  readonly target: number
}

interface Taken {
  readonly seconds: number
  readonly cpuSeconds: number
}

const timed = <E, R>(work: Effect.Effect<unknown, E, R>): Effect.Effect<Taken, E, R> =>
  Effect.gen(function* () {
    const started = performance.now()
    const cpu = process.cpuUsage()
    yield* work
    const { system, user } = process.cpuUsage(cpu)
    return { seconds: (performance.now() - started) / 1_000, cpuSeconds: (user + system) / 1e6 }
  })

/** Both in turn, so that what disturbs the machine disturbs both; the first round warms up. */
const sideBySide = Effect.fnUntraced(function* <E, R, E2, R2>(
  row: Pick<SpeedLine, "name" | "items" | "target">,
  rounds: number,
  bare: Effect.Effect<unknown, E, R>,
  work: Effect.Effect<unknown, E2, R2>
) {
  const taken: Array<readonly [Taken, Taken]> = []
  for (let round = 0; round <= rounds; round++) {
    const pair = [yield* timed(bare), yield* timed(work)] as const
    if (round > 0) taken.push(pair)
  }
  const middle = (of: (pair: readonly [Taken, Taken]) => number) => median(taken.map(of))
  const line: SpeedLine = {
    ...row,
    perSecond: row.items / middle(([, mine]) => mine.seconds),
    barePerSecond: row.items / middle(([other]) => other.seconds),
    cpuMs: (middle(([, mine]) => mine.cpuSeconds) / row.items) * 1_000,
    bareCpuMs: (middle(([other]) => other.cpuSeconds) / row.items) * 1_000,
    ratio: middle(([other, mine]) => other.seconds / mine.seconds),
    cpuRatio: middle(([other, mine]) => other.cpuSeconds / mine.cpuSeconds)
  }
  return line
})

const SOURCE = "files/bench/source"
const LIMITS = {
  minRecords: 1,
  maxRecords: 50_000,
  maxShardBytes: 200 * MEGABYTE,
  maxBytes: MAX_BATCH_BYTES
}

/** A document's pages split and thrown away; the same pages captured and uploaded. */
const measurePrepare = (path: string, rounds: number, objects: ObjectStoreService) =>
  Effect.gen(function* () {
    yield* objects.put(SOURCE, Stream.make(readFileSync(path)), { contentType: "application/pdf" })
    const pdf = yield* Pdf
    const file = yield* objects.localPath(SOURCE)
    const { facts } = yield* Effect.scoped(pdf.open(file))
    const pages = facts.pageCount
    const chunks = Array.from({ length: Math.ceil(pages / CHUNK_PAGES) }, (_, chunkIndex) => ({
      chunkIndex,
      firstPage: chunkIndex * CHUNK_PAGES,
      lastPage: Math.min((chunkIndex + 1) * CHUNK_PAGES, pages) - 1
    }))
    return yield* sideBySide(
      { name: `prepare, ${basename(path)} (splitting alone)`, items: pages, target: 0.8 },
      rounds,
      Effect.scoped(
        Effect.flatMap(pdf.open(file), (document) =>
          Stream.runDrain(document.split({ first: 0, end: pages }))
        )
      ),
      prepare({ objectKey: SOURCE, chunks, prepared: "batch/bench/lease/", model: "bench", limits: LIMITS })
    )
  }).pipe(
    Effect.scoped,
    Effect.provide(
      ReadPages.layer.pipe(
        Layer.provideMerge(
          Layer.mergeAll(
            layerPdf(),
            Layer.succeed(FileObjects, objects),
            Layer.succeed(BatchObjects, objects),
            BatchLines.layer,
            NodeCrypto.layer
          )
        )
      )
    )
  )

const ANSWER = "<p>Words as they stand on a page that somebody has set with care.</p>\n".repeat(60)

/** Output of so many records whose input is `echo` bytes long: read and parsed; collected. */
const measureCollect = (records: number, echo: number, rounds: number, objects: ObjectStoreService) =>
  Effect.gen(function* () {
    const [jobId, folder] = [`bench-${echo}`, `batch/bench-${echo}/lease/`]
    const output = `${folder}output/job/`
    const entries = Array.from({ length: records }, (_, page) => {
      const chunkIndex = Math.floor(page / CHUNK_PAGES)
      return { recordId: recordId({ chunkIndex, page }), chunkIndex, page, promptHash: "h", model: "bench" }
    })
    const modelInput = { document: "A".repeat(echo) }
    const modelOutput = {
      output: { message: { role: "assistant", content: [{ text: ANSWER }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 2_000, outputTokens: 700 }
    }
    const lines = Stream.fromIterable(entries).pipe(
      Stream.map((entry) =>
        new TextEncoder().encode(`${JSON.stringify({ recordId: entry.recordId, modelInput, modelOutput })}\n`)
      )
    )
    yield* objects.put(manifestKey(folder), linesOf(entries), { contentType: "application/x-ndjson" })
    const key = `${output}shard-0001.jsonl.out`
    yield* objects.put(key, lines, { contentType: "application/jsonl" })
    const job = {
      arn: "arn:bench",
      name: "bench",
      status: "Completed",
      message: undefined,
      inputPrefix: `${folder}input/`,
      outputPrefix: output,
      processed: records
    } as const
    const parse = objects.get(key).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => Effect.sync(() => void JSON.parse(line)))
    )
    return yield* sideBySide(
      {
        name: `collect, inputs of ${Math.round(echo / 1_000)} KB (reading and JSON.parse)`,
        items: records,
        target: 0.5
      },
      rounds,
      parse,
      collect({ jobId: anyId(jobId), attempt: 1, shards: 0, partly: false }, job)
    )
  }).pipe(Effect.provideService(BatchObjects, objects), Effect.provide(BatchLines.layer))

/** What is measured: made documents of these lengths and others, and outputs of so many records with inputs of such a size. */
export interface SpeedOptions {
  readonly pages: ReadonlyArray<number>
  readonly others: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<{ readonly records: number; readonly echo: number }>
  readonly rounds: number
}

/** Prepare beside splitting, collect beside reading and parsing: on disk, in this process. */
export const measureBatchSpeed = async ({
  others,
  outputs,
  pages,
  rounds
}: SpeedOptions): Promise<ReadonlyArray<SpeedLine>> => {
  const folder = mkdtempSync(join(tmpdir(), "postlane-bench-"))
  try {
    const objects = makeDiskObjects(join(folder, "objects"))
    const made = pages.map((count) => {
      const path = join(folder, `${count}-pages.pdf`)
      writeLargePdf(path, count)
      return path
    })
    return await Effect.runPromise(
      Effect.gen(function* () {
        const prepared = yield* Effect.forEach([...made, ...others], (path) =>
          measurePrepare(path, rounds, objects)
        )
        const collected = yield* Effect.forEach(outputs, ({ echo, records }) =>
          measureCollect(records, echo, rounds, objects)
        )
        return [...prepared, ...collected]
      })
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
