import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"

import { FileWatch } from "../../../src/application/conversion/file-watch.ts"
import { WorkBell } from "../../../src/application/work-bell.ts"
import type { StoredFile } from "../../../src/domain/conversion/file.ts"
import type { JobStatus } from "../../../src/domain/conversion/job.ts"
import type { ProgressMoment } from "../../../src/domain/conversion/progress.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { storedFile } from "../../domain/conversion/stored-file.ts"
import { anyId } from "../../support/any-id.ts"
import { storeDown } from "../../support/worlds/store-down.ts"

/** A database of files that can be changed from outside, and what was asked of it. */
const worldOf = () => {
  const ended = new Map<string, JobStatus>()
  const files = new Map<string, StoredFile>()
  const asked: Array<ReadonlyArray<string>> = []
  const readied: Array<string> = []
  let chunks: ReadonlyArray<{ firstPage: number; lastPage: number; key: string }> = []
  let fails = false
  const layer = FileWatch.layer.pipe(
    Layer.provide(
      Layer.mock(ConversionStore, {
        jobStatus: (jobId) => (fails ? Effect.fail(storeDown("gone")) : Effect.succeed(ended.get(jobId))),
        chunkResults: (jobId) =>
          Effect.suspend(() => {
            readied.push(jobId)
            return fails ? Effect.fail(storeDown("gone")) : Effect.succeed(chunks)
          }),
        filesById: (ids) =>
          Effect.suspend(() => {
            asked.push(ids)
            return fails
              ? Effect.fail(storeDown("gone"))
              : Effect.succeed(ids.flatMap((id) => files.get(id) ?? []))
          })
      })
    )
  )
  return {
    files,
    ended,
    asked,
    /** The jobs whose chunks were asked for. */
    readied,
    store: (pages: ReadonlyArray<readonly [number, number]>) => {
      chunks = pages.map(([firstPage, lastPage]) => ({ firstPage, lastPage, key: "k" }))
    },
    fail: (now: boolean) => {
      fails = now
    },
    layer,
    set: (parts: Partial<StoredFile>) => {
      const file = storedFile(parts)
      files.set(file.id, file)
      return file
    }
  }
}

/** Watches in the background, its moments as short words. */
const watch = Effect.fnUntraced(function* (file: StoredFile) {
  const watching = yield* FileWatch
  const seen: Array<string> = []
  const fiber = yield* watching.watch(file).pipe(
    Stream.runForEach(({ data, event }: ProgressMoment) =>
      Effect.sync(() => {
        seen.push(`${event} ${data.jobId} ${data.status} ${data.done}`)
      })
    ),
    Effect.forkChild
  )
  // It is in the list of watchers once it has had its first moment.
  yield* Effect.yieldNow
  return { seen, fiber }
})

const look = TestClock.adjust("500 millis")
const converting = { status: "chunked_processing", jobStatus: "processing", jobId: anyId("j1") } as const

