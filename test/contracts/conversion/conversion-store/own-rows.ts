import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import { FileStatus } from "../../../../src/domain/conversion/file.ts"
import { FILE_ROOM } from "../../../../src/domain/conversion/stored-files.ts"
import type { JobId } from "../../../../src/domain/ids.ts"
import type { ClaimedChunk, ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../../../src/ports/store-unavailable.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  begin,
  completeAll,
  cost,
  customer,
  type DocumentsWorld,
  fileOf,
  funds,
  job,
  pdf,
  STALE,
  WINDOW
} from "../documents-world.ts"

const FAILURE = { error: "x", costs: [], retryIn: Duration.zero, maxAttempts: 1 }

/** What may come upon a job and the chunk that is being worked on, and its answer where the job has just been cancelled. */
const LATE: Readonly<
  Record<
    string,
    readonly [
      answer: unknown,
      call: (
        store: ConversionStore["Service"],
        at: { readonly jobId: JobId; readonly chunk: ClaimedChunk }
      ) => Effect.Effect<unknown, StoreUnavailable>
    ]
  >
> = {
  claimChunk: [undefined, (store) => store.claimChunk("w", anyId())],
  heartbeatChunk: [false, (store, { chunk }) => store.heartbeatChunk(chunk, 1, WINDOW)],
  completeChunk: ["stale", (store, { chunk }) => store.completeChunk(chunk, "r", [])],
  failChunk: ["stale", (store, { chunk }) => store.failChunk(chunk, FAILURE)],
  handBackChunk: [false, (store, { chunk }) => store.handBackChunk(chunk, [])],
  recoverOrphan: [0, (store) => store.recoverOrphan(Duration.zero, 1)],
  failJob: [false, (store, { jobId }) => store.failJob(jobId, "x")],
  cancel: ["cancelled", (store, { jobId }) => store.cancel(jobId)],
  applyBudget: [0, (store) => store.applyBudget(0)]
}

/** How a job ends. */
const ENDS: Readonly<
  Record<
    "cancelled" | "failed" | "completed",
    (store: ConversionStore["Service"], jobId: JobId) => Effect.Effect<unknown, StoreUnavailable>
  >
> = {
  cancelled: (store, jobId) => store.cancel(jobId),
  failed: (store, jobId) => store.failJob(jobId, "x"),
  completed: (store) =>
    Effect.flatMap(store.claimAssembly(anyId(), STALE), (assembly) => store.finishJob(assembly!, "r"))
}

