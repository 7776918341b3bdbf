import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { makeBatchWorld, type Round, summaryOf } from "./batch-run.ts"

/** What went wrong once, and a step of each kind. Hundreds more by hand: `node test/crash/batch-main.ts`. */
const ROUNDS: ReadonlyArray<Round> = [
  { scenario: "cancelled", step: "service create", when: "before", nth: 1, how: "SIGSTOP" },
  { scenario: "cancelled", step: "page", when: "within", nth: 9, how: "SIGSTOP" },
  { scenario: "completes", step: "service create", when: "after", nth: 1, how: "SIGKILL" },
  { scenario: "completes", step: "put results", when: "after", nth: 3, how: "SIGKILL" },
  { scenario: "completes", step: "store end", when: "before", nth: 1, how: "SIGSTOP" },
  { scenario: "stops half way", step: "store end", when: "after", nth: 1, how: "SIGKILL" }
]

describe("leaders of the batch lane that die or sleep", () => {
  it.live(
    "B1 B2 B4 B5 X1 F1 F2 K1: the next one ends what they began, once; one that wakes up changes nothing",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const world = yield* Effect.acquireRelease(
          Effect.promise(() => makeBatchWorld(url)),
          ({ close }) => Effect.promise(close)
        )
        for (const round of ROUNDS) {
          const { hurts, violations } = yield* Effect.promise(() => world.round(round))
          assert.deepStrictEqual(violations, [])
          assert.isAbove(hurts, 0, `nobody came to it: ${summaryOf(round)}`)
        }
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )
})
