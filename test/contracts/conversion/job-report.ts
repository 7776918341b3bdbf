/**
 * `JobReport`: admins see jobs, documents and costs, and never the words of a document.
 *
 * Adapters: memory, postgres. Rules: DOC-26, BATCH-31.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { JobReport } from "../../../src/ports/conversion/job-report.ts"
import { SharedFiles } from "../../../src/ports/conversion/shared-files.ts"
import { anyId } from "../../support/any-id.ts"
import { claimAs, endWith, JOB, PRICE } from "../batch/batch-store/rows.ts"
import {
  addFile,
  ask,
  clean,
  cost,
  customer,
  DocumentsWorld,
  job,
  parked,
  pdf,
  STALE,
  WINDOW
} from "./documents-world.ts"

/** What every report on jobs and costs shows to admins. */
export const suite = (
  name: string,
  stores: Layer.Layer<JobReport | SharedFiles | ConversionStore | BatchStore | DocumentsWorld>
) =>
  suiteLayer(stores)(`jobs and costs for admins: ${name}`, (it) => {
    it.effect("Word documents, pictures and flyers are reported beside the jobs, what moved last first", () =>
      Effect.gen(function* () {
        yield* clean
        const jobs = yield* JobReport
        const store = yield* ConversionStore
        const owner = yield* customer(100)
        const [word, picture, flyer] = [
          yield* addFile(owner, 2, "docx"),
          yield* addFile(owner, 1, "png"),
          anyId()
        ]
        yield* addFile(owner, 1, "docx")
        yield* job(owner, yield* pdf(owner, 2))
        yield* ask(owner, word)
        yield* ask(owner, picture)
        const kept = yield* pdf(owner, 3)
        yield* store.requestFlyer({ id: flyer, fileId: kept, customerId: owner, window: WINDOW })
        const claimed = yield* store.claimInline(anyId(), STALE)
        yield* store.failInline(claimed!, {
          error: "This Word document is damaged",
          costs: [],
          maxAttempts: 1
        })
        const { nextCursor, rows } = yield* jobs.others({ limit: 10 })
        assert.isNull(nextCursor)
        assert.deepStrictEqual(
          rows.map(({ error, fileId, kind, status }) => [kind, fileId, status, error]),
          [
            ["docx", word, "failed", "This Word document is damaged"],
            ["layout", kept, "pending", null],
            ["png", picture, "pending", null]
          ]
        )
        assert.deepInclude(rows[0], {
          fileName: "a.docx",
          customerEmail: `${owner}@x.test`,
          pages: 2,
          attempts: 1
        })
        const first = yield* jobs.others({ limit: 1, status: "pending" })
        const second = yield* jobs.others({
          limit: 1,
          status: "pending",
          cursor: first.nextCursor ?? undefined
        })
        assert.deepStrictEqual([...first.rows, ...second.rows], rows.slice(1))
      })
    )

    it.effect("jobs, newest first, page by page, by status, with what they cost", () =>
      Effect.gen(function* () {
        yield* clean
        const jobs = yield* JobReport
        const conversions = yield* ConversionStore
        const owner = yield* customer(100)
        const ids: Array<string> = []
        for (let n = 0; n < 5; n++) ids.unshift(yield* job(owner, yield* pdf(owner, 2)))
        yield* conversions.cancel(anyId(ids[1]))
        yield* conversions.bookCosts([cost(anyId(ids[2]), 0.25)])
        const seen: Array<string> = []
        let cursor: string | undefined
        do {
          const page = yield* jobs.jobs({ limit: 2, cursor })
          seen.push(...page.rows.map(({ id }) => id))
          cursor = page.nextCursor ?? undefined
        } while (cursor !== undefined)
        assert.deepStrictEqual(seen, ids)
        const { rows } = yield* jobs.jobs({ limit: 10 })
        assert.strictEqual(rows[2]?.totalCostUsd, 0.25)
        assert.deepInclude(rows[0], {
          fileName: "a.pdf",
          customerEmail: `${owner}@x.test`,
          customerId: owner,
          bulkId: null,
          status: "pending",
          options: {},
          totalPages: 2,
          totalChunks: 1,
          doneChunks: 0,
          totalCostUsd: 0,
          error: null,
          finishedAt: null,
          batch: null
        })
        const cancelled = yield* jobs.jobs({ limit: 10, status: "cancelled" })
        assert.deepStrictEqual(
          cancelled.rows.map(({ id }) => id),
          [ids[1]]
        )
        assert.isNotNull(cancelled.rows[0]?.finishedAt)
        const counts = yield* jobs.jobCounts
        assert.deepStrictEqual(
          counts.toSorted((a, b) => (a.status < b.status ? -1 : 1)),
          [
            { status: "cancelled", jobs: 1 },
            { status: "pending", jobs: 4 }
          ]
        )
        const { fileId } = cancelled.rows[0]!
        assert.deepStrictEqual(yield* jobs.jobOf(anyId(ids[1])), {
          fileId,
          customerId: owner,
          status: "cancelled",
          options: {}
        })
        assert.isUndefined(yield* jobs.jobOf(anyId()))
        yield* conversions.deleteFile(fileId, owner)
        assert.isUndefined(yield* jobs.jobOf(anyId(ids[1])))
        assert.strictEqual((yield* Effect.flip(jobs.jobs({ limit: 1, cursor: "x" })))._tag, "InvalidCursor")
      })
    )

    it.effect(
      "a document with its conversions, what of the newest is left, and with how many it is shared",
      () =>
        Effect.gen(function* () {
          yield* clean
          const jobs = yield* JobReport
          const conversions = yield* ConversionStore
          const owner = yield* customer(100)
          const fileId = yield* pdf(owner, 5)
          const fresh = (yield* jobs.document(fileId))!
          assert.deepInclude(fresh, {
            id: fileId,
            name: "a.pdf",
            kind: "pdf",
            pages: 5,
            status: "uploaded",
            customerId: owner,
            customerEmail: `${owner}@x.test`,
            deletedAt: null,
            hasResult: false,
            unreadablePages: [],
            shares: 0,
            jobs: [],
            chunks: []
          })
          const first = yield* job(owner, fileId)
          yield* conversions.bookCosts([cost(first, 0.25)])
          yield* conversions.cancel(first)
          const second = yield* job(owner, fileId)
          const links = yield* SharedFiles
          const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
          yield* links.note({ fileId, recipients: ["ann@x.test", "bob@x.test"], expiresAt })
          const other = yield* pdf(owner, 1)
          yield* job(owner, other)
          const report = (yield* jobs.document(fileId))!
          assert.deepStrictEqual([report.status, report.shares], ["chunked_processing", 2])
          assert.deepStrictEqual(
            report.jobs.map(({ id, status, totalCostUsd }) => [id, status, totalCostUsd]),
            [
              [second, "pending", 0],
              [first, "cancelled", 0.25]
            ]
          )
          assert.deepStrictEqual(
            report.jobs,
            (yield* jobs.jobs({ limit: 10 })).rows.filter((one) => one.fileId === fileId)
          )
          assert.deepStrictEqual(
            report.chunks.map(({ attempts, error, firstPage, lastPage, status }) => [
              firstPage,
              lastPage,
              status,
              attempts,
              error
            ]),
            [
              [1, 2, "pending", 0, null],
              [3, 4, "pending", 0, null],
              [5, 5, "pending", 0, null]
            ]
          )
          yield* conversions.deleteFile(other, owner)
          assert.isNotNull((yield* jobs.document(other))?.deletedAt)
          assert.isUndefined(yield* jobs.document(anyId()))
        })
    )

    it.effect("the batch row of a job", () =>
      Effect.gen(function* () {
        yield* clean
        const jobs = yield* JobReport
        const batches = yield* BatchStore
        const { jobId } = yield* parked(3)
        const row = (yield* claimAs(anyId()))!
        const input = { prefix: "p/", records: 3, shards: 1, bytes: 7, model: "m1", price: PRICE }
        yield* batches.uploaded(row, input)
        yield* batches.submitted(row, JOB)
        yield* batches.beginCollect(row.id)
        yield* batches.end(row.id, { ...endWith(row.id, jobId), accepted: 2, fallback: 1 })
        const [shown] = (yield* jobs.jobs({ limit: 1 })).rows
        const { closedAt, submittedAt, ...batch } = shown!.batch!
        assert.deepStrictEqual(batch, {
          state: "closed",
          outcome: "collected",
          reason: "collected",
          arn: JOB.arn,
          endState: "Completed",
          records: 3,
          accepted: 2,
          fallback: 1,
          inputBytes: 7,
          costUsd: 0.5,
          attempts: 1
        })
        for (const moment of [shown?.createdAt, submittedAt, closedAt])
          assert.match(moment ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
        assert.strictEqual(shown?.totalCostUsd, 0.5)
      })
    )

    it.effect("costs by source, and the batch lane against on demand; an empty ledger too", () =>
      Effect.gen(function* () {
        yield* clean
        const jobs = yield* JobReport
        const conversions = yield* ConversionStore
        const empty = yield* jobs.costs(30)
        assert.deepStrictEqual([empty.totalUsd, empty.sources, empty.batch.savedUsd], [0, [], 0])
        const owner = yield* customer(100)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        yield* conversions.bookCosts([
          cost(jobId, 0.25),
          {
            ...cost(jobId, 1),
            source: "batch",
            metadata: { batch: true, accepted: 9, fallback: 1, onDemandUsd: 1.8 }
          }
        ])
        const { batch, sources, totalUsd } = yield* jobs.costs(1)
        assert.strictEqual(totalUsd, 1.25)
        assert.deepStrictEqual(
          sources.map(({ costUsd, source }) => [source, costUsd]),
          [
            ["batch", 1],
            ["chunk-scheduler", 0.25]
          ]
        )
        assert.deepStrictEqual(batch, {
          jobs: 1,
          accepted: 9,
          served: 0,
          fallback: 1,
          costUsd: 1,
          onDemandUsd: 1.8,
          savedUsd: -1
        })
        // By what is in results, not by what was bought.
        const chunk = (yield* conversions.claimChunk("w", anyId()))!
        yield* conversions.completeChunk(chunk, "r", [], { served: 2 })
        const used = (yield* jobs.costs(1)).batch
        assert.strictEqual(used.served, 2)
        assert.closeTo(used.savedUsd, -0.6, 1e-9)
        yield* DocumentsWorld.use((world) => world.bookedYesterday)
        assert.strictEqual((yield* jobs.costs(1)).totalUsd, 0)
        assert.strictEqual((yield* jobs.costs(2)).totalUsd, 1.25)
      })
    )
  })
