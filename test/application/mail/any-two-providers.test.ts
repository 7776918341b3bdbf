import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { dedupes, Provider } from "../../../src/domain/mail/provider.ts"
import { mail, makeHarness } from "./harness.ts"

describe("a send with any two providers in the chain", () => {
  const pairs = Provider.literals.flatMap((primary) =>
    Provider.literals
      .filter((fallback) => fallback !== primary)
      .map((fallback) => [primary, fallback] as const)
  )

  it.effect.each(pairs)(
    "S3: %s fails over to %s on proof alone, and one copy leaves",
    ([primary, fallback]) =>
      Effect.gen(function* () {
        const world = yield* makeHarness({ primary, fallback })
        const copies = (name: typeof primary) => Effect.map(world.providers[name].copies, (all) => all.length)
        world.scripts[primary].push("unavailable", "rejected")
        assert.deepInclude(yield* world.send(mail()), {
          status: "sent",
          provider: fallback,
          failedOver: true
        })
        assert.deepInclude(yield* world.send(mail()), { status: "failed", kind: "rejected" })
        assert.deepStrictEqual([yield* copies(primary), yield* copies(fallback)], [0, 1])
      })
  )

  it.effect.each(pairs)(
    "S2: an unknown answer of %s never reaches %s: the retry goes where it was",
    ([primary, fallback]) =>
      Effect.gen(function* () {
        for (const [outcome, most] of [
          ["ambiguous-lost", 1],
          ["ambiguous-accepted", dedupes(primary) ? 1 : 2]
        ] as const) {
          const world = yield* makeHarness({ primary, fallback })
          world.scripts[primary].push(outcome)
          assert.deepInclude(yield* world.send(mail({ idempotencyKey: "order-17" })), { status: "deferred" })
          const [deferred] = yield* world.queued
          assert.strictEqual(deferred?.request.provider, primary)
          if (deferred !== undefined) yield* world.retry(deferred)
          assert.strictEqual(yield* world.providers[fallback].received, 0)
          assert.strictEqual((yield* world.providers[primary].copies).length, most)
        }
      })
  )
})
