import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

import { MAX_CHUNK_ATTEMPTS } from "../../../../src/domain/conversion/job.ts"
import { chunkResultKey } from "../../../../src/domain/conversion/stored-files.ts"
import { VisionModelError } from "../../../../src/ports/conversion/vision-model.ts"
import { ObjectStoreError } from "../../../../src/ports/object-store.ts"
import { PdfError } from "../../../../src/reader/model/pdf-document.ts"
import { pageOf } from "../../../domain/conversion/world.ts"
import { anyId } from "../../../support/any-id.ts"
import { callsOf, chunkOf, endOf, linesOf, noAnswer, refused, slow, words, worldOf } from "../chunk-world.ts"

describe("a chunk", () => {
  it.effect(
    "C1 K1: is stored page by page in order, then completed with its cost, under the id of its lease",
    () =>
      Effect.gen(function* () {
        const chunk = chunkOf(6)
        const world = worldOf({ chunk, model: slow(7) })
        yield* endOf(yield* Effect.forkChild(world.run))
        const key = chunkResultKey(anyId("job"), 3, anyId("lease"))
        assert.deepStrictEqual([...world.objects.keys()], [key])
        assert.deepStrictEqual(
          linesOf(world.objects).map(({ html, model, page, tier }) => [page, tier, html, model]),
          [60, 61, 62, 63, 64, 65].map((page) => [page, "hifi-single-pass", words(page), "m"])
        )
        assert.deepStrictEqual(world.storeCalls, ["book", `complete ${key}`])
        assert.deepStrictEqual(callsOf(world.booked), [4, 6])
        assert.deepStrictEqual(world.booked.at(-1), {
          id: "lease",
          jobId: anyId("job"),
          chunkId: anyId("chunk"),
          source: "chunk-scheduler",
          backend: "chunked-vision",
          model: "m",
          usage: { inputTokens: 600, outputTokens: 60 },
          costUsd: 720,
          metadata: { calls: 6, batchServed: 0, attempt: 1 }
        })
        // Four pages at once for 7 s, then two: the beat after 10 s tells of four.
        assert.deepStrictEqual(world.beats, [4])
      })
  )

  it.effect("C1: pages stay in order however long each takes, no more than four at the model", () =>
    Effect.gen(function* () {
      for (const delays of fc.sample(fc.array(fc.nat(20), { minLength: 1, maxLength: 20 }), 25)) {
        const world = worldOf({
          chunk: chunkOf(delays.length),
          model: (index) => slow(delays[index - 60] ?? 0)(index)
        })
        yield* endOf(yield* Effect.forkChild(world.run))
        assert.deepStrictEqual(
          linesOf(world.objects).map(({ page }) => page),
          delays.map((_, index) => 60 + index),
          JSON.stringify(delays)
        )
        assert.isAtMost(world.mostAtModel(), 4)
      }
    })
  )

  it.effect(
    "X1 K1: that was stopped begins no new page, books the pages under way, stores and tells nothing",
    () =>
      Effect.gen(function* () {
        const world = worldOf({
          chunk: chunkOf(20),
          model: slow(4),
          store: { heartbeatChunk: () => Effect.succeed(false) }
        })
        const ended = yield* endOf(yield* Effect.forkChild(world.run))
        // Stopped at 10 s, with pages 8 to 11 of its twenty at the model until 12 s.
        assert.strictEqual(world.begun.length, 12)
        assert.isAtMost(ended, 14)
        assert.deepStrictEqual(world.storeCalls, ["book"])
        assert.deepStrictEqual(callsOf(world.booked), [12])
        assert.strictEqual(world.booked[0]?.id, "lease")
        assert.deepStrictEqual([...world.objects], [])
      })
  )

  it.effect.each([
    ["fail", Effect.fail(noAnswer)],
    ["hang", Effect.never],
    ["hang and cannot be interrupted", Effect.uninterruptible(Effect.never)]
  ] as const)("C2: is given up before its lease is over when heartbeats %s", ([, beat]) =>
    Effect.gen(function* () {
      const world = worldOf({
        chunk: chunkOf(200),
        model: slow(1),
        store: { heartbeatChunk: () => beat }
      })
      const ended = yield* endOf(yield* Effect.forkChild(world.run))
      assert.isAtLeast(ended, 40)
      assert.isBelow(ended, 50)
      assert.deepStrictEqual(world.storeCalls, ["book"])
      assert.deepStrictEqual(callsOf(world.booked), [world.begun.length])
    })
  )

  it.effect("K1: has booked at each heartbeat what it has cost so far, should its worker be killed", () =>
    Effect.gen(function* () {
      for (const books of [Effect.void, Effect.fail(noAnswer), Effect.never]) {
        const told: Array<number> = []
        const world = worldOf({
          chunk: chunkOf(20),
          model: slow(4),
          store: {
            bookCosts: (costs) =>
              Effect.andThen(
                Effect.sync(() => told.push(...callsOf(costs).map(Number))),
                books
              )
          }
        })
        const running = yield* Effect.forkChild(world.run)
        yield* TestClock.adjust("9 seconds")
        assert.deepStrictEqual(told, [])
        yield* TestClock.adjust("2 seconds")
        assert.lengthOf(told, 1)
        yield* endOf(running)
        const [first = 0, second = 0] = told
        assert.isTrue(0 < first && first < second && second < 20, told.join())
        assert.deepStrictEqual(callsOf(world.booked), [20])
        assert.lengthOf(world.storeCalls, 1)
      }
    })
  )

  it.effect("one heartbeat that is answered between others that are not keeps it going", () =>
    Effect.gen(function* () {
      let beats = 0
      const world = worldOf({
        chunk: chunkOf(100),
        model: slow(5),
        store: {
          heartbeatChunk: () =>
            Effect.suspend(() => (++beats % 3 === 0 ? Effect.succeed(true) : Effect.fail(noAnswer)))
        }
      })
      yield* endOf(yield* Effect.forkChild(world.run))
      assert.match(world.storeCalls.at(-1) ?? "", /^complete /)
      assert.isAbove(beats, 6)
    })
  )

  it.effect("a heartbeat that hangs holds up no chunk that is done", () =>
    Effect.gen(function* () {
      const world = worldOf({
        chunk: chunkOf(4),
        model: slow(15),
        store: { heartbeatChunk: () => Effect.uninterruptible(Effect.never) }
      })
      assert.isAtMost(yield* endOf(yield* Effect.forkChild(world.run)), 17)
      assert.match(world.storeCalls.join(), /^complete /)
    })
  )

  it.effect("K1: whose model fails is tried again ever later, the answers that came booked", () =>
    Effect.gen(function* () {
      for (const [attempts, seconds] of [
        [1, 20],
        [2, 100]
      ] as const) {
        const world = worldOf({
          chunk: chunkOf(8, { attempts }),
          model: (index) =>
            index === 61 ? Effect.andThen(Effect.sleep("1 second"), refused("throttled")) : slow(3)(index)
        })
        yield* endOf(yield* Effect.forkChild(world.run))
        assert.deepStrictEqual(world.storeCalls, ["fail"])
        assert.deepStrictEqual(
          world.failures.map(({ maxAttempts, retryIn }) => [Duration.toSeconds(retryIn), maxAttempts]),
          [[seconds, MAX_CHUNK_ATTEMPTS]]
        )
        // Those that were at the model beside it come to their end; no other is begun.
        assert.deepStrictEqual(callsOf(world.booked), [3])
        assert.deepStrictEqual([...world.objects], [])
      }
    })
  )

  it.effect("at its last attempt it falls back to the layout tier where the model does not answer", () =>
    Effect.gen(function* () {
      const world = worldOf({
        chunk: chunkOf(3, { attempts: MAX_CHUNK_ATTEMPTS }),
        model: () => refused("unavailable")
      })
      yield* endOf(yield* Effect.forkChild(world.run))
      assert.deepStrictEqual(
        linesOf(world.objects).map(({ noModel, tier }) => [tier, noModel]),
        [60, 61, 62].map(() => ["layout", "unavailable"])
      )
      assert.deepStrictEqual(world.unanswered, [3])
      assert.deepStrictEqual(world.booked, [])
      assert.match(world.storeCalls.join(), /^complete /)
    })
  )

  it.effect(
    "a page that is not answered in time is the layout tier's at the first attempt, and what it cost is booked",
    () =>
      Effect.gen(function* () {
        const usage = { inputTokens: 5_000, outputTokens: 0 }
        const world = worldOf({
          chunk: chunkOf(2),
          model: (index) =>
            index === 61
              ? Effect.fail(new VisionModelError({ reason: "timeout", message: "300 s", usage }))
              : slow(1)(index)
        })
        yield* endOf(yield* Effect.forkChild(world.run))
        assert.deepStrictEqual(
          linesOf(world.objects).map(({ noModel, tier }) => [tier, noModel]),
          [
            ["hifi-single-pass", undefined],
            ["layout", "unavailable"]
          ]
        )
        assert.deepStrictEqual(world.begun, [60, 61], "no further tier is tried")
        assert.strictEqual(world.booked[0]?.usage.inputTokens, 5_100)
      })
  )

  it.effect("each page that the model refuses says so, at the first attempt; the others do not", () =>
    Effect.gen(function* () {
      const world = worldOf({
        chunk: chunkOf(3),
        model: (index) => (index === 61 ? refused("refused") : slow(1)(index))
      })
      yield* endOf(yield* Effect.forkChild(world.run))
      assert.deepStrictEqual(
        linesOf(world.objects).map(({ noModel, tier }) => [tier, noModel]),
        [
          ["hifi-single-pass", undefined],
          ["layout", "refused"],
          ["hifi-single-pass", undefined]
        ]
      )
      assert.deepStrictEqual(world.unanswered, [1])
    })
  )

  it.effect("for the harness model goes out in one call; where a page cannot be read, page by page", () =>
    Effect.gen(function* () {
      const answer = [60, 61, 62].map((page) => `<section>${words(page)}</section>`).join("")
      const chunk = { ...chunkOf(3), options: { parser: "harness" } } as const
      const world = worldOf({ chunk, model: () => Effect.succeed(answer) })
      yield* endOf(yield* Effect.forkChild(world.run))
      assert.deepStrictEqual(
        linesOf(world.objects).map(({ html, page, tier }) => [page, tier, html]),
        [60, 61, 62].map((page) => [page, "harness", words(page)])
      )
      assert.deepStrictEqual(
        world.booked.map(({ metadata }) => metadata),
        [{ calls: 1, batchServed: 0, attempt: 1 }]
      )
      const broken = new PdfError({ reason: "broken", message: "broken" })
      const torn = worldOf({
        chunk,
        model: () => Effect.succeed(answer),
        open: () =>
          Effect.succeed({
            page: (index) =>
              index === 61 ? Effect.fail(broken) : Effect.succeed(pageOf(index, words(index)))
          })
      })
      yield* endOf(yield* Effect.forkChild(torn.run))
      assert.deepStrictEqual(
        linesOf(torn.objects).map(({ tier }) => tier),
        ["layout", "unreadable", "layout"]
      )
    })
  )

  it.effect("a page that cannot be read says so in its place; the rest is converted", () =>
    Effect.gen(function* () {
      const broken = new PdfError({ reason: "broken", message: "broken" })
      const world = worldOf({
        chunk: chunkOf(3),
        open: () =>
          Effect.succeed({
            page: (index) =>
              index === 61 ? Effect.fail(broken) : Effect.succeed(pageOf(index, words(index)))
          })
      })
      yield* endOf(yield* Effect.forkChild(world.run))
      const lines = linesOf(world.objects)
      assert.deepStrictEqual(
        lines.map(({ page, tier }) => [page, tier]),
        [
          [60, "hifi-single-pass"],
          [61, "unreadable"],
          [62, "hifi-single-pass"]
        ]
      )
      assert.include(lines[1]?.html, "Page 62 could not be read")
    })
  )

  it.effect.each([
    [new ObjectStoreError({ reason: "missing", key: "k" }), 1],
    [new ObjectStoreError({ reason: "unavailable", key: "k" }), MAX_CHUNK_ATTEMPTS],
    [new PdfError({ reason: "broken", message: "broken" }), 1],
    [new PdfError({ reason: "encrypted", message: "encrypted" }), 1],
    [new PdfError({ reason: "timeout", message: "slow" }), MAX_CHUNK_ATTEMPTS],
    [new PdfError({ reason: "crashed", message: "crashed" }), MAX_CHUNK_ATTEMPTS]
  ] as const)("a document that cannot be opened (%s) has %i attempts", ([failure, attempts]) =>
    Effect.gen(function* () {
      const world = worldOf({ chunk: chunkOf(3), open: () => Effect.fail(failure) })
      yield* endOf(yield* Effect.forkChild(world.run))
      assert.deepStrictEqual(world.storeCalls, ["fail"])
      assert.deepStrictEqual([world.failures[0]?.maxAttempts, world.begun], [attempts, []])
    })
  )

  it.effect("45 K1: that is interrupted is handed back with what it has cost so far", () =>
    Effect.gen(function* () {
      const world = worldOf({ chunk: chunkOf(20), model: slow(4) })
      const fiber = yield* Effect.forkChild(world.run)
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 8 })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(world.storeCalls, ["hand back"])
      assert.deepStrictEqual(callsOf(world.booked), [8])
      assert.deepStrictEqual([...world.objects], [])
    })
  )

  it.effect("C2: that was stale in the end leaves no object", () =>
    Effect.gen(function* () {
      const world = worldOf({
        chunk: chunkOf(2),
        store: { completeChunk: () => Effect.succeed("stale") }
      })
      yield* endOf(yield* Effect.forkChild(world.run))
      assert.deepStrictEqual([...world.objects], [])
    })
  )

  it.effect(
    "K1: the completion write is retried while the database does not answer, each time with the same values",
    () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = []
        const flaky = <A>(args: unknown, answer: A) =>
          Effect.suspend(() => {
            seen.push(args)
            return seen.length < 3 ? Effect.fail(noAnswer) : Effect.succeed(answer)
          })
        const done = worldOf({
          chunk: chunkOf(2),
          store: { completeChunk: (...args) => flaky(args, "completed" as const) }
        })
        yield* endOf(yield* Effect.forkChild(done.run))
        assert.strictEqual(seen.length, 3)
        assert.deepStrictEqual(seen[0], seen[2])
        assert.strictEqual(done.objects.size, 1)
      })
  )

  it.effect("a database that stays away is an error in the end, and the result stays where it is", () =>
    Effect.gen(function* () {
      const world = worldOf({
        chunk: chunkOf(2),
        store: { completeChunk: () => Effect.fail(noAnswer) }
      })
      const fiber = yield* Effect.forkChild(Effect.result(world.run))
      assert.isTrue(Result.isFailure(yield* endOf(fiber)))
      assert.strictEqual(world.objects.size, 1)
    })
  )
})
