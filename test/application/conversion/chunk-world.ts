import { assert } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"

import { processChunk } from "../../../src/application/conversion/work/chunk-processing.ts"
import type { CostEntry } from "../../../src/domain/cascade/cost.ts"
import { type ClaimedChunk, ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { VisionModel, VisionModelError } from "../../../src/ports/conversion/vision-model.ts"
import { mapObjects, pageOf, plainCleaner } from "../../domain/conversion/world.ts"
import { anyId } from "../../support/any-id.ts"
import { storeDown } from "../../support/worlds/store-down.ts"

const HEARTBEAT = Duration.seconds(10)
const SETTINGS = {
  heartbeat: HEARTBEAT,
  modelId: "m",
  price: { inputUsdPerMtok: 1_000_000, outputUsdPerMtok: 2_000_000 }
}

export const chunkOf = (pages: number, parts: Partial<ClaimedChunk> = {}): ClaimedChunk => ({
  id: anyId("chunk"),
  lease: anyId("lease"),
  jobId: anyId("job"),
  chunkIndex: 3,
  firstPage: 60,
  lastPage: 60 + pages - 1,
  attempts: 1,
  fileId: anyId("file"),
  objectKey: "files/file/source",
  options: { highFidelity: true },
  totalPages: 200,
  ...parts
})

export const words = (index: number) => `these are the words of page ${index}`

export const noAnswer = storeDown("gone")

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
export const worldOf = ({ chunk, model, open, store = {} }: Script) => {
  const begun: Array<number> = []
  const storeCalls: Array<string> = []
  const booked: Array<CostEntry> = []
  const beats: Array<number> = []
  const unanswered: Array<number> = []
  const served: Array<number> = []
  const failures: Array<Parameters<Store["failChunk"]>[1]> = []
  let atModel = 0
  let mostAtModel = 0
  const { layer: objectsLayer, objects } = mapObjects()
  const tell = <A>(what: string, costs: ReadonlyArray<CostEntry>, answer: A) =>
    Effect.sync(() => {
      storeCalls.push(what)
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
      completeChunk: (_, key, costs, pages) => {
        unanswered.push(pages?.unanswered ?? 0)
        served.push(pages?.served ?? 0)
        return tell(`complete ${key}`, costs, "completed" as const)
      },
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
    storeCalls,
    booked,
    beats,
    unanswered,
    served,
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
export const linesOf = (
  objects: ReadonlyMap<string, string>
): ReadonlyArray<{ page: number; tier: string; html: string; noModel?: string; model?: string }> =>
  [...objects.values()].flatMap((text) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
  )

export const callsOf = (booked: ReadonlyArray<CostEntry>) => booked.map(({ metadata }) => metadata["calls"])

/** Lets virtual time pass second by second until the fiber has ended. */
export const endOf = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>, limitSeconds = 600) {
  for (let second = 0; second < limitSeconds && fiber.pollUnsafe() === undefined; second++) {
    yield* TestClock.adjust("1 second")
  }
  assert.isDefined(fiber.pollUnsafe(), "the chunk never ended")
  return yield* Fiber.join(fiber)
})

export const slow =
  (seconds: number): OnePage =>
  (index) =>
    Effect.as(Effect.sleep(Duration.seconds(seconds)), words(index))

export const refused = (reason: VisionModelError["reason"]) =>
  Effect.fail(new VisionModelError({ reason, message: reason }))
