import { Context, Data } from "effect"
import type { Effect } from "effect"

import type { EmailStatus } from "../domain/mail/status.ts"

/** Most days of one question. */
export const MAX_STATS_DAYS = 366

/** Rows of the send log of one UTC day, category, provider and status. */
export interface EmailStat {
  /** `YYYY-MM-DD`. */
  readonly day: string
  /** A category of a send, or `unknown` where only delivery events wrote the rows. */
  readonly category: string
  /** Null where no provider was asked. */
  readonly provider: string | null
  readonly status: EmailStatus
  readonly count: number
  readonly failedOver: number
  /** USD. */
  readonly costUsd: number
}

/** The log cannot be counted now. */
export class EmailStatsUnavailable extends Data.TaggedError("EmailStatsUnavailable")<{
  readonly cause: unknown
}> {}

/** Counts the send log. */
export class EmailStats extends Context.Service<
  EmailStats,
  {
    /** Today and the `days` − 1 days before it, UTC; 1 to {@link MAX_STATS_DAYS}. `from` is the first day. */
    readonly since: (
      days: number
    ) => Effect.Effect<
      { readonly from: string; readonly stats: ReadonlyArray<EmailStat> },
      EmailStatsUnavailable
    >
  }
>()("postlane/ports/EmailStats") {}
