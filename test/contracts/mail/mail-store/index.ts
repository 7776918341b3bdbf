/**
 * `MailStore` and the log behind it: claims, rows, suppressions and evidence end the same, whichever writer comes first and
 * however often.
 *
 * Adapters: memory, postgres. Rules: A1, D1, L1, L2, L3, P1, P3, S1, S2, S3, S4, S5, S7, S9, MAIL-7, MAIL-38, MAIL-41, MAIL-42, MAIL-43,
 * MAIL-44, MAIL-60, MAIL-65, MAIL-66, MAIL-67, MAIL-74, EVENT-11, EVENT-13, EVENT-15, EVENT-16, EVENT-24, RETURN-3, RETURN-5.
 */
import { layer } from "@effect/vitest"
import { type Effect, Layer, type Scope } from "effect"

import type { MailWorld } from "../../../support/worlds/mail-world.ts"
import { keptAttempts } from "./attempts.ts"
import { claimsAfter } from "./claims-after.ts"
import { claims } from "./claims.ts"
import { eventOrder } from "./event-order.ts"
import { events } from "./events.ts"
import { hangs } from "./hangs.ts"
import { Mails } from "./mails.ts"
import { reports } from "./reports.ts"
import { retries } from "./retries.ts"
import { rowEvents } from "./row-events.ts"
import { logRows } from "./rows.ts"
import { suppressions } from "./suppressions.ts"
import { uses } from "./uses.ts"

/** The contract suite of the mail store and of the log behind it. */
export const suite = (name: string, makeWorld: Effect.Effect<MailWorld, never, Scope.Scope>) =>
  layer(Layer.effect(Mails, makeWorld), { excludeTestServices: true })(`mail store: ${name}`, (it) => {
    for (const chapter of [
      suppressions,
      rowEvents,
      claims,
      claimsAfter,
      retries,
      keptAttempts,
      logRows,
      events,
      eventOrder,
      uses,
      hangs,
      reports
    ])
      chapter(it)
  })