describe("watching a conversion", () => {
  it.effect("the first event is the state now; each change comes once; a terminal one is the last", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const { fiber, seen } = yield* watch(world.set({ ...converting, progress: { done: 1, total: 5 } }))
      yield* look
      yield* look
      world.set({ ...converting, progress: { done: 2, total: 5 } })
      yield* look
      world.set({
        status: "completed",
        jobStatus: "completed",
        jobId: anyId("j1"),
        progress: { done: 5, total: 5 }
      })
      yield* look
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, [
        "progress j1 processing 1",
        "progress j1 processing 2",
        "completed j1 completed 5"
      ])
      const { length } = world.asked
      yield* look
      assert.strictEqual(world.asked.length, length, "a file that nobody watches is not read")
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("pages are named as they are ready; which, is asked once a chunk, however many watch", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const file = world.set({ ...converting, progress: { done: 3, total: 60 } })
      const seen: Array<string> = []
      const watching = yield* FileWatch
      const follow = (one: StoredFile) =>
        watching.watch(one).pipe(
          Stream.runForEach(({ data }) =>
            Effect.sync(() => {
              seen.push(data.readyPages.map(({ first, last }) => `${first}-${last}`).join(" "))
            })
          ),
          Effect.forkChild
        )
      const first = yield* follow(file)
      yield* look
      assert.deepStrictEqual([seen, world.readied], [[""], []], "nothing is stored yet")
      world.store([[20, 39]])
      world.set({ ...converting, chunksDone: 1, progress: { done: 20, total: 60 } })
      yield* look
      yield* look
      world.set({ ...converting, chunksDone: 1, progress: { done: 25, total: 60 } })
      yield* look
      assert.deepStrictEqual(seen, ["", "21-40", "21-40"])
      assert.lengthOf(world.readied, 1)
      // Another watcher has the pages at once.
      const second = yield* follow(world.files.get(file.id)!)
      yield* Effect.yieldNow
      assert.deepStrictEqual([seen.at(-1), world.readied.length], ["21-40", 1])
      world.store([
        [0, 19],
        [20, 39]
      ])
      world.set({ ...converting, chunksDone: 2, progress: { done: 40, total: 60 } })
      yield* look
      assert.deepStrictEqual([seen.slice(-2), world.readied.length], [["1-40", "1-40"], 2])
      // Away: the next look asks again.
      world.store([[0, 59]])
      world.set({ ...converting, chunksDone: 3, progress: { done: 60, total: 60 } })
      world.fail(true)
      yield* look
      world.fail(false)
      yield* look
      assert.strictEqual(seen.at(-1), "1-60")
      world.set({ ...converting, status: "completed", jobStatus: "completed", chunksDone: 3 })
      yield* look
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.strictEqual(seen.at(-1), "", "the result takes their place")
      assert.deepStrictEqual(new Set(world.readied), new Set(["j1"]))
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("what this process moves on is seen at once, and many such moves in a few queries", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const bell = yield* WorkBell
      const { seen } = yield* watch(world.set({ ...converting, progress: { done: 0, total: 100 } }))
      for (let done = 1; done <= 100; done++) {
        world.set({ ...converting, progress: { done, total: 100 } })
        yield* bell.ring("conversions")
        yield* TestClock.adjust("1 millis")
      }
      yield* TestClock.adjust("50 millis")
      assert.deepStrictEqual(seen, [
        "progress j1 processing 0",
        "progress j1 processing 1",
        "progress j1 processing 50",
        "progress j1 processing 100"
      ])
      assert.lengthOf(world.asked, 3)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect.each([
    ["cancelled", {}],
    ["failed", {}],
    ["completed", { resultKey: "jobs/j1/result" }]
  ] as const)(
    "one that was %s is said to be, even where the file is converted anew at once",
    ([status, parts]) => {
      const world = worldOf()
      return Effect.gen(function* () {
        const { fiber, seen } = yield* watch(world.set({ ...converting, progress: { done: 1, total: 5 } }))
        world.ended.set("j1", status)
        world.set({ ...converting, ...parts, jobStatus: "pending", jobId: anyId("j2") })
        yield* look
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(seen, ["progress j1 processing 1", `${status} j1 ${status} 1`])
      }).pipe(Effect.provide(world.layer))
    }
  )

  it.effect("a document without a job has a new result, or failed", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const inline = { status: "processing", jobStatus: null, jobId: anyId("j1") } as const
      const first = yield* watch(world.set(inline))
      world.set({ ...inline, jobId: anyId("j2"), resultKey: "files/f/result" })
      yield* look
      yield* Fiber.join(first.fiber)
      assert.strictEqual(first.seen.at(-1)?.split(" ")[0], "completed")
      const second = yield* watch(world.set({ ...inline, jobId: anyId("j2"), resultKey: "files/f/result" }))
      world.set({ ...inline, jobId: anyId("j3"), resultKey: "files/f/result" })
      yield* look
      yield* Fiber.join(second.fiber)
      assert.strictEqual(second.seen.at(-1)?.split(" ")[0], "failed")
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("a conversion that has ended already is reported at once, without a query", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const { fiber, seen } = yield* watch(
        world.set({ status: "failed", jobStatus: "failed", jobId: anyId("j1") })
      )
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, ["failed j1 failed 0"])
      assert.deepStrictEqual(world.asked, [])
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("what ended between the reading of the file and the watching is not lost", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const before = storedFile(converting)
      world.set({ status: "uploaded", jobStatus: "cancelled", jobId: anyId("j1") })
      const { fiber, seen } = yield* watch(before)
      yield* look
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, ["progress j1 processing 0", "cancelled j1 cancelled 0"])
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("a watcher that is slow misses steps, never the end", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const watching = yield* FileWatch
      const gate = yield* Latch.make(false)
      const seen: Array<string> = []
      const file = world.set({ ...converting, progress: { done: 0, total: 100 } })
      const fiber = yield* watching.watch(file).pipe(
        Stream.runForEach(({ data, event }) =>
          Effect.andThen(
            Effect.sync(() => seen.push(`${event} ${data.done}`)),
            gate.await
          )
        ),
        Effect.forkChild
      )
      yield* Effect.yieldNow
      for (let done = 1; done <= 99; done++) {
        world.set({ ...converting, progress: { done, total: 100 } })
        yield* look
      }
      world.set({
        status: "completed",
        jobStatus: "completed",
        jobId: anyId("j1"),
        progress: { done: 100, total: 100 }
      })
      yield* look
      yield* look
      yield* gate.open
      yield* Fiber.join(fiber)
      assert.strictEqual(seen[0], "progress 0")
      assert.strictEqual(seen.at(-1), "completed 100")
      assert.isBelow(seen.length, 30, "what waits for a slow watcher is bounded")
    }).pipe(Effect.provide(world.layer))
  })

  it.effect(
    "a file that is deleted ends the stream: its conversion is cancelled, if one was under way",
    () => {
      const world = worldOf()
      return Effect.gen(function* () {
        const idle = yield* watch(
          world.set({ status: "uploaded", jobStatus: null, jobId: null, id: anyId("idle") })
        )
        const { fiber, seen } = yield* watch(world.set(converting))
        world.files.clear()
        yield* look
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(seen, ["progress j1 processing 0", "cancelled j1 cancelled 0"])
        yield* Fiber.join(idle.fiber)
        assert.lengthOf(idle.seen, 1)
        // One that was asked for while it was watched.
        const later = yield* watch(world.set({ status: "uploaded", jobStatus: null, jobId: null }))
        world.set(converting)
        yield* look
        world.files.clear()
        yield* look
        yield* Fiber.join(later.fiber)
        assert.deepStrictEqual(later.seen.slice(1), ["progress j1 processing 0", "cancelled j1 cancelled 0"])
      }).pipe(Effect.provide(world.layer))
    }
  )

  it.effect("however many watch, there is one query a look; each has its own end", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const a = world.set({ ...converting, id: anyId("a") })
      const b = world.set({ ...converting, id: anyId("b") })
      const watchers = yield* Effect.forEach([a, a, a, b, b], watch)
      yield* look
      assert.deepStrictEqual(world.asked, [["a", "b"]])
      yield* Fiber.interrupt(watchers[0]!.fiber)
      world.set({ id: anyId("b"), status: "completed", jobStatus: "completed", jobId: anyId("j1") })
      yield* look
      yield* Effect.forEach(watchers.slice(3), ({ fiber }) => Fiber.join(fiber))
      yield* look
      assert.deepStrictEqual(world.asked, [["a", "b"], ["a", "b"], ["a"]])
      world.set({ id: anyId("a"), status: "uploaded", jobStatus: "cancelled", jobId: anyId("j1") })
      yield* look
      yield* Effect.forEach(watchers.slice(1), ({ fiber }) => Fiber.join(fiber))
      assert.deepStrictEqual(
        watchers.map(({ seen }) => seen.at(-1)?.split(" ")[0]),
        ["progress", "cancelled", "cancelled", "completed", "completed"]
      )
    }).pipe(Effect.provide(world.layer))
  })

  it.effect(
    "cancelled, then converted again: the old watcher gets the end, a new one sees the new conversion",
    () => {
      const world = worldOf()
      return Effect.gen(function* () {
        const old = yield* watch(world.set(converting))
        const cancelled = world.set({ status: "uploaded", jobStatus: "cancelled", jobId: anyId("j1") })
        yield* look
        yield* Fiber.join(old.fiber)
        assert.deepStrictEqual(old.seen, ["progress j1 processing 0", "cancelled j1 cancelled 0"])
        // One that comes late, with the state that it has read before.
        const again = world.set({ ...converting, jobId: anyId("j2"), jobStatus: null })
        const late = yield* watch(cancelled)
        yield* Fiber.join(late.fiber)
        assert.deepStrictEqual(late.seen, ["cancelled j1 cancelled 0"])
        const next = yield* watch(again)
        world.set({ ...converting, jobId: anyId("j2") })
        yield* look
        world.set({ status: "completed", jobStatus: "completed", jobId: anyId("j2") })
        yield* look
        yield* Fiber.join(next.fiber)
        assert.deepStrictEqual(next.seen, [
          "progress j2 chunked_processing 0",
          "progress j2 processing 0",
          "completed j2 completed 0"
        ])
      }).pipe(Effect.provide(world.layer))
    }
  )

  it.effect("a database that is away for a while delays the moments", () => {
    const world = worldOf()
    return Effect.gen(function* () {
      const { fiber, seen } = yield* watch(world.set(converting))
      world.fail(true)
      world.set({ status: "completed", jobStatus: "completed", jobId: anyId("j1") })
      yield* look
      yield* look
      assert.strictEqual(seen.length, 1)
      world.fail(false)
      yield* look
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen.at(-1), "completed j1 completed 0")
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("a database that is away is named once an outage, not at every look", () => {
    const world = worldOf()
    const lines: Array<unknown> = []
    const capture = Logger.make(({ message }) => void lines.push(message))
    return Effect.gen(function* () {
      yield* watch(world.set(converting))
      for (const outages of [1, 2]) {
        world.fail(true)
        for (let looks = 0; looks < 5; looks++) yield* look
        assert.lengthOf(lines, outages)
        world.fail(false)
        yield* look
      }
    }).pipe(Effect.provide(world.layer), Effect.provide(Logger.layer([capture])))
  })
})
