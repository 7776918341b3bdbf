import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"

import * as BatchLines from "../../../src/adapters/bedrock/batch-lines.ts"
import { collect, tallyOnly } from "../../../src/application/batch/collecting.ts"
import { makeResultsWriter, readResults } from "../../../src/application/batch/results.ts"
import {
  type BatchLimits,
  BatchSkipped,
  linesOf,
  writeShards
} from "../../../src/application/batch/shards.ts"
import { manifestKey } from "../../../src/domain/batch/keys.ts"
import type { BatchJob } from "../../../src/ports/batch/batch-service.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { anyId } from "../../support/any-id.ts"
import { answeredRecord } from "../../support/vendors/fake-bedrock-batch.ts"
import { makeMapObjects } from "../../support/worlds/map-objects.ts"

const encoder = new TextEncoder()

/** What is read of a line. */
const readLine = (line: string) => BatchLines.readOutputLine(encoder.encode(line))!

const job: BatchJob = {
  arn: "arn:x",
  name: "n",
  status: "Completed",
  message: undefined,
  inputPrefix: "batch/j/l/input/",
  outputPrefix: "batch/j/l/output/x/",
  processed: undefined
}

/** A store that holds a manifest of two chunks with three pages each, and this output. */
const collected = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const objects = makeMapObjects()
  const contentType = "application/jsonl"
  const entries = [0, 1, 2, 3, 4, 5].map((page) => ({
    recordId: `c${Math.floor(page / 3)}-p${page}`,
    chunkIndex: Math.floor(page / 3),
    page,
    promptHash: "h",
    model: "m"
  }))
  yield* objects.put(manifestKey("batch/j/l/"), linesOf(entries), { contentType })
  for (const [name, text] of Object.entries(files)) {
    yield* objects.put(`${job.outputPrefix}${name}`, Stream.make(encoder.encode(text)), { contentType })
  }
  return objects
})

const pagesOf = (objects: ReturnType<typeof makeMapObjects>, chunk: number) =>
  Effect.map(readResults(objects, anyId("j"), chunk), (pages) =>
    pages.map(({ page, text }) => `${page} ${text}`)
  )

