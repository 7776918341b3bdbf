import { Context, type Effect } from "effect"

import type { EmailLogRow, EmailStat } from "../../domain/delivery/email-log-row.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { EmailStatus } from "../../domain/mail/status.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most rows of one page. */
export const MAX_EMAIL_LOG_PAGE = 200

/** Which rows are meant. All given filters must match. */
export interface EmailLogSearch {
  readonly status?: EmailStatus | undefined
  readonly category?: string | undefined
  readonly provider?: Provider | undefined
  /** An address; matches a recipient exactly, ignoring case: To, Cc, Bcc, or dropped. */
  readonly recipient?: string | undefined
  /** Matches a part of the subject, ignoring case; `%` and `_` are no wildcards. */
  readonly subject?: string | undefined
  /** The id of a row, a UUID. */
  readonly id?: string | undefined
  /** An idempotency key, exactly. */
  readonly key?: string | undefined
  /** A provider's id of a message, exactly. */
  readonly providerMessageId?: string | undefined
  /**
   * One text for all of these: an id, an idempotency key, a provider's id or an address, exactly; where no row has it, a part of an address
   * or of the subject.
   */
  readonly search?: string | undefined
  /** The first and the last day, UTC, `YYYY-MM-DD`. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Which page of them. */
export interface EmailLogFilter extends EmailLogSearch {
  /** 1 to {@link MAX_EMAIL_LOG_PAGE}. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** A row of a list; a deferred one says how often it was tried, and when it is tried next. */
export interface ListedMail extends EmailLogRow {
  readonly retry_at?: string | null
  readonly attempt_count?: number
}

/** Rows, newest first, and where the next page begins; null where this was the last. */
export interface EmailLogPage {
  readonly rows: ReadonlyArray<ListedMail>
  readonly nextCursor: string | null
  /**
   * Rows read before the search stopped, when it was for a part of the subject or of an address, which no index answers. `nextCursor` continues after them.
   */
  readonly stoppedAfter?: number
}

/** The rows next to one. */
export interface EmailLogPlace {
  /** The row's id, a UUID. */
  readonly id: string
  readonly side: "newer" | "older"
  readonly limit: number
}

/**
 * Reads the send log. Pages follow (`created_at`, `id`), newest first: a page begins where the last one ended, so that new
 * rows cause neither repeated nor skipped ones.
 */
export class EmailLogQuery extends Context.Service<
  EmailLogQuery,
  {
    readonly page: (filter: EmailLogFilter) => Effect.Effect<EmailLogPage, StoreUnavailable | InvalidCursor>
    /**
     * The rows right before or right behind one, newest first, and whether there are more on that side. None of a row that is not there.
     */
    readonly beside: (
      place: EmailLogPlace
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<EmailLogRow>; readonly hasMore: boolean },
      StoreUnavailable
    >
    /** How many rows there are; of more than `most`, `most`. Where a page would stop reading, the count does. */
    readonly count: (search: EmailLogSearch, most: number) => Effect.Effect<number, StoreUnavailable>
    /** The same of each status, whatever status the search names; a status without rows may be left out. */
    readonly counts: (
      search: EmailLogSearch,
      most: number
    ) => Effect.Effect<ReadonlyMap<EmailStatus, number>, StoreUnavailable>
  }
>()("postlane/ports/EmailLogQuery") {}

/** Most days of one query. */
export const MAX_STATS_DAYS = 366

/** Counts the send log. */
export class EmailStats extends Context.Service<
  EmailStats,
  {
    /** Today and the `days` − 1 days before it, UTC; 1 to {@link MAX_STATS_DAYS}. `from` is the first day. */
    readonly since: (
      days: number
    ) => Effect.Effect<{ readonly from: string; readonly stats: ReadonlyArray<EmailStat> }, StoreUnavailable>
    /** The hours of the last two days, UTC; each `day` is an hour, `YYYY-MM-DDTHH`. */
    readonly lastHours: Effect.Effect<ReadonlyArray<EmailStat>, StoreUnavailable>
  }
>()("postlane/ports/EmailStats") {}
