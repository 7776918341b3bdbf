import { Context, type Effect } from "effect"

import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most rows of one page of {@link MailPreferences}. */
export const MAX_LEFT_PAGE = 1000

/** What an address has left. */
export interface LeftMail {
  /** All marketing. */
  readonly all: boolean
  /** Single lists, in the order of their names. */
  readonly lists: ReadonlyArray<string>
}

/** Addresses and what they left; `email` is bare and lower-case, `list` null where it is all marketing. */
export interface LeftRow {
  readonly email: string
  readonly list: string | null
}

/** Which mail people want (MAIL-67): lists and marketing that an address has left. */
export class MailPreferences extends Context.Service<
  MailPreferences,
  {
    /** Of a bare, lower-case address; an erased person's is known by its hash. */
    readonly of: (email: string) => Effect.Effect<LeftMail, StoreUnavailable>
    /** Takes an address off one list; a repeated call changes nothing. */
    readonly leave: (entry: {
      readonly email: string
      readonly list: string
    }) => Effect.Effect<void, StoreUnavailable>
    /**
     * Its person wants a list again, or all marketing but for the lists that were left by themselves. `by`: who says so for that person;
     * `admin_audit_log` gets one `email_resubscribe` row then where anything changed, both or neither.
     */
    readonly comeBack: (entry: {
      readonly email: string
      readonly list: string | undefined
      readonly by?: { readonly actor: string; readonly note: string | undefined }
    }) => Effect.Effect<void, StoreUnavailable>
    /**
     * For all of them together: what they left, by their owners' word or by an import. Writes one `email_unsubscribe` row into
     * `admin_audit_log` where anything changed, both or neither; returns how many were added.
     */
    readonly leaveAll: (batch: {
      readonly entries: ReadonlyArray<LeftRow>
      readonly actor: string
      readonly note: string | undefined
    }) => Effect.Effect<number, StoreUnavailable>
    /** In the order of address and list, after `after`; without erased people. */
    readonly page: (filter: {
      readonly after: LeftRow | undefined
      /** 1 to {@link MAX_LEFT_PAGE}. */
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<LeftRow>, StoreUnavailable>
  }
>()("postlane/ports/MailPreferences") {}
