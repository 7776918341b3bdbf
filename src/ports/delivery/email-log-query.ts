import { Context, type Effect } from "effect"

import type { EmailLogRow, EmailLogSearch, EmailStat } from "../../domain/delivery/email-log-row.ts"
import type { EmailStatus } from "../../domain/mail/status.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most rows of one page. */
export const MAX_EMAIL_LOG_PAGE = 200

/** Which page of them. */
export interface EmailLogFilter extends EmailLogSearch {
  /** 1 to {@link MAX_EMAIL_LOG_PAGE}. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** Rows of one mail are counted so far. */
export const MOST_ROWS_OF_MAIL = 1000

/**
 * A row of a list; a deferred one says how often it was tried, and when it is tried next. Of pages by mail with the number of its mail's
 * rows, {@link MOST_ROWS_OF_MAIL} at most.
 */
export interface ListedMail extends EmailLogRow {
  readonly retry_at?: string | null
  readonly attempt_count?: number
  readonly rows_of_mail?: number
}

/** Rows, newest first, and where the next page begins; null where this was the last. */
export interface EmailLogPage {
  readonly rows: ReadonlyArray<ListedMail>
  readonly nextCursor: string | null
  /**
   * Rows read before the search stopped: no index answers a part of the subject or of an address, a tag, a source, mails, or two of status,
   * category and provider together. `nextCursor` continues after them.
   */
  readonly stoppedAfter?: number
  /** The moment of the last of them, ISO 8601. */
  readonly stoppedAt?: string
}

/** How many rows there are. */
interface EmailLogCount {
  readonly count: number
  /** They are among so many rows, the newest ones: the count looked no further. */
  readonly stoppedAfter?: number
}

/** The same of each status. */
interface EmailLogCounts {
  readonly counts: ReadonlyMap<EmailStatus, number>
  readonly stoppedAfter?: number
}

/** Which changes. */
export interface EmailLogChanges extends Omit<EmailLogFilter, "by"> {
  /** A moment, ISO 8601. */
  readonly changedSince: string
}

/** Rows by their last change, the oldest first. */
interface EmailLogChangesPage extends EmailLogPage {
  /** Where the next look begins, once `nextCursor` is null: no row that changed before it was left out, ISO 8601 with microseconds. */
  readonly changedUntil: string
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
     * The rows with a change at a moment or later, each as it stands, up to the moment before which no writer is under way any more: a
     * late commit is left for the next look. A row that changes while its pages are read comes again on a later page.
     */
    readonly changes: (
      filter: EmailLogChanges
    ) => Effect.Effect<EmailLogChangesPage, StoreUnavailable | InvalidCursor>
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
    readonly count: (search: EmailLogSearch, most: number) => Effect.Effect<EmailLogCount, StoreUnavailable>
    /**
     * The same of each status, whatever status the search names; a status without rows may be left out. Of one category or provider among
     * the newest rows.
     */
    readonly counts: (search: EmailLogSearch, most: number) => Effect.Effect<EmailLogCounts, StoreUnavailable>
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
