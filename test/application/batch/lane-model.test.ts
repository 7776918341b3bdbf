import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import * as fc from "fast-check"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { BatchControls } from "../../../src/application/batch/controls.ts"
import { batchJobName, batchPrefix } from "../../../src/domain/batch/keys.ts"
import type { JobId } from "../../../src/domain/ids.ts"
import { BatchService } from "../../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { WINDOW } from "../../contracts/conversion/documents-world.ts"
import { anyId } from "../../support/any-id.ts"
import { driverTick } from "./world/tick.ts"
import { clean, convertAll, Knobs, laneWorld, parked, settingsOf, tickUntil } from "./world/world.ts"

const suite = Layer.provideMerge(BatchControls.layer, laneWorld)

const PAGES = 4

/** Everything that can go wrong at the service (BATCH-14 to BATCH-16). */
const FAULTS = [
  {},
  { failed: 0.3 },
  { unfinished: 0.3 },
  { failed: 0.3, unfinished: 0.3 },
  { failed: 1 },
  { expires: true },
  { expires: true, unfinished: 0.5 },
  { stops: true },
  { stops: true, unfinished: 0.5 },
  { fails: "no" }
] as const

const ACTS = ["cancel", "hurry", "delete", "again", "work", "work", "wait"] as const

const script = fc.record({
  faults: fc.constantFrom(...FAULTS),
  stopLatencyMs: fc.constantFrom(0, 50),
  /** Between the steps of a driver. */
  pauseMs: fc.constantFrom(0, 30),
  acts: fc.array(
    fc.record({ which: fc.nat(2), act: fc.constantFrom(...ACTS), after: fc.constantFrom(0, 10, 50) }),
    { minLength: 4, maxLength: 12 }
  )
})
type Script = typeof script extends fc.Arbitrary<infer A> ? A : never

/** What must never hold at any moment: counts the jobs for which it does. */
const WRONG = `select
  (select count(*) from large_conversion_jobs j where exists (
    select from chunk_jobs c where c.job_id = j.id and (
      (j.status = 'waiting_batch') <> (c.status = 'waiting_batch')
      or (j.status = 'cancelled' and c.status not in ('cancelled', 'completed')))
  ))::int as "X1 chunks of another state",
  (select count(*) from large_conversion_jobs j left join funds_holds h on h.job_id = j.id
    where coalesce(h.state, 'none') <> case j.status when 'completed' then 'settled' when 'cancelled' then 'released'
      when 'failed' then 'released' else 'held' end)::int as "F1 another hold",
  (select count(*) from large_conversion_jobs j where (j.status = 'completed')
    <> exists (select from credit_charges x where x.job_id = j.id and x.credits = ${PAGES}))::int as "F2 another charge",
  (select count(*) from (
    select job_id from cost_ledger where source = 'batch' group by 1 having count(*) > 1
  ) x)::int as "B1 billed twice",
  (select count(*) from conversion_batch_jobs b left join cost_ledger l on l.id = b.id
    where coalesce(l.cost_usd, 0) <> case b.state when 'closed' then b.cost_usd else 0 end)::int as "B1 another bill",
  (select count(*) from conversion_batch_jobs b join large_conversion_jobs j on j.id = b.job_id
    where b.outcome = 'collected' and b.close_reason = 'collected' and j.status not in ('waiting_batch', 'cancelled')
      and not j.options ? '_batchPrimed')::int as "B5 results lost",
  (select count(*) from conversion_batch_jobs b join large_conversion_jobs j on j.id = b.job_id
    where j.options ? '_batchPrimed' and b.outcome is distinct from 'collected')::int as "B5 results that are none",
  (select count(*) from large_conversion_jobs j where j.status in ('completed', 'cancelled', 'failed')
    and j.total_cost_usd is distinct from (
      select coalesce(sum(cost_usd), 0) from cost_ledger l where l.job_id = j.id
    ))::int as "K1 another total"`

interface Ended {
  readonly id: string
  readonly status: string
  readonly accepted: number
  readonly primed: boolean
  readonly arn: string | null
  /** Tokens that were booked of its batch job, and of calls on demand. */
  readonly batch: number
  readonly others: number
  readonly keys: ReadonlyArray<string>
}

const JOBS = `select j.id, j.status, coalesce(b.accepted, 0) as accepted, j.options ? '_batchPrimed' as primed,
    b.batch_job_arn as arn,
    (select coalesce(sum(input_tokens), 0)::int from cost_ledger l where l.job_id = j.id and source = 'batch') as batch,
    (select coalesce(sum(input_tokens), 0)::int from cost_ledger l where l.job_id = j.id and source <> 'batch') as others
  from large_conversion_jobs j left join conversion_batch_jobs b on b.job_id = j.id`

const OPEN = `select ((select count(*) from conversion_batch_jobs where state <> 'closed') + (select count(*)
  from large_conversion_jobs where status not in ('completed', 'cancelled', 'failed')))::int as n`

/** Converts and puts together whatever there is. */
const work = Effect.gen(function* () {
  const store = yield* ConversionStore
  yield* convertAll()
  while (true) {
    const assembly = yield* store.claimAssembly(anyId(), WINDOW)
    if (assembly === undefined) return
    yield* store.finishJob(assembly, `results/${assembly.lease}`)
  }
})

