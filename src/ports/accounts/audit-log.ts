import { Context, type Effect, type Schema } from "effect"

import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most rows of one page. */
export const MAX_AUDIT_PAGE = 200

/** One row of `admin_audit_log`, with the columns' names as keys; the time is ISO 8601 in UTC with microseconds. */
export interface AuditLogRow {
  readonly id: string
  /** What was done, such as `email_unsuppress`. */
  readonly action: string
  /** Author of the change. */
  readonly actor: string
  readonly target: string | null
  /** Why, in that person's words. */
  readonly note: string | null
  readonly details: Schema.Json
  readonly created_at: string
}

/** Which rows to show. All given filters must match. */
export interface AuditLogFilter {
  /** Matches exactly. */
  readonly action?: string | undefined
  /** Matches exactly, ignoring case. */
  readonly target?: string | undefined
  /** 1 to {@link MAX_AUDIT_PAGE}. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** The actions of admins, for later review. */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Newest first; new rows cause neither repeated nor skipped ones. */
    readonly page: (
      filter: AuditLogFilter
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<AuditLogRow>; readonly nextCursor: string | null },
      StoreUnavailable | InvalidCursor
    >
  }
>()("postlane/ports/AuditLog") {}

/** Writes what an admin did, where the change itself is not one function of the database that writes it, too. */
export class AuditNotes extends Context.Service<
  AuditNotes,
  {
    readonly add: (note: {
      readonly action: string
      readonly actor: string
      readonly target: string
    }) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/ports/AuditNotes") {}
