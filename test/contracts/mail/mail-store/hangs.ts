import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import { Mails, type MailTests } from "./mails.ts"

/** What processes tell one another of providers that hang. */
export const hangs = (it: MailTests): void => {
  describe("time-outs at a provider (MAIL-38)", () => {
    it.effect("are counted in a row over all processes, until any answer, each provider for itself", () =>
      Effect.gen(function* () {
        const { store } = yield* Mails
        const signs = ["answered", "hung", "hung", "hung", "answered", "hung"] as const
        const counts = yield* Effect.forEach(signs, (sign) => store.noteSign("smtp", sign))
        assert.deepStrictEqual(counts, [0, 1, 2, 3, 0, 1])
        assert.strictEqual(yield* store.noteSign("provider_b", "hung"), 1)
      })
    )
  })
}
