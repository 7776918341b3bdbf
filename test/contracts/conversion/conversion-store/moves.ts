import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { type ChunkStatus, type JobMove, JobStatus, moveJob } from "../../../../src/domain/conversion/job.ts"
import type { JobId, ChunkId } from "../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../../../src/ports/store-unavailable.ts"
import { anyId } from "../../../support/any-id.ts"
import { clean, customer, DocumentsWorld, job, pdf, STALE, WINDOW } from "../documents-world.ts"

const LEASE = anyId()

/** Attempts that a chunk under test has had: the last one of `LAST`, not of `MANY`. */
const LAST = 1
const MANY = 3

/** What is called, on the job or its first chunk. */
type Call = (
  store: ConversionStore["Service"],
  ids: { readonly jobId: JobId; readonly chunkId: ChunkId },
  world: DocumentsWorld["Service"]
) => Effect.Effect<unknown, StoreUnavailable>

const failure = (maxAttempts: number) => ({
  error: "x",
  costs: [],
  retryIn: Duration.zero,
  maxAttempts
})

const chunk = (chunkId: ChunkId) => ({ id: chunkId, lease: LEASE })

const CALLS = {
  claimChunk: (store) => store.claimChunk("w", anyId()),
  heartbeatChunk: (store, { chunkId }) => store.heartbeatChunk(chunk(chunkId), 1, WINDOW),
  completeChunk: (store, { chunkId }) => store.completeChunk(chunk(chunkId), "r", []),
  failChunk: (store, { chunkId }) => store.failChunk(chunk(chunkId), failure(MANY)),
  failChunkAtLast: (store, { chunkId }) => store.failChunk(chunk(chunkId), failure(LAST)),
  handBackChunk: (store, { chunkId }) => store.handBackChunk(chunk(chunkId), []),
  recoverOrphan: (store) => store.recoverOrphan(STALE, MANY),
  recoverOrphanAtLast: (store) => store.recoverOrphan(STALE, LAST),
  claimAssembly: (store) => store.claimAssembly(anyId(), STALE),
  heartbeatAssembly: (store, { jobId }) => store.heartbeatAssembly({ jobId, lease: LEASE }, WINDOW),
  handBackAssembly: (store, { jobId }) => store.handBackAssembly({ jobId, lease: LEASE }),
  finishJob: (store, { jobId }) => store.finishJob({ jobId, lease: LEASE }, "result"),
  failJob: (store, { jobId }) => store.failJob(jobId, "x"),
  cancel: (store, { jobId }) => store.cancel(jobId),
  budgetSpent: (store) => store.applyBudget(0),
  budgetThere: (store) => store.applyBudget(undefined),
  createJob: (store, { jobId }) => store.createJob(jobId, { status: "pending", options: {}, chunkPages: 1 }),
  resume: (_, { jobId }, world) => world.resume(jobId),
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
  const world = yield* DocumentsWorld
  const owner = yield* customer(10)
  const jobId = yield* job(owner, yield* pdf(owner, chunks), { highFidelity: true }, 1)
  const rows = yield* world.chunks(jobId)
  for (const [index, { id }] of rows.entries()) {
    const chunkStatus = index === 0 ? first : "waiting_batch"
    yield* world.setChunk(id, {
      status: chunkStatus,
      lease: LEASE,
      silentFor: Duration.hours(1),
      resultKey: "r"
    })
  }
  yield* world.setJob(jobId, { status, lease: LEASE, doneChunks: first === "completed" ? 1 : 0 })
  return { jobId, chunkId: rows[0]!.id }
})

/** The statuses of a job and its first chunk. */
const statusesOf = Effect.fnUntraced(function* (jobId: JobId) {
  const world = yield* DocumentsWorld
  const { status } = yield* world.job(jobId)
  return { job: status, chunk: (yield* world.chunks(jobId))[0]?.status }
})

/** What every conversion store does to a job and a chunk of each status: exactly the moves of the tables. */
export const suite = (adapter: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`moves: ${adapter}`, (it) => {
    it.effect.each(NAMES)("on a job of every status, %s makes exactly the moves of the table", (call) =>
      Effect.gen(function* () {
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        const isClaim = call === "claimChunk"
        const move = JOB_MOVES[call]
        for (const status of JobStatus.literals) {
          const first = isClaim && status !== "waiting_batch" ? "pending" : CHUNK_OF[status]
          const ids = yield* stage(status, first, 1)
          yield* CALLS[call](store, ids, world)
          const expected = move === undefined ? undefined : moveJob(status, move)
          const after = yield* statusesOf(ids.jobId)
          // A chunk that has ended is not worked on, and ends no job anew.
          const applies = !call.endsWith("AtLast") || first === "processing"
          assert.strictEqual(after.job, applies ? (expected ?? status) : status, status)
        }
      })
    )

    it.effect("C2: a chunk that is still worked on completes a job that goes on, and no other", () =>
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
      })
    )

    it.effect.each(NAMES)("on a chunk of every status, %s makes exactly the moves of a chunk", (call) =>
      Effect.gen(function* () {
        const store = yield* ConversionStore
        const world = yield* DocumentsWorld
        for (const [status, jobStatus] of STAGED) {
          const ids = yield* stage(jobStatus, status, 2)
          yield* CALLS[call](store, ids, world)
          const after = yield* statusesOf(ids.jobId)
          assert.strictEqual(after.chunk, CHUNK_MOVES[status][call] ?? status, status)
        }
      })
    )

    it.effect("C2: with another lease, no function moves anything", () =>
      Effect.gen(function* () {
        const store = yield* ConversionStore
        const other = anyId()
        const before = { job: "processing", chunk: "processing" } as const
        const begun = yield* stage("processing", "processing", 1)
        const held = { id: begun.chunkId, lease: other }
        assert.isFalse(yield* store.heartbeatChunk(held, 1, WINDOW))
        assert.strictEqual(yield* store.completeChunk(held, "r", []), "stale")
        assert.strictEqual(yield* store.failChunk(held, failure(LAST)), "stale")
        assert.isFalse(yield* store.handBackChunk(held, []))
        assert.deepStrictEqual(yield* statusesOf(begun.jobId), before)
        const { jobId } = yield* stage("assembling", "completed", 1)
        const assembly = { jobId, lease: other }
        assert.isFalse(yield* store.heartbeatAssembly(assembly, WINDOW))
        assert.isFalse(yield* store.handBackAssembly(assembly))
        assert.strictEqual(yield* store.finishJob(assembly, "r"), "stale")
        assert.isFalse(yield* store.failJob(jobId, "x", other))
        assert.deepStrictEqual(yield* statusesOf(jobId), { job: "assembling", chunk: "completed" })
        assert.isTrue(yield* store.failJob(jobId, "x", LEASE))
      })
    )
  })
