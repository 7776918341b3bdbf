import { randomUUID } from "node:crypto"

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import type { CostReport } from "../../../src/ports/conversion/job-report.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { jsonOf, run } from "./harness.ts"

const costs = (...args: ReadonlyArray<string>) =>
  TestDatabase.use(({ url }) => run(["costs", ...args], { DB_URL: url }))

layer(layerPostgres, { excludeTestServices: true })("postlane costs", (it) => {
  it.effect("says what models cost and what the batch lane saved, in words and as JSON", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const empty = yield* costs()
      assert.strictEqual(empty.code, 0, empty.err)
      assert.match(empty.out, /^Models cost \$0\.0000 since \d{4}-\d\d-\d\d \(UTC\)\.\nBatch lane: 0 jobs/)
      yield* sql`insert into cost_ledger (job_id, source, backend, cost_usd, metadata) values
        (${randomUUID()}::uuid, 'batch', 'chunked-vision', 1,
          '{"batch": true, "accepted": 9, "fallback": 1, "onDemandUsd": 1.8}'),
        (null, 'chunk-scheduler', 'chunked-vision', 0.25, '{}')`
      const words = (yield* costs("--days", "2")).out
      assert.include(words, "Models cost $1.2500")
      assert.include(words, "1 job, 0 of 9 pages reused, 1 fell back. It cost $1.0000")
      assert.include(words, "-$1.0000 saved")
      const report = jsonOf<CostReport>(yield* costs("--json"))
      assert.deepStrictEqual([report.days, report.totalUsd, report.batch.jobs], [30, 1.25, 1])
      assert.notStrictEqual((yield* costs("--days", "0")).code, 0)
    })
  )
})
