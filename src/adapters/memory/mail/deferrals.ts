import { createHash } from "node:crypto"

import { Clock, Effect, Layer } from "effect"

import { IDEMPOTENCY_WINDOW_MS } from "../../../domain/mail/failover.ts"
import { Deferrals } from "../../../ports/mail/deferrals.ts"
import type { MailDatabase } from "./mail-store.ts"
import type { LogRow } from "./tables.ts"

/** What became of a key: sent, or how its deferral ended, or that it has not; undefined where nothing was deferred or sent. */
const deferralEnd = (
  rows: ReadonlyArray<LogRow>,
  key: string,
  now: number
): "sent" | "deferred" | "failed" | "suppressed" | undefined => {
  // Rows made by events hold only the hash of the key.
  const keyHash =
    rows.find(({ idempotencyKey }) => idempotencyKey === key)?.keyHash ??
    createHash("sha256").update(key).digest("hex")
  const own = rows.filter((row) => row.keyHash === keyHash)
  if (own.some(({ outcome, providerMessageId }) => outcome === "sent" || providerMessageId !== null))
    return "sent"
  if (own.every(({ outcome }) => outcome !== "deferred")) return undefined
  const newest = own.at(-1)
  if (newest?.outcome !== "deferred") return newest?.outcome === "suppressed" ? "suppressed" : "failed"
  return newest.createdAt > now - IDEMPOTENCY_WINDOW_MS ? "deferred" : "failed"
}

/** How deferred sends ended, according to a mail database in memory. */
export const makeDeferrals = (database: Pick<MailDatabase, "rows">): Deferrals["Service"] =>
  Deferrals.of({
    openKey: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        for (let number = 1; ; number++) {
          const asked = number === 1 ? key : `${key}/${number}`
          const end = deferralEnd(database.rows(), asked, now)
          if (end !== "failed" && end !== "suppressed") return { key: asked, state: end ?? "new" }
        }
      })
  })

export const layer = (database: Pick<MailDatabase, "rows">): Layer.Layer<Deferrals> =>
  Layer.succeed(Deferrals, makeDeferrals(database))