/** Which rows a call of a conversion store is for, and what it leaves alone. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`a conversion's own rows: ${name}`, (it) => {
    it.effect.each(Object.keys(LATE))("X1: a job that is cancelled meanwhile stays cancelled: %s", (late) =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 4), { highFidelity: true })
        const chunk = (yield* store.claimChunk("w", anyId()))!
        const [answer, call] = LATE[late]!
        assert.strictEqual(yield* world.whileOpen(store.cancel(jobId), call(store, { jobId, chunk })), answer)
        assert.strictEqual((yield* world.job(jobId)).status, "cancelled")
        assert.deepStrictEqual(
          (yield* world.chunks(jobId)).map(({ status }) => status),
          ["cancelled", "cancelled"]
        )
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
    )

    it.effect(
      "X1: a job whose last chunk is completed meanwhile is assembled, though its owner cancels it",
      () =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(10)
          const jobId = yield* job(owner, yield* pdf(owner, 2))
          const chunk = (yield* store.claimChunk("w", anyId()))!
          const answer = yield* world.whileOpen(store.completeChunk(chunk, "r", []), store.cancel(jobId))
          assert.strictEqual(answer, "finishing")
          assert.strictEqual((yield* world.job(jobId)).status, "assembling")
        })
    )

    it.effect("X1: what is assembled twice at once is charged once, and deleted only once it has ended", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const fileId = yield* pdf(owner, 2)
        yield* job(owner, fileId)
        yield* completeAll
        const assembly = (yield* store.claimAssembly(anyId(), STALE))!
        const finish = store.finishJob(assembly, "r")
        assert.strictEqual(yield* world.whileOpen(finish, finish), "completed")
        assert.isUndefined(yield* store.claimAssembly(assembly.lease, STALE), "it has ended")
        assert.isFalse(yield* store.handBackAssembly(assembly))
        assert.deepStrictEqual(yield* funds(owner), { credits: 8, held: 0, charged: 2 })
        yield* job(owner, fileId)
        yield* completeAll
        const other = (yield* store.claimAssembly(anyId(), STALE))!
        const deleted = world.whileOpen(store.finishJob(other, "r"), store.deleteFile(fileId, owner))
        assert.strictEqual(yield* deleted, "deleted")
      })
    )

    it.effect("X1: a job that fails while its result is stored has failed, and is not charged", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        yield* completeAll
        const assembly = (yield* store.claimAssembly(anyId(), STALE))!
        const late = store.finishJob(assembly, "r")
        assert.strictEqual(yield* world.whileOpen(store.failJob(jobId, "x"), late), "stale")
        assert.strictEqual((yield* world.job(jobId)).status, "failed")
        assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
      })
    )

    it.effect("C2: a worker that asks with the lease of a chunk that has ended gets the next one", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        yield* job(owner, yield* pdf(owner, 4))
        const first = (yield* store.claimChunk("w", anyId()))!
        yield* store.completeChunk(first, "r", [])
        const second = yield* store.claimChunk("w", first.lease)
        assert.deepStrictEqual([first.chunkIndex, second?.chunkIndex], [0, 1])
      })
    )

    it.effect.each(["cancelled", "failed"] as const)(
      "a job that has %s keeps the chunks that were completed, and has nothing to do with the batch lane",
      (end) =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(10)
          const jobId = yield* job(owner, yield* pdf(owner, 4))
          yield* store.completeChunk((yield* store.claimChunk("w", anyId()))!, "r", [])
          yield* ENDS[end](store, jobId)
          assert.deepStrictEqual(
            (yield* world.chunks(jobId)).map(({ status }) => status),
            ["completed", end]
          )
          assert.isUndefined(yield* world.batchRow(jobId))
        })
    )

    it.effect.each(["cancelled", "failed", "completed"] as const)(
      "C3: a file that does not show its job any more is left as it is when that has %s",
      (end) =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(100)
          for (const shown of FileStatus.literals.filter((status) => status !== "chunked_processing")) {
            const fileId = yield* pdf(owner, 2)
            const jobId = yield* job(owner, fileId)
            if (end === "completed") yield* completeAll
            yield* world.setFile(fileId, { status: shown })
            const before = yield* fileOf(fileId, owner)
            yield* ENDS[end](store, jobId)
            const after = yield* fileOf(fileId, owner)
            assert.deepStrictEqual(
              [after.status, after.phase, after.error, after.resultKey],
              [shown, before.phase, before.error, before.resultKey],
              shown
            )
          }
        })
    )

    it.effect("C3: nor does a chunk's progress show on it", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const fileId = yield* pdf(owner, 4)
        yield* job(owner, fileId)
        const chunk = (yield* store.claimChunk("w", anyId()))!
        yield* world.setFile(fileId, { status: "failed" })
        const { phase, progress } = yield* fileOf(fileId, owner)
        assert.isTrue(yield* store.heartbeatChunk(chunk, 1, WINDOW))
        assert.deepInclude(yield* fileOf(fileId, owner), { phase, progress })
      })
    )

    it.effect.each(["failChunk", "handBackChunk", "recoverOrphan"])(
      "C3: a file shows that its chunk waits again, none of its pages done: %s",
      (end) =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(10)
          const fileId = yield* pdf(owner, 2)
          const jobId = yield* job(owner, fileId)
          const chunk = (yield* store.claimChunk("w", anyId()))!
          assert.strictEqual((yield* fileOf(fileId, owner)).phase, "Converting: 0/1 chunks")
          yield* store.heartbeatChunk(chunk, 1, WINDOW)
          yield* world.setChunk(chunk.id, { silentFor: Duration.hours(1) })
          if (end === "failChunk") yield* store.failChunk(chunk, { ...FAILURE, maxAttempts: 2 })
          else if (end === "recoverOrphan") yield* store.recoverOrphan(STALE, 2)
          else yield* LATE[end]![1](store, { jobId, chunk })
          const { phase, progress } = yield* fileOf(fileId, owner)
          assert.deepStrictEqual([phase, progress.done], ["Queued: 0/1 chunks", 0])
        })
    )

    it.effect("K1: what is booked after a job was completed is in its total", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        yield* completeAll
        yield* ENDS.completed(store, jobId)
        const { totalCostUsd } = yield* world.job(jobId)
        yield* store.bookCosts([cost(jobId, 2)])
        assert.strictEqual((yield* world.job(jobId)).totalCostUsd, (totalCostUsd ?? 0) + 2)
      })
    )

    it.effect("K1: an attempt's entry grows with what it has cost so far, and never shrinks", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const jobId = yield* job(owner, yield* pdf(owner, 2))
        yield* completeAll
        yield* ENDS.completed(store, jobId)
        const before = (yield* world.job(jobId)).totalCostUsd ?? 0
        const entry = cost(jobId, 1)
        const soFar = (calls: number) => ({
          ...entry,
          usage: { inputTokens: 100 * calls, outputTokens: 10 * calls },
          costUsd: calls
        })
        for (const [calls, total] of [
          [1, 1],
          [3, 3],
          [2, 3],
          [3, 3]
        ] as const) {
          yield* store.bookCosts([soFar(calls)])
          assert.strictEqual((yield* world.job(jobId)).totalCostUsd, before + total, `${calls} calls`)
        }
      })
    )

    it.effect(
      "C2: of two workers that are silent the one that has been for longest loses its chunk first",
      () =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(10)
          const jobId = yield* job(owner, yield* pdf(owner, 8))
          const chunks = yield* Effect.forEach([1, 2, 3, 4], () => store.claimChunk("w", anyId()))
          yield* store.completeChunk(chunks[3]!, "r", [])
          for (const [at, hours] of [3, 1, 2, 4].entries())
            yield* world.setChunk(chunks[at]!.id, { silentFor: Duration.hours(hours) })
          yield* world.setChunk(chunks[0]!.id, { silentFor: Duration.hours(3) })
          const statuses = Effect.map(world.chunks(jobId), (rows) => rows.map(({ status }) => status))
          assert.strictEqual(yield* store.recoverOrphan(STALE, 3), 1)
          assert.deepStrictEqual(yield* statuses, ["pending", "processing", "processing", "completed"])
          // One that is completed at the last moment is not taken from its worker.
          const late = world.whileOpen(
            store.completeChunk(chunks[2]!, "r", []),
            store.recoverOrphan(Duration.minutes(90), 3)
          )
          assert.strictEqual(yield* late, 0)
          assert.deepStrictEqual(yield* statuses, ["pending", "processing", "completed", "completed"])
        })
    )

    it.effect("DOC-1: of two uploads at once that have room for one of them, one is taken", () =>
      Effect.gen(function* () {
        const { store, world } = yield* begin(1)
        const owner = yield* customer("free")
        const sizeBytes = FILE_ROOM.free.bytes - 10
        const add = Effect.suspend(() =>
          store.addFile({
            id: anyId(),
            customerId: owner,
            name: "a",
            kind: "png",
            sizeBytes,
            pages: 1,
            objectKey: "k"
          })
        )
        const refused = Effect.match(add, { onFailure: ({ _tag }) => _tag, onSuccess: () => "added" })
        assert.strictEqual(yield* world.whileOpen(add, refused), "NoRoomForFile")
      })
    )

    it.effect(
      "DOC-4: a file of a closed account that is being assembled does not hold up its other files",
      () =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(10)
          const busy = yield* pdf(owner, 2)
          yield* job(owner, busy)
          yield* completeAll
          const other = yield* pdf(owner, 1)
          yield* world.closeAccount(owner)
          let deleted = 0
          for (let n = 0; n < 64 && deleted === 0; n++) deleted = yield* store.deleteFileOfClosedAccount
          assert.strictEqual(deleted, 1)
          assert.deepStrictEqual(yield* store.filesToPurge(10), [{ id: other, jobIds: [] }])
        })
    )
  })
