/**
 * What one key may lead to, whatever its calls, retries and events: the shortest ways to a second copy or to a false answer that an
 * exhaustive walk through the rules has found, each with what must come of it instead.
 *
 * Adapters: memory, postgres. Rules: S1, S2, S3, S4, S9, D1, MAIL-12, MAIL-41, MAIL-43, MAIL-44, MAIL-45, MAIL-52, MAIL-56, MAIL-57.
 */
import { layer } from "@effect/vitest"
import { type Effect, Layer, type Scope } from "effect"

import type { MailWorld } from "../../../support/worlds/mail-world.ts"
import { Mails } from "../mail-store/mails.ts"
import { passedClaims } from "./claim.ts"
import { deadClaims } from "./death.ts"
import { doubts } from "./doubt.ts"
import { proofs } from "./evidence.ts"
import { memories } from "./memory.ts"
import { times } from "./time.ts"

export const suite = (name: string, makeWorld: Effect.Effect<MailWorld, never, Scope.Scope>) =>
  layer(Layer.effect(Mails, makeWorld), { excludeTestServices: true })(`one key: ${name}`, (it) => {
    for (const chapter of [doubts, times, passedClaims, memories, deadClaims, proofs]) chapter(it)
  })