describe("collecting", () => {
  const all = [0, 1, 2, 3, 4, 5]
  const idOf = (page: number) => `c${Math.floor(page / 3)}-p${page}`
  const lineOf = (page: number, text = `t${page}`) => `${JSON.stringify(answeredRecord(idOf(page), text))}\n`

  it.effect("survives missing, extra, doubled, reordered, cut-off and broken lines", () =>
    Effect.gen(function* () {
      const first = lineOf(4) + lineOf(0) + "{broken\n" + lineOf(0, "second") + lineOf(99, "extra")
      const second =
        lineOf(2) +
        `${JSON.stringify({ recordId: "c1-p3", error: { errorCode: 500 } })}\n` +
        lineOf(5).slice(0, 40)
      const objects = yield* collected({
        "shard-0001.jsonl.out": first,
        "shard-0002.jsonl.out": second,
        "manifest.json.out": lineOf(1)
      })
      const tally = yield* collect({ jobId: anyId("j"), attempt: 1, shards: 0, partly: false }, job).pipe(
        Effect.provideService(BatchObjects, objects),
        Effect.provide(BatchLines.layer)
      )
      assert.deepStrictEqual(tally, {
        returned: 6,
        usage: { inputTokens: 50, outputTokens: 10 },
        acceptedUsage: { inputTokens: 30, outputTokens: 6 },
        accepted: 3,
        fallback: 3
      })
      assert.deepStrictEqual(yield* pagesOf(objects, 0), ["0 t0", "2 t2"])
      assert.deepStrictEqual(yield* pagesOf(objects, 1), ["4 t4"])
    })
  )

  it.effect("gives the same results for every order, and however little may be held", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            fc.shuffledSubarray(all, { minLength: 6 }),
            fc.integer({ min: 0, max: 12 }),
            (order, held) =>
              Effect.runPromise(
                Effect.gen(function* () {
                  const objects = makeMapObjects()
                  const entry = (page: number) => ({
                    recordId: idOf(page),
                    chunkIndex: Math.floor(page / 3),
                    page,
                    promptHash: "h",
                    model: "m"
                  })
                  const writer = makeResultsWriter(
                    objects,
                    { jobId: anyId("j"), attempt: 1 },
                    all.map(entry),
                    held
                  )
                  for (const page of order) {
                    yield* writer.add(entry(page), readLine(lineOf(page)))
                  }
                  yield* writer.finish
                  const whole = Effect.gen(function* () {
                    assert.deepStrictEqual(yield* pagesOf(objects, 0), ["0 t0", "1 t1", "2 t2"])
                    assert.deepStrictEqual(yield* pagesOf(objects, 1), ["3 t3", "4 t4", "5 t5"])
                  })
                  yield* whole
                  const beside = objects.list("batch/j/held-")
                  assert.lengthOf(yield* Stream.runCollect(beside), 0)
                  // One that slept through all of that, and ends anywhere.
                  const late = makeResultsWriter(
                    objects,
                    { jobId: anyId("j"), attempt: 2 },
                    all.map(entry),
                    held
                  )
                  for (const page of order) {
                    yield* late.add(entry(page), readLine(lineOf(page)))
                    yield* whole
                  }
                })
              )
          ),
          { numRuns: 50 }
        )
      )
    })
  )

  it.effect("holds no more than its bound in the worst order, and reads what it set aside once", () =>
    Effect.gen(function* () {
      const [chunks, each, held, width] = [640, 5, 20_000, 100]
      const pages = Array.from({ length: chunks * each }, (_, page) => page)
      const objects = makeMapObjects()
      const seen = { added: 0, stored: 0, most: 0, read: 0, atOnce: 0 }
      const charactersOf = (value: unknown): number =>
        [...JSON.stringify(value).matchAll(/"text":"(x+)"/g)].reduce((sum, [, text]) => sum + text!.length, 0)
      const jsonOf = <E>(body: Stream.Stream<Uint8Array, E>) =>
        Effect.map(Stream.mkString(Stream.decodeText(body)), (text): unknown => JSON.parse(text))
      const writer = makeResultsWriter(
        {
          ...objects,
          put: (key, body, options) =>
            Effect.gen(function* () {
              const stored = yield* Stream.runCollect(body)
              seen.stored += charactersOf(yield* jsonOf(Stream.fromIterable(stored)))
              return yield* objects.put(key, Stream.fromIterable(stored), options)
            }),
          get: (key, options) =>
            Stream.unwrap(
              Effect.gen(function* () {
                const characters = charactersOf(yield* jsonOf(objects.get(key)))
                seen.read += 1
                seen.stored -= characters
                seen.atOnce = Math.max(seen.atOnce, seen.added - seen.stored)
                return objects.get(key, options)
              })
            )
        },
        { jobId: anyId("j"), attempt: 1 },
        pages.map((page) => ({
          recordId: `c${page % chunks}-p${page}`,
          chunkIndex: page % chunks,
          page,
          promptHash: "h",
          model: "m"
        })),
        held
      )
      // Each chunk gets its last record after every other one has all but that.
      for (const page of pages) {
        seen.added += width
        const recordId = `c${page % chunks}-p${page}`
        const entry = { recordId, chunkIndex: page % chunks, page, promptHash: "h", model: "m" }
        yield* writer.add(entry, readLine(`${JSON.stringify(answeredRecord(recordId, "x".repeat(width)))}\n`))
        seen.most = Math.max(seen.most, seen.added - seen.stored)
      }
      assert.isAtMost(seen.most, held)
      yield* writer.finish
      // What the buffer still held, and one group of 64.
      assert.isAtMost(seen.atOnce, held + (chunks * each * width) / 64)
      const fills = Math.floor((chunks * each * width) / held)
      assert.isAtMost(seen.read, fills * 64)
      for (const chunk of [0, 1, chunks - 1]) {
        const found = yield* pagesOf(objects, chunk)
        assert.deepStrictEqual(
          found.map((text) => Number.parseInt(text, 10)),
          pages.filter((page) => page % chunks === chunk)
        )
      }
    })
  )

  it.effect("fails where there is no output, no record in it, or the batch job reads what is not ours", () =>
    Effect.gen(function* () {
      for (const [files, change] of [
        [{}, {}],
        [{ "a.jsonl.out": "{broken\n" }, {}],
        [{ "a.jsonl.out": lineOf(1) }, { inputPrefix: "elsewhere/" }]
      ] as const) {
        const objects = yield* collected(files)
        const error = yield* Effect.flip(
          collect({ jobId: anyId("j"), attempt: 1, shards: 0, partly: false }, { ...job, ...change }).pipe(
            Effect.provideService(BatchObjects, objects),
            Effect.provide(BatchLines.layer)
          )
        )
        assert.strictEqual(error._tag, "CollectFailed")
      }
    })
  )

  it.effect("counts for a bill without using anything, and knows when something is missing", () =>
    Effect.gen(function* () {
      const objects = yield* collected({ "a.jsonl.out": lineOf(1) + lineOf(2) })
      const counted = (processed: number) =>
        tallyOnly(6, { ...job, processed }).pipe(
          Effect.provideService(BatchObjects, objects),
          Effect.provide(BatchLines.layer)
        )
      const { tally, whole } = yield* counted(2)
      assert.deepStrictEqual(
        [tally.returned, tally.usage.inputTokens, tally.accepted, tally.fallback],
        [2, 20, 0, 6]
      )
      assert.isTrue(whole)
      assert.isFalse((yield* counted(3)).whole)
    })
  )

  it.effect("waits for records that it cannot see, whatever other lines there are", () =>
    Effect.gen(function* () {
      // Output of which the rest appears late: a record, and a line more.
      for (const [more, records] of [
        ["{broken\n", 2],
        [lineOf(1, "again"), 1],
        [lineOf(99, "of nobody"), 1]
      ] as const) {
        const objects = yield* collected({ "a.jsonl.out": lineOf(1) + more })
        const end = (processed: number) =>
          collect(
            { jobId: anyId("j"), attempt: 1, shards: 2, partly: false },
            { ...job, status: "PartiallyCompleted", processed }
          ).pipe(
            Effect.provideService(BatchObjects, objects),
            Effect.provide(BatchLines.layer),
            Effect.match({
              onFailure: ({ _tag, reason }) => `${_tag}: ${reason}`,
              onSuccess: () => "collected"
            })
          )
        assert.strictEqual(yield* end(records), "collected")
        assert.strictEqual(
          yield* end(records + 1),
          `CollectFailed: only ${records} of ${records + 1} output records can be seen`
        )
      }
      for (const other of [lineOf(1, "again"), lineOf(99, "of nobody")]) {
        const objects = yield* collected({ "a.jsonl.out": lineOf(1) + other })
        const bill = yield* tallyOnly(6, { ...job, processed: 2 }).pipe(
          Effect.provideService(BatchObjects, objects),
          Effect.provide(BatchLines.layer)
        )
        assert.deepStrictEqual([bill.tally.returned, bill.whole], [2, false])
      }
    })
  )
})

