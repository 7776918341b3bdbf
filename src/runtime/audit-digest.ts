import { Effect, type Layer } from "effect"

import { DIGEST_CADENCES } from "../domain/delivery/audit-digest-period.ts"
import { AuditDigest } from "../domain/delivery/audit-digest.ts"
import type { Leadership } from "../ports/leadership.ts"
import { leaderTicking } from "./leadership.ts"
import type { Supervisors } from "./supervisor.ts"

/** How soon after 14:00 UTC, and after a start, what is due goes out. */
const INTERVAL = "1 minute"

/** What is due goes out once, however often this runs: a run that was missed is made up for until the next period ends. */
const tick = Effect.gen(function* () {
  const { run } = yield* AuditDigest
  for (const cadence of DIGEST_CADENCES) {
    const { ok, ...counts } = yield* run({ cadence, patient: true })
    if (!ok)
      yield* Effect.logWarning("some digests did not go out and are tried again", { cadence, ...counts })
    else if (counts.sent > 0) yield* Effect.logInfo("digests went out", { cadence, ...counts })
  }
})

/** The leader's digests: daily, and weekly on Mondays. */
export const ticks: Layer.Layer<never, never, AuditDigest | Leadership | Supervisors> = leaderTicking(
  "audit-digest",
  INTERVAL,
  tick
)
