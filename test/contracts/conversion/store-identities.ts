/**
 * `StoreIdentities`: of many processes that name a store at once one becomes the known one, and each learns which.
 *
 * Adapters: memory, postgres. Rules: DOC-6.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { StoreIdentities } from "../../../src/ports/store-identities.ts"

const folder = (identity: string) => ({ identity, place: undefined })

/** What keeps the identities of object stores; each test gets one of its own. */
export const storeIdentitiesContract = (name: string, layer: Layer.Layer<StoreIdentities>) =>
  describe(`StoreIdentities: ${name}`, () => {
    const test = <E>(title: string, body: Effect.Effect<void, E, StoreIdentities>) =>
      it.live(title, () => Effect.provide(body, layer))

    test(
      "of many that claim at once one becomes known, and each learns which",
      Effect.gen(function* () {
        const { claim, known, recentFile } = yield* StoreIdentities
        assert.isUndefined(yield* known("files"))
        assert.isUndefined(yield* recentFile)
        const all = Array.from({ length: 20 }, (_, at) => folder(`store ${at}`))
        const claimed = yield* Effect.forEach(all, (one) => claim("files", one), { concurrency: "unbounded" })
        const winner = yield* known("files")
        assert.include(
          all.map(({ identity }) => identity),
          winner?.identity
        )
        assert.deepStrictEqual(
          claimed,
          all.map(() => winner)
        )
        assert.isUndefined(yield* known("batch"))
      })
    )

    test(
      "an adopted store takes the place of the known one",
      Effect.gen(function* () {
        const { adopt, claim, known } = yield* StoreIdentities
        yield* claim("files", folder("first"))
        yield* adopt("files", { identity: "second", place: "s3.eu-west-1/bucket" })
        assert.deepStrictEqual(yield* known("files"), { identity: "second", place: "s3.eu-west-1/bucket" })
        assert.strictEqual((yield* claim("files", folder("third"))).identity, "second")
        yield* adopt("batch", folder("b"))
        assert.deepStrictEqual(yield* known("batch"), folder("b"))
      })
    )
  })
