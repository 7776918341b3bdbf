import { Context, Data, type Effect } from "effect"

import type { SuppressionReason } from "../../domain/mail/suppression-policy.ts"

/** Most rows of one page. */
export const MAX_SUPPRESSION_PAGE = 200

/** One row of `email_suppressions`, with the columns' names as keys; the time is ISO 8601 in UTC with microseconds. */
export interface SuppressionRow {
  /** Bare and lower-case. */
  readonly email: string
  readonly reason: SuppressionReason
  readonly note: string | null
  readonly created_at: string
}

/** Which rows to show. Every filter that is there must hold. */
export interface SuppressionFilter {
  /** Matches exactly, ignoring case. */
  readonly email?: string | undefined
  readonly reason?: SuppressionReason | undefined
  /** 1 to {@link MAX_SUPPRESSION_PAGE}. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** The list cannot be read or written now. */
export class SuppressionListUnavailable extends Data.TaggedError("SuppressionListUnavailable")<{
  readonly cause: unknown
}> {}

/** The cursor is none that this list gave out. */
export class InvalidSuppressionCursor extends Data.TaggedError("InvalidSuppressionCursor")<{
  readonly cursor: string
}> {}

/** The suppression list as admins work with it (contract, "Admin"). */
export class SuppressionList extends Context.Service<
  SuppressionList,
  {
    /** Newest first; rows that arrive meanwhile neither repeat nor hide any. */
    readonly page: (
      filter: SuppressionFilter
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<SuppressionRow>; readonly nextCursor: string | null },
      SuppressionListUnavailable | InvalidSuppressionCursor
    >
    /**
     * Adds a `manual` one; where there is one already, only a note that is given changes it. Writes one `email_suppress` row
     * into `admin_audit_log`, both or neither.
     */
    readonly add: (entry: {
      /** The key of an address: bare and lower-case. */
      readonly email: string
      readonly actor: string
      readonly note: string | undefined
    }) => Effect.Effect<SuppressionRow, SuppressionListUnavailable>
    /**
     * Removes every suppression of the address and, where there was one, writes one `email_unsuppress` row into
     * `admin_audit_log`, both or neither. Gives how many there were.
     */
    readonly remove: (entry: {
      readonly email: string
      readonly actor: string
      readonly note: string | undefined
    }) => Effect.Effect<number, SuppressionListUnavailable>
  }
>()("postlane/ports/SuppressionList") {}
