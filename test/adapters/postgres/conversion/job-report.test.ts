import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Mac from "effect/crypto/Mac"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer as store } from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import { layer as report } from "../../../../src/adapters/postgres/conversion/job-report.ts"
import * as SharedFiles from "../../../../src/adapters/postgres/conversion/shared-files.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { JobReport } from "../../../../src/ports/conversion/job-report.ts"
import { cost, job, pdf } from "../../../contracts/conversion/documents-world.ts"
import * as Jobs from "../../../contracts/conversion/job-report.ts"
import { anyId } from "../../../support/any-id.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { clean, customer } from "./world.ts"

const suite = Layer.provideMerge(Layer.mergeAll(store, report), layerPostgres)

const links = SharedFiles.layer({ baseUrl: "https://p.test" }).pipe(
  Layer.provide(Layer.provide(Mac.layerWebCrypto, NodeCrypto.layer))
)

Jobs.suite("PostgreSQL", Layer.provideMerge(Layer.merge(report, links), postgres))

layer(suite)("jobs and costs for admins", (it) => {
  it.effect("jobs, newest first, page by page, by status, with their batch rows", () =>
    Effect.gen(function* () {
      yield* clean
      const sql = yield* WriteSql
      const jobs = yield* JobReport
      const conversions = yield* ConversionStore
      const owner = yield* customer(100)
      const ids: Array<string> = []
      for (let n = 0; n < 5; n++) ids.unshift(yield* job(owner, yield* pdf(owner, 2)))
      yield* conversions.cancel(anyId(ids[1]))
      yield* sql`insert into conversion_batch_jobs (
          job_id, state, outcome, close_reason, batch_job_arn, end_state, records, accepted, fallback, input_bytes, cost_usd,
          attempts, submitted_at, closed_at
        ) values (${ids[0]!}::uuid, 'closed', 'collected', 'it was collected', 'arn:x', 'Completed', 3, 2, 1, 7, 0.5, 4,
          '2026-01-02T03:04:05Z', '2026-01-02T04:05:06Z')`
      yield* conversions.bookCosts([cost(anyId(ids[2]), 0.25)])
      const seen: Array<string> = []
      let cursor: string | undefined
      do {
        const page = yield* jobs.jobs({ limit: 2, cursor })
        seen.push(...page.rows.map(({ id }) => id))
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      assert.deepStrictEqual(seen, ids)
      // A row with options that nobody knows hides no others.
      yield* sql`update large_conversion_jobs set options = '{"parser": "abacus", "mathOcr": true}'
        where id = ${ids[4]!}::uuid`
      const { rows } = yield* jobs.jobs({ limit: 10 })
      assert.deepStrictEqual(rows[4]?.options, { mathOcr: true })
      assert.deepStrictEqual(
        [rows[0]?.batch, rows[1]?.batch],
        [
          {
            state: "closed",
            outcome: "collected",
            reason: "it was collected",
            arn: "arn:x",
            endState: "Completed",
            records: 3,
            accepted: 2,
            fallback: 1,
            inputBytes: 7,
            costUsd: 0.5,
            attempts: 4,
            submittedAt: "2026-01-02T03:04:05.000000Z",
            closedAt: "2026-01-02T04:05:06.000000Z"
          },
          null
        ]
      )
      assert.strictEqual(rows[2]?.totalCostUsd, 0.25)
      const cancelled = yield* jobs.jobs({ limit: 10, status: "cancelled" })
      assert.deepStrictEqual(
        cancelled.rows.map(({ id }) => id),
        [ids[1]]
      )
      assert.strictEqual((yield* Effect.flip(jobs.jobs({ limit: 1, cursor: "x" })))._tag, "InvalidCursor")
    })
  )
})
