import { createHash, createHmac } from "node:crypto"

import { Clock, Effect, Layer } from "effect"

import { FIRST_USE } from "../../../application/mail/use-tag.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../domain/mail/failover.ts"
import { dedupes } from "../../../domain/mail/provider.ts"
import { Deferrals } from "../../../ports/mail/deferrals.ts"
import type { MailDatabase } from "./mail-store.ts"

type Database = Pick<MailDatabase, "rows" | "secret">

/** What became of a key: sent, or how its deferral ended, or that it has not; undefined where nothing was deferred or sent. */
const deferralEnd = (
  { rows: all, secret }: Database,
  key: string,
  now: number
): "sent" | "deferred" | "failed" | "suppressed" | undefined => {
  const rows = all()
  // Rows made by events hold only the hash of the key.
  const keyHash =
    rows.find(({ idempotencyKey }) => idempotencyKey === key)?.keyHash ??
    createHash("sha256").update(key).digest("hex")
  // When a send found no claim store and its rows were lost, only the tag in its event identifies its key's first use.
  const first = rows.some((row) => row.keyHash === null && row.keyTag !== null)
    ? createHmac("sha256", secret).update(`${keyHash} ${FIRST_USE}`).digest("hex")
    : undefined
  const own = rows.filter((row) => row.keyHash === keyHash || (row.keyHash === null && row.keyTag === first))
  if (own.some(({ outcome, providerMessageId }) => outcome === "sent" || providerMessageId !== null))
    return "sent"
  const newest = own.at(-1)
  if (own.every(({ outcome }) => outcome !== "deferred")) {
    // The outcome is ambiguous: the retry could not be queued, or its recipients were suppressed by then. A provider that dedupes
    // may be asked on the same key again; at another one the key is used up for a day.
    const isUsedUp =
      (newest?.errorKind === "ambiguous" || newest?.outcome === "suppressed") &&
      newest.provider !== null &&
      !dedupes(newest.provider)
    return isUsedUp ? "failed" : undefined
  }
  if (newest?.outcome !== "deferred") return newest?.outcome === "suppressed" ? "suppressed" : "failed"
  return newest.createdAt > now - IDEMPOTENCY_WINDOW_MS ? "deferred" : "failed"
}

/** How deferred sends ended, according to a mail database in memory. */
export const makeDeferrals = (database: Database): Deferrals["Service"] =>
  Deferrals.of({
    openKey: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        for (let number = 1; ; number++) {
          const asked = number === 1 ? key : `${key}/${number}`
          const end = deferralEnd(database, asked, now)
          if (end !== "failed" && end !== "suppressed") return { key: asked, state: end ?? "new" }
        }
      })
  })

export const layer = (database: Database): Layer.Layer<Deferrals> =>
  Layer.succeed(Deferrals, makeDeferrals(database))
