import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

import { processChunk } from "../../../src/domain/conversion/chunk-processing.ts"
import { chunkResultKey } from "../../../src/domain/conversion/chunk-result.ts"
import type { CostEntry } from "../../../src/domain/conversion/cost.ts"
import { MAX_CHUNK_ATTEMPTS } from "../../../src/domain/conversion/job.ts"
import {
  type ClaimedChunk,
  ConversionStore,
  ConversionStoreError
} from "../../../src/ports/conversion-store.ts"
import { ObjectStoreError } from "../../../src/ports/object-store.ts"
import { PageSources } from "../../../src/ports/page-sources.ts"
import { PdfError } from "../../../src/ports/pdf.ts"
import { VisionModel, VisionModelError } from "../../../src/ports/vision-model.ts"
import { mapObjects, pageOf, plainCleaner } from "./world.ts"

const HEARTBEAT = Duration.seconds(10)
const SETTINGS = {
  heartbeat: HEARTBEAT,
  modelId: "m",
  price: { inputUsdPerMtok: 1_000_000, outputUsdPerMtok: 2_000_000 }
}

const chunkOf = (pages: number, parts: Partial<ClaimedChunk> = {}): ClaimedChunk => ({
  id: "chunk",
  lease: "lease",
  jobId: "job",
  chunkIndex: 3,
  firstPage: 60,
  lastPage: 60 + pages - 1,
  attempts: 1,
  fileId: "file",
  objectKey: "files/file/source",
  options: { highFidelity: true },
  totalPages: 200,
  ...parts
})

const words = (index: number) => `these are the words of page ${index}`

const noAnswer = new ConversionStoreError({ cause: "gone" })

type Store = ConversionStore["Service"]
type OnePage = (index: number) => Effect.Effect<string, VisionModelError>

interface Script {
  readonly chunk: ClaimedChunk
  /** What the model does with a page; it answers at once with the page's words. */
  readonly model?: OnePage
  readonly open?: PageSources["Service"]["open"]
  readonly store?: Partial<Store>
}

/** Everything around one chunk, and what happened to it. */
const worldOf = ({ chunk, model, open, store = {} }: Script) => {
  const begun: Array<number> = []
  const told: Array<string> = []
  const booked: Array<CostEntry> = []
  const beats: Array<number> = []
  const failures: Array<Parameters<Store["failChunk"]>[1]> = []
  let atModel = 0
  let mostAtModel = 0
  const { layer: objectsLayer, objects } = mapObjects()
  const tell = <A>(what: string, costs: ReadonlyArray<CostEntry>, answer: A) =>
    Effect.sync(() => {
      told.push(what)
      booked.push(...costs)
      return answer
    })
  const layer = Layer.mergeAll(
    objectsLayer,
    plainCleaner,
    Layer.mock(ConversionStore, {
      heartbeatChunk: (_, pagesDone) =>
        Effect.sync(() => {
          beats.push(pagesDone)
          return true
        }),
      completeChunk: (_, key, costs) => tell(`complete ${key}`, costs, "completed" as const),
      failChunk: (_, failure) => {
        failures.push(failure)
        return tell("fail", failure.costs, "pending" as const)
      },
      handBackChunk: (_, costs) => tell("hand back", costs, true),
      bookCosts: (costs) => tell("book", costs, undefined),
      ...store
    }),
    Layer.mock(PageSources, {
      open: open ?? (() => Effect.succeed({ page: (index) => Effect.succeed(pageOf(index, words(index))) }))
    }),
    Layer.mock(VisionModel, {
      converse: (_, { page }) =>
        Effect.gen(function* () {
          begun.push(page)
          atModel += 1
          mostAtModel = Math.max(mostAtModel, atModel)
          const text = yield* model?.(page) ?? Effect.succeed(words(page))
          return {
            text,
            stopReason: "end_turn",
            usage: { inputTokens: 100, outputTokens: 10 },
            fromBatch: false
          }
        }).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              atModel -= 1
            })
          )
        )
    })
  )
  return {
    begun,
    told,
    booked,
    beats,
    failures,
    objects,
    mostAtModel: () => mostAtModel,
    /** Answers when the chunk had ended, seconds. */
    run: processChunk(chunk, SETTINGS).pipe(
      Effect.andThen(Clock.currentTimeMillis),
      Effect.map((now) => now / 1000),
      Effect.provide(layer)
    )
  }
}

