import { randomInt } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"

import * as PostgresIntake from "../../../../src/adapters/postgres/inbound/intake-store.ts"
import { postgres } from "../../../support/documents-postgres.ts"
import { STEPS } from "./steps.ts"
import { differencesOf } from "./tables.ts"
import { alignTurns, makeWorld, type World } from "./world.ts"

/** How long it goes on, milliseconds. Longer by hand: `MODEL_MS=300000`; again: `MODEL_SEED=…`. */
const TIME_MS = Number(process.env["MODEL_MS"] ?? 8_000)
const SEED = Number(process.env["MODEL_SEED"] ?? randomInt(1, 2 ** 31 - 1))

/** Drawn more often than the others: without them, little comes to its end. */
const OFTEN = [
  "addFile",
  "request",
  "createJob",
  "claimChunk",
  "completeChunk",
  "claimAssembly",
  "finishJob",
  "claimRow",
  "submitted",
  "receive",
  "claimMail",
  "identify",
  "admit",
  "finishMail",
  "claimReply",
  "endReply"
]

const NAMES = Object.keys(STEPS)

/** Steps in any order, three files and a few mails first. */
const script = fc.array(fc.tuple(fc.constantFrom(...NAMES, ...OFTEN, ...OFTEN), fc.nat(59), fc.nat(59)), {
  minLength: 40,
  maxLength: 150,
  size: "max"
})

const step = Effect.fnUntraced(function* (world: World, name: string, a: number, b: number) {
  yield* STEPS[name]!(world, a, b)
  yield* alignTurns(world)
  return [...world.differences, ...(yield* differencesOf(world.sql, world.db))]
})

const play = Effect.fnUntraced(function* (steps: ReadonlyArray<readonly [string, number, number]>) {
  const world = yield* makeWorld
  for (const [name, a, b] of steps)
    assert.deepStrictEqual(yield* step(world, name, a, b), [], `after ${name}(${a}, ${b})`)
})

suiteLayer(Layer.provideMerge(PostgresIntake.layer, postgres), { excludeTestServices: true })(
  "the stores in memory are models of PostgreSQL",
  (it) => {
    it.effect(
      "whatever is asked in whatever order: the same answers, and the same rows after each",
      () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Effect.Services<typeof makeWorld>>()
          const run = Effect.runPromiseWith(context)
          const property = fc.asyncProperty(script, (steps) => run(play(steps)))
          const until = performance.now() + TIME_MS
          let runs = 0
          do {
            yield* Effect.promise(() => fc.assert(property, { seed: SEED + runs, numRuns: 1 }))
            runs += 1
          } while (performance.now() < until)
          console.log(`${runs} runs (MODEL_SEED=${SEED})`)
        }),
      TIME_MS * 10 + 60_000
    )
  }
)
