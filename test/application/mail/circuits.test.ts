import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { layerCircuits, ProviderCircuits } from "../../../src/application/mail/circuits.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { storeDown } from "../../support/worlds/store-down.ts"

const processOn = (store: MailStore["Service"]) =>
  Effect.map(
    Layer.build(Layer.provide(Layer.fresh(layerCircuits), Layer.succeed(MailStore, store))),
    (context) => Context.get(context, ProviderCircuits)
  )

/** Whether a second caller may ask, while a first one is under way. */
const isOpen = (circuits: ProviderCircuits["Service"]) =>
  circuits
    .unlessHanging(
      "provider_a",
      15_000,
      circuits.unlessHanging("provider_a", 15_000, Effect.succeed("asked"))
    )
    .pipe(Effect.map((answer) => answer === undefined))

/** Lets what runs in the background end. */
const settled = TestClock.adjust("1 millis")

describe("processes that ask one provider", () => {
  it.effect("know of each other's time-outs after their own first one", () =>
    Effect.gen(function* () {
      const { store } = makeMailDatabase()
      const [one, two] = [yield* processOn(store), yield* processOn(store)]
      for (let n = 0; n < 2; n++) yield* Effect.andThen(one.note("provider_a", "hung"), settled)
      assert.isFalse(yield* isOpen(one))
      yield* Effect.andThen(two.note("provider_a", "hung"), settled)
      assert.isTrue(yield* isOpen(two))
      yield* Effect.andThen(two.note("provider_a", "answered"), settled)
      assert.isFalse(yield* isOpen(two))
      yield* Effect.andThen(two.note("provider_a", "hung"), settled)
      assert.isFalse(yield* isOpen(two))
    }).pipe(Effect.scoped)
  )

  it.effect("take no time-outs for in a row that are minutes apart", () =>
    Effect.gen(function* () {
      const { store } = makeMailDatabase()
      const [one, two] = [yield* processOn(store), yield* processOn(store)]
      for (let n = 0; n < 2; n++) yield* Effect.andThen(one.note("provider_a", "hung"), settled)
      yield* TestClock.adjust("2 minutes")
      yield* Effect.andThen(two.note("provider_a", "hung"), settled)
      assert.isFalse(yield* isOpen(two))
    }).pipe(Effect.scoped)
  )

  it.effect("count for themselves while the store is away", () =>
    Effect.gen(function* () {
      const { store } = makeMailDatabase()
      const alone = yield* processOn({ ...store, noteSign: () => Effect.fail(storeDown()) })
      for (let n = 0; n < 3; n++) yield* Effect.andThen(alone.note("provider_a", "hung"), settled)
      assert.isTrue(yield* isOpen(alone))
    }).pipe(Effect.scoped)
  )
})
