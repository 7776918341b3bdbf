import { Context, Data, type Effect, type Stream } from "effect"

import type { ExportRecord } from "../../domain/mail/export-records.ts"
import type { Suppression, ListedReason } from "../../domain/mail/suppression/policy.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most rows of one page. */
export const MAX_SUPPRESSION_PAGE = 200

/** One row of `email_suppressions` or of `unsubscribes`, with the columns' names as keys; the time is ISO 8601 in UTC with microseconds. */
export interface SuppressionRow {
  /** Bare and lower-case. */
  readonly email: string
  readonly reason: ListedReason
  readonly note: string | null
  readonly created_at: string
}

/** Which rows to show. All given filters must match. */
export interface SuppressionFilter {
  /** Matches exactly, ignoring case. */
  readonly email?: string | undefined
  readonly reason?: ListedReason | undefined
  /** 1 to {@link MAX_SUPPRESSION_PAGE}. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** The cursor was not issued by this list. */
export class InvalidSuppressionCursor extends Data.TaggedError("InvalidSuppressionCursor")<{
  readonly cursor: string
}> {}

/** A provider's own list could not be read to its end. `message` is for people, and holds no secret. */
export class SuppressionsUnread extends Data.TaggedError("SuppressionsUnread")<{
  readonly message: string
}> {}

/** A provider's own list, all of its pages, as the records of an export. */
export type ProviderSuppressions = Stream.Stream<ExportRecord, SuppressionsUnread>

/** The suppression list, as admins edit it (MAIL-60, MAIL-65, EVENT-61). */
export class SuppressionList extends Context.Service<
  SuppressionList,
  {
    /** Newest first; new rows cause neither repeated nor skipped ones. */
    readonly page: (
      filter: SuppressionFilter
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<SuppressionRow>; readonly nextCursor: string | null },
      StoreUnavailable | InvalidSuppressionCursor
    >
    /**
     * Adds a `manual` suppression; an existing one changes only if a note is given. Writes one `email_suppress` row to
     * `admin_audit_log`, both or neither.
     */
    readonly add: (entry: {
      /** The key of an address: bare and lower-case. */
      readonly email: string
      readonly actor: string
      readonly note: string | undefined
    }) => Effect.Effect<SuppressionRow, StoreUnavailable>
    /**
     * Adds those that are not on the list yet, and returns how many those were; an erased person's stay as they are. Where there
     * were any, writes one `email_suppress_import` row to `admin_audit_log`, both or neither.
     */
    readonly addAll: (batch: {
      /** Their addresses are keys: bare and lower-case. */
      readonly entries: ReadonlyArray<Suppression>
      readonly actor: string
      readonly note: string | undefined
    }) => Effect.Effect<number, StoreUnavailable>
    /**
     * Removes every suppression of the address, with its unsubscription, and, where there was one, writes one `email_unsuppress` row into
     * `admin_audit_log`, both or neither. Returns how many it removed.
     */
    readonly remove: (entry: {
      readonly email: string
      readonly actor: string
      readonly note: string | undefined
    }) => Effect.Effect<number, StoreUnavailable>
  }
>()("postlane/ports/SuppressionList") {}
