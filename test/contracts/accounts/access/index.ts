/**
 * `Access`, `Admins` and `MagicLinks`: a token, a link or a session stands for exactly one caller, for its time and until it is
 * ended; a link works once, and of many callers at once one wins.
 *
 * Adapters: memory, postgres. Rules: DOC-52, DOC-54.
 */
import { describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import type { AccessTest, Stores } from "./callers.ts"
import { signInLinks } from "./links.ts"
import { sessions } from "./sessions.ts"
import { tokens } from "./tokens.ts"

/** What every adapter of `Access`, `Admins` and `MagicLinks` does; `welcome` is a promotion that runs, `nothing` is none. */
export const suite = (
  name: string,
  layer: Layer.Layer<Stores>,
  /** `it.live` where the time of the store is its own. */
  run: typeof it.effect = it.effect
) => {
  const test: AccessTest = (title, body) => run(title, () => Effect.provide(body(), layer), 60_000)

  describe(`access: ${name}`, () => {
    tokens(test)
    signInLinks(test)
    sessions(test)
  })
}