/** Answers in the output of a job's batch job: what it bills for. */
const answersOf = Effect.fnUntraced(function* (jobId: JobId) {
  const objects = yield* BatchObjects
  const keys = yield* Stream.runCollect(objects.list(batchPrefix(jobId)))
  const texts = yield* Effect.forEach(
    [...keys].map(({ key }) => key).filter((key) => key.endsWith(".jsonl.out")),
    (key) => Stream.mkString(Stream.decodeText(objects.get(key)))
  )
  return texts
    .join("")
    .split("\n")
    .filter((line) => line.includes('"modelOutput"')).length
})

const play = Effect.fnUntraced(function* ({ acts, faults, pauseMs, stopLatencyMs }: Script) {
  yield* clean
  Object.assign((yield* Knobs).faults, faults, { stopLatencyMs })
  const store = yield* ConversionStore
  const controls = yield* BatchControls
  const service = yield* BatchService
  const sql = yield* WriteSql
  const ends = new Map<string, string>()
  const hold = Effect.fnUntraced(function* (after: string) {
    const [wrong] = yield* sql.unsafe<Readonly<Record<string, number>>>(WRONG)
    assert.deepStrictEqual(
      Object.entries(wrong ?? {}).filter(([, count]) => count > 0),
      [],
      after
    )
    const jobs = yield* sql.unsafe<{ readonly id: string; readonly status: string }>(
      `select id, status from large_conversion_jobs`
    )
    for (const { id, status } of jobs) {
      if (ends.has(id)) assert.strictEqual(status, ends.get(id), `X1 it had ended, ${after}`)
      if (["completed", "cancelled", "failed"].includes(status)) ends.set(id, status)
    }
  })

  const files = yield* Effect.forEach([0, 1, 2], () => parked(PAGES))
  const act = Effect.fnUntraced(function* ({ act: what, which }: Script["acts"][number]) {
    const { fileId, owner } = files[which]!
    const jobId = (yield* store.file(fileId, owner))?.jobId
    switch (what) {
      case "cancel":
        if (jobId === undefined || jobId === null) return
        yield* store.cancel(jobId)
        return yield* controls.stopBatchJob(jobId)
      case "hurry":
        return void (yield* controls.processNow({ fileId, customerId: owner }))
      case "delete":
        return void (yield* store.deleteFile(fileId, owner))
      case "again": {
        const options = { highFidelity: true }
        const id = anyId()
        const asked = yield* store.request({ jobId: id, fileId, customerId: owner, options, window: WINDOW })
        if (asked === "queued")
          yield* store.createJob(id, { status: "waiting_batch", options, chunkPages: 2 })
        return
      }
      case "work":
        return yield* work
      case "wait":
        return
    }
  })
  const owners = Effect.forEach(
    acts,
    (step) =>
      Effect.sleep(step.after).pipe(
        Effect.andThen(act(step)),
        Effect.andThen(hold(`after ${step.act} ${step.which}`))
      ),
    { discard: true }
  )
  const rows = yield* BatchStore
  const late = Effect.sleep(pauseMs)
  const driver = Effect.forever(Effect.andThen(driverTick(settingsOf(), 1), Effect.sleep(5))).pipe(
    Effect.provideService(BatchStore, {
      ...rows,
      uploaded: (...those) => Effect.andThen(late, rows.uploaded(...those)),
      submitted: (...those) => Effect.andThen(late, rows.submitted(...those)),
      end: (...those) => Effect.andThen(late, rows.end(...those)),
      resume: (...those) => Effect.andThen(late, rows.resume(...those))
    })
  )
  yield* Effect.raceFirst(owners, Effect.all([driver, driver], { concurrency: "unbounded" }))
  const atRest = Effect.gen(function* () {
    yield* work
    yield* hold("while it comes to rest")
    const [open] = yield* sql.unsafe<{ readonly n: number }>(OPEN)
    return open?.n === 0
  })
  yield* tickUntil(settingsOf(), atRest, 2)

  for (const job of yield* sql.unsafe<Ended>(JOBS)) {
    const arn = yield* service.findByName(batchJobName(anyId(job.id)))
    assert.strictEqual(job.arn, arn ?? null, "B2 a batch job that its row does not know")
    if (arn !== undefined) {
      const { status } = yield* service.get(arn)
      assert.include(["Completed", "PartiallyCompleted", "Failed", "Stopped", "Expired"], status)
    }
    assert.strictEqual(job.batch, (yield* answersOf(anyId(job.id))) * 100, "K1 tokens of the batch job")
    if (job.status === "completed") {
      assert.strictEqual(job.others, (PAGES - (job.primed ? job.accepted : 0)) * 100, "K1 calls on demand")
    }
  }
})

layer(suite, { excludeTestServices: true })("the batch lane as a whole", (it) => {
  it.effect(
    "two drivers, workers, every fault of the service, owners who do anything: B, X, K and F hold after every step",
    () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Layer.Success<typeof suite>>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(script, (steps) => Effect.runPromiseWith(context)(play(steps))),
            { numRuns: 10 }
          )
        )
      })
  )
})
