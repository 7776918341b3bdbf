import { randomUUID } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import { type ChunkStatus, type JobMove, JobStatus, moveJob } from "../../../../src/domain/conversion/job.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../../../src/ports/store-unavailable.ts"
import { layerPostgres } from "../../../support/postgres.ts"
import { clean, customer, job, pdf, STALE, WINDOW } from "./world.ts"

const LEASE = randomUUID()

/** Attempts that a chunk under test has had: the last one of `LAST`, not of `MANY`. */
const LAST = 1
const MANY = 3

/** What is called, on the job or its first chunk. */
type Call = (
  store: ConversionStore["Service"],
  ids: { readonly jobId: string; readonly chunkId: string },
  sql: WriteSql["Service"]
) => Effect.Effect<unknown, StoreUnavailable | SqlError>

const failure = (maxAttempts: number) => ({
  error: "x",
  costs: [],
  retryIn: Duration.zero,
  maxAttempts
})

const chunk = (chunkId: string) => ({ id: chunkId, lease: LEASE })

const CALLS = {
  claimChunk: (store) => store.claimChunk("w", randomUUID()),
  heartbeatChunk: (store, { chunkId }) => store.heartbeatChunk(chunk(chunkId), 1, WINDOW),
  completeChunk: (store, { chunkId }) => store.completeChunk(chunk(chunkId), "r", []),
  failChunk: (store, { chunkId }) => store.failChunk(chunk(chunkId), failure(MANY)),
  failChunkAtLast: (store, { chunkId }) => store.failChunk(chunk(chunkId), failure(LAST)),
  handBackChunk: (store, { chunkId }) => store.handBackChunk(chunk(chunkId), []),
  recoverOrphan: (store) => store.recoverOrphan(STALE, MANY),
  recoverOrphanAtLast: (store) => store.recoverOrphan(STALE, LAST),
  claimAssembly: (store) => store.claimAssembly(randomUUID(), STALE),
  heartbeatAssembly: (store, { jobId }) => store.heartbeatAssembly({ jobId, lease: LEASE }, WINDOW),
  handBackAssembly: (store, { jobId }) => store.handBackAssembly({ jobId, lease: LEASE }),
  finishJob: (store, { jobId }) => store.finishJob({ jobId, lease: LEASE }, "result"),
  failJob: (store, { jobId }) => store.failJob(jobId, "x"),
  cancel: (store, { jobId }) => store.cancel(jobId),
  budgetSpent: (store) => store.applyBudget(0),
  budgetThere: (store) => store.applyBudget(undefined),
  createJob: (store, { jobId }) => store.createJob(jobId, { status: "pending", options: {}, chunkPages: 1 }),
  resume: (_, { jobId }, sql) => sql`select resume_batch_conversion_job(${jobId}::uuid)`,
  bookCosts: (store) => store.bookCosts([]),
  sweep: (store) => store.sweep(WINDOW, Duration.zero)
} satisfies Record<string, Call>

type Name = keyof typeof CALLS

const NAMES = Object.keys(CALLS).filter((name): name is Name => name in CALLS)

/** What a call means to a job whose first and only unfinished chunk is being worked on; the others move no job. */
const JOB_MOVES: Partial<Record<Name, JobMove>> = {
  claimChunk: "start",
  completeChunk: "assemble",
  failChunkAtLast: "fail",
  recoverOrphanAtLast: "fail",
  finishJob: "complete",
  failJob: "fail",
  cancel: "cancel",
  budgetSpent: "pause",
  budgetThere: "unpause",
  resume: "resume"
}

/** Chunks of a job in this status. */
const CHUNK_OF: Record<JobStatus, ChunkStatus> = {
  pending: "processing",
  waiting_batch: "waiting_batch",
  processing: "processing",
  paused_budget: "processing",
  assembling: "completed",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled"
}

/** Every status of a chunk, and of the job that it then belongs to. */
const STAGED: ReadonlyArray<readonly [ChunkStatus, JobStatus]> = [
  ["pending", "processing"],
  ["waiting_batch", "waiting_batch"],
  ["processing", "processing"],
  ["completed", "processing"],
  ["failed", "failed"],
  ["cancelled", "cancelled"]
]

/** Every move of a chunk. */
const CHUNK_MOVES: Record<ChunkStatus, Partial<Record<Name, ChunkStatus>>> = {
  pending: { claimChunk: "processing", failJob: "failed", cancel: "cancelled" },
  waiting_batch: { resume: "pending", failJob: "failed", cancel: "cancelled" },
  processing: {
    completeChunk: "completed",
    failChunk: "pending",
    failChunkAtLast: "failed",
    handBackChunk: "pending",
    recoverOrphan: "pending",
    recoverOrphanAtLast: "failed",
    failJob: "failed",
    cancel: "cancelled"
  },
  completed: {},
  failed: {},
  cancelled: {}
}

