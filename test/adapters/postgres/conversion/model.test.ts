import { randomInt } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { unrestIn, violationsIn } from "./model/checks.ts"
import { STEP_NAMES, type StepName, STEPS } from "./model/steps.ts"
import { makeWorld, type World } from "./model/world.ts"

/** How long each of the two goes on, milliseconds. Longer by hand: `MODEL_MS=300000`; again: `MODEL_SEED=…`. */
const TIME_MS = Number(process.env["MODEL_MS"] ?? 2_000)
const SEED = Number(process.env["MODEL_SEED"] ?? randomInt(1, 2 ** 31 - 1))
const FIBERS = 10
const STEPS_EACH = 40

/** Drawn three times as often as the others: without them, little is there to go wrong. */
const OFTEN: ReadonlyArray<StepName> = [
  "request",
  "createJob",
  "claimChunk",
  "complete",
  "fail",
  "claimAssembly",
  "finish",
  "reflow",
  "goStale",
  "recover"
]

/** What a run begins with: a layout-true result of the smallest file, which takes too long to come about by chance. */
const FIRST: ReadonlyArray<StepName> = ["requestFlyer", "claimFlyer", "finishFlyer"]

/** Answers without which nothing much was tried. */
const REACHED = [
  "finish: completed",
  "cancel: cancelled",
  "complete: stale",
  "fail: failed",
  "recover: 1",
  "reflow: queued"
]

/** What each of the fibers does. */
const PLAN = fc.array(
  fc.array(fc.tuple(fc.constantFrom(...STEP_NAMES, ...OFTEN, ...OFTEN), fc.nat(59), fc.nat(59)), {
    minLength: STEPS_EACH,
    maxLength: STEPS_EACH
  }),
  { minLength: FIBERS, maxLength: FIBERS }
)

/** What a run to the end needs: money, budget and workers. */
const REST: ReadonlyArray<StepName> = [
  "resume",
  "createJob",
  "claimChunk",
  "complete",
  "claimAssembly",
  "finish",
  "claimInline",
  "finishInline",
  "claimFlyer",
  "finishFlyer",
  "goStale",
  "recover"
]

/** Lets everything that is under way come to its end; answers what does not, and what is wrong then. */
const toRest = Effect.fnUntraced(function* (world: World) {
  let left: ReadonlyArray<string> = []
  for (let round = 0; round < 200; round++) {
    yield* STEPS.budget(world, 1)
    for (const name of REST) yield* STEPS[name](world, name === "goStale" ? round : 0, 1)
    yield* STEPS.sweep(world)
    left = yield* unrestIn(world)
    if (left.length === 0) break
  }
  return [...left, ...(yield* violationsIn(world))]
})

type Run = <A>(effect: Effect.Effect<A, unknown>) => Promise<A>

/** One step on the database, after which everything holds. */
const command = (run: Run, name: StepName, a: number, b: number): fc.AsyncCommand<object, World> => ({
  check: () => true,
  run: async (_, world) => {
    await run(STEPS[name](world, a, b))
    assert.deepStrictEqual(await run(violationsIn(world)), [], name)
  },
  toString: () => `${name}(${a}, ${b})`
})

const suite = Layer.provideMerge(layer, layerPostgres)

// On the real clock: what is tried again after a deadlock is to come to its end, so that it is counted.
suiteLayer(suite, { excludeTestServices: true })("conversions on PostgreSQL, in any order", (it) => {
  it.effect(
    "C1 C2 C3 C4 F1 F2 K1 X1 X2: hold after every step, and everything comes to rest with nothing set aside",
    () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Effect.Services<typeof makeWorld>>()
        const run = Effect.runPromiseWith(context)
        const counts = new Map<string, number>()
        const steps = fc.commands(
          [...STEP_NAMES, ...OFTEN, ...OFTEN].map((name) =>
            fc.tuple(fc.nat(59), fc.nat(59)).map(([a, b]) => command(run, name, a, b))
          ),
          { maxCommands: 120, size: "max" }
        )
        const property = fc.asyncProperty(steps, async (commands) => {
          const world = await run(makeWorld)
          for (const b of [0, 1, 4]) await run(STEPS.addFile(world, 1, b))
          for (const name of FIRST) await run(STEPS[name](world, name === "requestFlyer" ? 2 : 0, 0))
          await fc.asyncModelRun(() => ({ model: {}, real: world }), commands)
          assert.deepStrictEqual(await run(toRest(world)), [], "at rest")
          for (const [what, count] of world.counts) counts.set(what, (counts.get(what) ?? 0) + count)
        })
        const until = performance.now() + TIME_MS
        // The whole is to be reached, not only its beginnings: on a slow machine that takes longer.
        const missing = () => REACHED.filter((what) => !counts.has(what))
        let runs = 0
        while (performance.now() < until || (missing().length > 0 && runs < 500)) {
          yield* Effect.promise(() => fc.assert(property, { seed: SEED + runs, numRuns: 1 }))
          runs += 1
        }
        console.log(`${runs} runs: ${JSON.stringify(Object.fromEntries(counts))} (MODEL_SEED=${SEED})`)
        assert.deepStrictEqual(missing(), [], `MODEL_SEED=${SEED}`)
      }),
    TIME_MS * 10 + 120_000
  )

  it.effect(
    "the same with many at once: no deadlock comes through, and at rest everything holds",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const until = performance.now() + TIME_MS
        let rounds = 0
        while (performance.now() < until || rounds < 4) {
          rounds += 1
          const world = yield* makeWorld
          const [plan = []] = fc.sample(PLAN, { seed: SEED + rounds, numRuns: 1 })
          yield* Effect.forEach(
            plan,
            (those) => Effect.forEach(those, ([name, a, b]) => STEPS[name](world, a, b)),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(yield* toRest(world), [], `MODEL_SEED=${SEED}, round ${rounds}`)
        }
        const [{ deadlocks } = { deadlocks: -1 }] = yield* sql<{ readonly deadlocks: number }>`
          select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`
        console.log(`${rounds} rounds of ${FIBERS} at once: ${deadlocks} deadlocks (MODEL_SEED=${SEED})`)
        assert.strictEqual(deadlocks, 0, "locks are taken in one order")
      }),
    TIME_MS * 10 + 120_000
  )
})