describe("shards", () => {
  const write = (lines: ReadonlyArray<Uint8Array>, limits: BatchLimits) => {
    const stored = new Map<string, Uint8Array>()
    const objects = makeMapObjects(stored)
    return Effect.map(
      Effect.result(
        writeShards(Stream.fromIterable(lines), "p/", limits).pipe(
          Effect.provideService(BatchObjects, objects),
          Effect.provide(BatchLines.layer)
        )
      ),
      (result) => ({ result, stored })
    )
  }
  const none = { minRecords: 0, maxRecords: 1e9, maxShardBytes: 1e9, maxBytes: 1e9 }

  it("hold every record once, in order, none over the limit but one that is larger by itself", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 30 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 50 }),
        (lines, maxShardBytes) =>
          Effect.runPromise(
            Effect.map(write(lines, { ...none, maxShardBytes }), ({ result, stored }) => {
              assert.strictEqual(result._tag, "Success")
              const shards = [...stored].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bytes]) => bytes)
              assert.deepStrictEqual(
                Array.from(Buffer.concat(shards)),
                lines.flatMap((line) => [...line])
              )
              for (const shard of shards) {
                assert.isTrue(
                  shard.length <= maxShardBytes || lines.some((line) => line.length === shard.length)
                )
                assert.isAbove(shard.length, 0)
              }
            })
          )
      )
    )
  })

  it.effect("skip the job below the least and above the most records, and above all bytes", () =>
    Effect.gen(function* () {
      const lines = [1, 2, 3].map(() => encoder.encode("1234567890"))
      for (const [limits, reason] of [
        [{ minRecords: 4 }, "fewer than 4 records"],
        [{ maxRecords: 2 }, "more than 2 records"],
        [{ maxBytes: 29 }, "more than 0.000029 MB of records"],
        [{ minRecords: 3, maxRecords: 3, maxBytes: 30 }, undefined]
      ] as const) {
        const { result } = yield* write(lines, { ...none, ...limits })
        const skipped = result._tag === "Failure" ? result.failure : undefined
        assert.strictEqual(skipped instanceof BatchSkipped ? skipped.reason : undefined, reason)
      }
    })
  )
})