/** A job of so many chunks, put into a state by hand, its worker gone for an hour. */
const stage = Effect.fnUntraced(function* (status: JobStatus, first: ChunkStatus, chunks: number) {
  yield* clean
  const sql = yield* WriteSql
  const owner = yield* customer(10)
  const jobId = yield* job(owner, yield* pdf(owner, chunks), { highFidelity: true }, 1)
  yield* sql`update chunk_jobs set
    status = case when chunk_index = 0 then ${first} else 'waiting_batch' end, lease = ${LEASE}::uuid, attempts = 1,
    heartbeat_at = now() - interval '1 hour', result_key = 'r'`
  yield* sql`update large_conversion_jobs set status = ${status}, lease = ${LEASE}::uuid, heartbeat_at = now(),
    done_chunks = ${first === "completed" ? 1 : 0}`
  const rows = yield* sql<{ readonly id: string }>`select id from chunk_jobs where chunk_index = 0`
  return { jobId, chunkId: rows[0]!.id }
})

const statuses = WriteSql.use(
  (sql) => sql<{ readonly job: string; readonly chunk: string }>`select j.status as job, c.status as chunk
    from large_conversion_jobs j join chunk_jobs c on c.job_id = j.id and c.chunk_index = 0`
)

const suite = Layer.provideMerge(layer, layerPostgres)

suiteLayer(suite)("moves on PostgreSQL", (it) => {
  it.effect(
    "every function on a job of every status: exactly the moves of the table",
    () =>
      Effect.gen(function* () {
        const store = yield* ConversionStore
        const sql = yield* WriteSql
        for (const status of JobStatus.literals) {
          for (const name of NAMES) {
            const isClaim = name === "claimChunk"
            const first = isClaim && status !== "waiting_batch" ? "pending" : CHUNK_OF[status]
            const ids = yield* stage(status, first, 1)
            yield* CALLS[name](store, ids, sql)
            const move = JOB_MOVES[name]
            const expected = move === undefined ? undefined : moveJob(status, move)
            const [after] = yield* statuses
            // A chunk that has ended is not worked on, and ends no job anew.
            const applies = !name.endsWith("AtLast") || first === "processing"
            assert.strictEqual(after?.job, applies ? (expected ?? status) : status, `${name} on ${status}`)
          }
        }
      }),
    120_000
  )

  it.effect(
    "C2: a chunk that is still worked on completes a job that goes on, and no other",
    () =>
      Effect.gen(function* () {
        const store = yield* ConversionStore
        for (const status of JobStatus.literals) {
          const { chunkId } = yield* stage(status, "processing", 1)
          const expected = moveJob(status, "assemble")
          assert.strictEqual(
            yield* store.completeChunk({ id: chunkId, lease: LEASE }, "r", []),
            expected ?? "stale",
            status
          )
        }
      }),
    120_000
  )

  it.effect(
    "every function on a chunk of every status: exactly the moves of a chunk",
    () =>
      Effect.gen(function* () {
        const store = yield* ConversionStore
        const sql = yield* WriteSql
        for (const [status, jobStatus] of STAGED) {
          for (const name of NAMES) {
            const ids = yield* stage(jobStatus, status, 2)
            yield* CALLS[name](store, ids, sql)
            const [after] = yield* statuses
            assert.strictEqual(after?.chunk, CHUNK_MOVES[status][name] ?? status, `${name} on ${status}`)
          }
        }
      }),
    120_000
  )

  it.effect("C2: with another lease, no function moves anything", () =>
    Effect.gen(function* () {
      const store = yield* ConversionStore
      const other = randomUUID()
      const before = { job: "processing", chunk: "processing" }
      const { chunkId } = yield* stage("processing", "processing", 1)
      const held = { id: chunkId, lease: other }
      assert.isFalse(yield* store.heartbeatChunk(held, 1, WINDOW))
      assert.strictEqual(yield* store.completeChunk(held, "r", []), "stale")
      assert.strictEqual(yield* store.failChunk(held, failure(LAST)), "stale")
      assert.isFalse(yield* store.handBackChunk(held, []))
      assert.deepStrictEqual(yield* statuses, [before])
      const { jobId } = yield* stage("assembling", "completed", 1)
      const assembly = { jobId, lease: other }
      assert.isFalse(yield* store.heartbeatAssembly(assembly, WINDOW))
      assert.isFalse(yield* store.handBackAssembly(assembly))
      assert.strictEqual(yield* store.finishJob(assembly, "r"), "stale")
      assert.isFalse(yield* store.failJob(jobId, "x", other))
      assert.deepStrictEqual(yield* statuses, [{ job: "assembling", chunk: "completed" }])
      assert.isTrue(yield* store.failJob(jobId, "x", LEASE))
    })
  )
})
