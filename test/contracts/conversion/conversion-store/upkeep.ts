import { assert, layer as suiteLayer } from "@effect/vitest"
import { Duration, Effect, type Layer } from "effect"

import type { JobStatus } from "../../../../src/domain/conversion/job.ts"
import { FILE_ROOM } from "../../../../src/domain/conversion/stored-files.ts"
import type { CustomerId } from "../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../support/any-id.ts"
import {
  addFile,
  ask,
  begin,
  clean,
  customer,
  DocumentsWorld,
  funds,
  job,
  pdf,
  STALE,
  WINDOW
} from "../documents-world.ts"

const { bytes: MOST_BYTES, files: MOST } = FILE_ROOM.free

/** Adds a picture of so many bytes; undefined where there is no room for it. */
const add = (customerId: CustomerId, sizeBytes = 1) =>
  Effect.flatMap(ConversionStore, (store) => {
    const id = anyId()
    return store.addFile({
      id,
      customerId,
      name: "a",
      kind: "png",
      sizeBytes,
      pages: 1,
      objectKey: `files/${id}`
    })
  }).pipe(
    Effect.map(({ id }): string | undefined => id),
    Effect.catchTag("NoRoomForFile", () => Effect.succeed(undefined))
  )

/** What every conversion store mends after a crash, and how many files it takes. */
export const suite = (name: string, stores: Layer.Layer<ConversionStore | DocumentsWorld>) => {
  suiteLayer(stores)(`what a crash between two transactions could leave, and the sweep: ${name}`, (it) => {
    it.effect("a file that shows converting is as its job ended; one whose job lives is left alone", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(100)
        const converting = Effect.fnUntraced(function* (status?: JobStatus) {
          const id = yield* pdf(owner, 2)
          const jobId = yield* job(owner, id)
          if (status !== undefined) yield* world.setJob(jobId, { status, error: "why" })
          return id
        })
        const cancelled = yield* converting("cancelled")
        const failed = yield* converting("failed")
        const done = yield* converting("completed")
        const live = yield* converting()
        const assembling = yield* converting("assembling")
        const queued = yield* pdf(owner, 2)
        yield* ask(owner, queued)
        const lost = yield* pdf(owner, 2)
        yield* world.setFile(lost, { status: "chunked_processing", jobId: anyId() })
        const all = [cancelled, failed, done, lost, live, assembling, queued]
        const statuses = Effect.forEach(all, (id) =>
          Effect.map(store.file(id, owner), (file) => [file?.status, file?.error])
        )
        const untouched = ["chunked_processing", null] as const

        // The worker that ended them may be about to report it.
        assert.strictEqual(yield* store.sweep(WINDOW, STALE), 2, "the two holds")
        assert.deepStrictEqual(
          yield* statuses,
          Array.from({ length: 7 }, () => [...untouched])
        )
        yield* Effect.forEach(all, (id) => world.setFile(id, { unchangedFor: Duration.hours(1) }))
        assert.strictEqual(yield* store.sweep(WINDOW, STALE), 4)
        assert.deepStrictEqual(yield* statuses, [
          ["uploaded", "why"],
          ["failed", "why"],
          ["failed", "why"],
          ["uploaded", null],
          [...untouched],
          [...untouched],
          [...untouched]
        ])
        assert.strictEqual(yield* store.sweep(WINDOW, STALE), 0)
      })
    )

    it.effect.each(["failed", "cancelled"] as const)(
      "the hold of a job that has %s is given back",
      (status) =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(10)
          const jobId = yield* job(owner, yield* pdf(owner, 4))
          yield* world.setJob(jobId, { status })
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 4, charged: 0 })
          assert.strictEqual(yield* store.sweep(WINDOW, STALE), 1)
          assert.deepStrictEqual(yield* funds(owner), { credits: 10, held: 0, charged: 0 })
          const hold = yield* world.hold(jobId)
          assert.deepStrictEqual([hold?.state, hold?.outcome], ["released", status])
        })
    )

    it.effect.each(["pending", "waiting_batch", "processing", "paused_budget", "assembling"] as const)(
      "a job that is %s keeps its funds, with a worker or without",
      (status) =>
        Effect.gen(function* () {
          const { owner, store, world } = yield* begin(4)
          const jobId = yield* job(owner, yield* pdf(owner, 4))
          yield* world.setJob(jobId, { status })
          yield* world.lapsesIn(jobId, 1)
          assert.strictEqual(yield* store.sweep(WINDOW, STALE), 0)
          const hold = yield* world.hold(jobId)
          assert.deepStrictEqual([hold?.state, hold !== undefined && hold.minutes > 60], ["held", true])
          // One that was stretched is not cut short.
          yield* world.lapsesIn(jobId, 24 * 60)
          yield* store.sweep(WINDOW, Duration.zero)
          assert.isAbove((yield* world.hold(jobId))?.minutes ?? 0, 12 * 60)
        })
    )

    it.effect("DOC-31: what waits without a job keeps its funds: a request, a document, a flyer", () =>
      Effect.gen(function* () {
        const { owner, store, world } = yield* begin(10)
        const [request, document, flyer] = [anyId(), anyId(), anyId()]
        const made = { id: anyId(), fileId: yield* pdf(owner, 1), customerId: owner, window: WINDOW }
        yield* store.requestFlyer(made)
        yield* store.claimFlyer(anyId(), STALE)
        yield* world.lapsesIn(made.id, 1)
        // A document that shows no conversion any more keeps nothing.
        const gone = yield* addFile(owner, 1, "docx")
        const lapsing = anyId()
        yield* ask(owner, gone, lapsing)
        yield* world.setFile(gone, { status: "uploaded" })
        yield* world.lapsesIn(lapsing, 1)
        yield* ask(owner, yield* pdf(owner, 2), request)
        yield* ask(owner, yield* addFile(owner, 2, "docx"), document)
        const flying = { id: flyer, fileId: yield* pdf(owner, 2), customerId: owner, window: WINDOW }
        yield* store.requestFlyer(flying)
        for (const id of [request, document, flyer]) yield* world.lapsesIn(id, 1)
        assert.strictEqual(yield* store.sweep(WINDOW, STALE), 0)
        for (const id of [request, document, flyer, made.id])
          assert.isAbove((yield* world.hold(id))?.minutes ?? 0, 60)
        assert.isBelow((yield* world.hold(lapsing))?.minutes ?? 0, 60)
        // What was stopped is not kept.
        yield* store.cancelFlyer(flyer, owner)
        yield* world.lapsesIn(document, -1)
        yield* store.sweep(WINDOW, STALE)
        assert.strictEqual((yield* world.hold(flyer))?.state, "released")
        assert.isAbove((yield* world.hold(document))?.minutes ?? 0, 60, "lapsed, and set aside anew")
      })
    )
  })

  suiteLayer(stores)(`objects of files: ${name}`, (it) => {
    it.effect("belong to a file from its row on, until all of them were removed", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const [kept, deleted, purged] = [yield* pdf(owner, 1), yield* pdf(owner, 1), yield* pdf(owner, 1)]
        const none = anyId()
        for (const id of [deleted, purged]) yield* store.deleteFile(id, owner)
        yield* store.filePurged(purged)
        assert.sameMembers([...(yield* store.withoutObjects([kept, deleted, purged, none]))], [purged, none])
        assert.deepStrictEqual(yield* store.withoutObjects([]), [])
      })
    )
  })

  suiteLayer(stores)(`the status of a job: ${name}`, (it) => {
    it.effect("is known after its file shows another one, too", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin(10)
        const file = yield* pdf(owner, 1)
        const jobId = yield* job(owner, file)
        assert.strictEqual(yield* store.jobStatus(jobId), "pending")
        yield* store.cancel(jobId)
        yield* job(owner, file)
        assert.strictEqual(yield* store.jobStatus(jobId), "cancelled")
        assert.isUndefined(yield* store.jobStatus(anyId()))
      })
    )
  })

  suiteLayer(stores)(`room for files: ${name}`, (it) => {
    it.effect("uploads at once never come to more than a plan's files; a deleted one makes room", () =>
      Effect.gen(function* () {
        const { owner, store } = yield* begin("free")
        yield* Effect.forEach(Array.from({ length: MOST - 2 }), () => add(owner))
        const answers = yield* Effect.forEach(Array.from({ length: 10 }), () => add(owner), {
          concurrency: 10
        })
        const added = answers.filter((id) => id !== undefined)
        assert.lengthOf(added, 2)
        assert.isFalse(yield* store.hasRoom(owner))
        yield* store.deleteFile(anyId(added[0]), owner)
        assert.isTrue(yield* store.hasRoom(owner))
        assert.isDefined(yield* add(owner))
        assert.isUndefined(yield* add(owner))
        // Another owner, and a paid plan, have room of their own.
        assert.isDefined(yield* add(yield* customer("free")))
        yield* DocumentsWorld.use((world) => world.setPlan(owner, "paid"))
        assert.isDefined(yield* add(owner))
      })
    )

    it.effect("nor to more than its bytes", () =>
      Effect.gen(function* () {
        yield* clean
        const owner = yield* customer("free")
        assert.isDefined(yield* add(owner, MOST_BYTES - 10))
        assert.isUndefined(yield* add(owner, 11))
        assert.isTrue(yield* (yield* ConversionStore).hasRoom(owner))
        assert.isDefined(yield* add(owner, 10))
        assert.isFalse(yield* (yield* ConversionStore).hasRoom(owner))
      })
    )
  })
}
