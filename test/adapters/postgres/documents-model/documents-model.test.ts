import { randomInt } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"

import * as PostgresAccounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import * as PostgresBulk from "../../../../src/adapters/postgres/conversion/bulk-orders.ts"
import * as PostgresIntake from "../../../../src/adapters/postgres/inbound/intake-store.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { FIRST, STEPS } from "./steps.ts"
import { differencesOf, tablesOf } from "./tables.ts"
import { alignTurns, makePair } from "./world.ts"

/** How long it goes on, milliseconds. Longer by hand: `MODEL_MS=300000`; again: `MODEL_SEED=…`. */
const TIME_MS = Number(process.env["MODEL_MS"] ?? 2_000)
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
  "failChunk",
  "claimRow",
  "submitted",
  "processNow",
  "recover",
  "hoursPass",
  "claimFlyer",
  "finishFlyer",
  "receive",
  "claimMail",
  "identify",
  "admit",
  "finishMail",
  "claimReply",
  "endReply"
]

/** Answers without which not much was tried. */
const REACHED = [
  'finishJob: "completed"',
  'cancel: "cancelled"',
  'completeChunk: "stale"',
  'finishInline: "completed"',
  'admit: "admitted"',
  'finish: "completed"',
  "replySent: true"
]

const NAMES = Object.keys(STEPS)

/** Steps in any order. */
const script = fc.array(
  fc.tuple(fc.constantFrom(...NAMES, ...OFTEN, ...OFTEN, ...OFTEN), fc.nat(59), fc.nat(59)),
  {
    minLength: 40,
    maxLength: 150,
    size: "max"
  }
)

/** The tables are compared so often; the answers always. */
const EVERY = 10

const play = Effect.fnUntraced(function* (
  steps: ReadonlyArray<readonly [string, number, number]>,
  counts: Map<string, number>
) {
  const { db, differences, sql, world } = yield* makePair(counts)
  for (const [index, [name, a, b]] of [...FIRST, ...steps].entries()) {
    // A constraint refused it, on both.
    yield* Effect.catchTag(STEPS[name]!(world, a, b), "StoreUnavailable", () => Effect.void)
    if (name.endsWith("Inline") || name === "deleteFile") yield* alignTurns(sql, db)
    assert.deepStrictEqual(differences, [], `${name}(${a}, ${b})`)
    if (index % EVERY === 0 || index === FIRST.length + steps.length - 1)
      assert.deepStrictEqual(differencesOf(yield* tablesOf(sql), db), [], `by ${name}(${a}, ${b})`)
  }
})

const stores = Layer.mergeAll(PostgresAccounts.layer, PostgresBulk.layer, PostgresIntake.layer)

suiteLayer(Layer.provideMerge(stores, postgres), { excludeTestServices: true })(
  "the stores in memory are models of PostgreSQL",
  (it) => {
    it.effect(
      "whatever is asked in whatever order: the same answers, and the same rows after each",
      () =>
        Effect.gen(function* () {
          const counts = new Map<string, number>()
          const context = yield* Effect.context<Effect.Services<ReturnType<typeof makePair>>>()
          const run = Effect.runPromiseWith(context)
          const property = fc.asyncProperty(script, (steps) => run(play(steps, counts)))
          const until = performance.now() + TIME_MS
          let runs = 0
          do {
            yield* Effect.promise(() =>
              fc.assert(property, { seed: SEED + runs, numRuns: 1, endOnFailure: true })
            )
            runs += 1
          } while (performance.now() < until || (REACHED.some((what) => !counts.has(what)) && runs < 300))
          assert.deepStrictEqual(
            REACHED.filter((what) => !counts.has(what)),
            [],
            `MODEL_SEED=${SEED}`
          )
          console.log(`${runs} runs: ${JSON.stringify(Object.fromEntries(counts))} (MODEL_SEED=${SEED})`)
        }),
      TIME_MS * 10 + 120_000
    )
  }
)