/** The pages of the one result, in its order. */
const linesOf = (
  objects: ReadonlyMap<string, string>
): ReadonlyArray<{ page: number; tier: string; html: string }> =>
  [...objects.values()].flatMap((text) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
  )

const callsOf = (booked: ReadonlyArray<CostEntry>) => booked.map(({ metadata }) => metadata["calls"])

/** Lets virtual time pass second by second until the fiber has ended. */
const endOf = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>, limitSeconds = 600) {
  for (let second = 0; second < limitSeconds && fiber.pollUnsafe() === undefined; second++) {
    yield* TestClock.adjust("1 second")
  }
  assert.isDefined(fiber.pollUnsafe(), "the chunk never ended")
  return yield* Fiber.join(fiber)
})

const slow =
  (seconds: number): OnePage =>
  (index) =>
    Effect.as(Effect.sleep(Duration.seconds(seconds)), words(index))

const refused = (reason: VisionModelError["reason"]) =>
  Effect.fail(new VisionModelError({ reason, message: reason }))

describe("a chunk", () => {
  it.effect(
    "C1 K1: is stored page by page in order, then told with what it cost, under the id of its lease",
    () =>
      Effect.gen(function* () {
        const chunk = chunkOf(6)
        const world = worldOf({ chunk, model: slow(7) })
        yield* endOf(yield* Effect.forkChild(world.run))
        const key = chunkResultKey("job", 3, "lease")
        assert.deepStrictEqual([...world.objects.keys()], [key])
        assert.deepStrictEqual(
          linesOf(world.objects).map(({ html, page, tier }) => [page, tier, html]),
          [60, 61, 62, 63, 64, 65].map((page) => [page, "hifi-single-pass", words(page)])
        )
        assert.deepStrictEqual(world.told, [`complete ${key}`])
        assert.deepStrictEqual(world.booked, [
          {
            id: "lease",
            jobId: "job",
            chunkId: "chunk",
            source: "chunk-scheduler",
            backend: "chunked-vision",
            model: "m",
            usage: { inputTokens: 600, outputTokens: 60 },
            costUsd: 720,
            metadata: { calls: 6, batchServed: 0, attempt: 1 }
          }
        ])
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
        assert.deepStrictEqual(world.told, ["book"])
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
      assert.deepStrictEqual(world.told, ["book"])
      assert.deepStrictEqual(callsOf(world.booked), [world.begun.length])
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
      assert.match(world.told.join(), /^complete /)
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
      assert.match(world.told.join(), /^complete /)
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
        assert.deepStrictEqual(world.told, ["fail"])
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

  it.effect("at its last attempt the layout tier stands in for a model that does not answer", () =>
    Effect.gen(function* () {
      const world = worldOf({
        chunk: chunkOf(3, { attempts: MAX_CHUNK_ATTEMPTS }),
        model: () => refused("unavailable")
      })
      yield* endOf(yield* Effect.forkChild(world.run))
      assert.deepStrictEqual(
        linesOf(world.objects).map(({ tier }) => tier),
        ["layout", "layout", "layout"]
      )
      assert.deepStrictEqual(world.booked, [])
      assert.match(world.told.join(), /^complete /)
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
      assert.deepStrictEqual(world.told, ["fail"])
      assert.deepStrictEqual([world.failures[0]?.maxAttempts, world.begun], [attempts, []])
    })
  )

  it.effect("45 K1: that is interrupted is handed back with what it has cost so far", () =>
    Effect.gen(function* () {
      const world = worldOf({ chunk: chunkOf(20), model: slow(4) })
      const fiber = yield* Effect.forkChild(world.run)
      yield* Effect.repeat(TestClock.adjust("1 second"), { times: 8 })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(world.told, ["hand back"])
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

  it.effect("K1: is told again to a database that does not answer, each time in the same words", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const flaky = <A>(words: unknown, answer: A) =>
        Effect.suspend(() => {
          seen.push(words)
          return seen.length < 3 ? Effect.fail(noAnswer) : Effect.succeed(answer)
        })
      const done = worldOf({
        chunk: chunkOf(2),
        store: { completeChunk: (...told) => flaky(told, "completed" as const) }
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
