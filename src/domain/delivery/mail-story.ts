import type { Schema } from "effect"

import type { ClaimState } from "../mail/claim.ts"
import type { Attempt } from "../mail/logged-attempt.ts"
import type { Provider } from "../mail/provider.ts"
import type { ListedReason } from "../mail/suppression/policy.ts"
import type { EmailLogRow } from "./email-log-row.ts"

/** A delivery event as it came (EVENT-15). */
export interface LoggedEvent {
  /** 1 for the first of its row that arrived; numbers that are missing in between were not kept. */
  readonly number: number
  readonly event: string
  /** ISO 8601 in UTC; when it arrived, where the provider gave no time. */
  readonly at: string
  /** How it was learned: a webhook (or the event bus) brought it, or the poll found it in the provider's list. */
  readonly by: "webhook" | "poll"
  /** Null where it has no body, or one that is too large or erased, or the bodies before it are large enough. */
  readonly raw: Schema.Json
  /** The size of its body as it came. */
  readonly bytes: number
}

/** A row of the log with what belongs to it. Times are ISO 8601 in UTC. */
export interface StoryRow extends Omit<EmailLogRow, "raw"> {
  readonly attempts: ReadonlyArray<Attempt>
  /** When the retry of a deferral is due. */
  readonly retry_at: string | null
  /** When its request came into the send queue, and when it was to be sent; null for a direct send. */
  readonly queued: { readonly queuedAt: string; readonly sendAt: string } | null
  /** In the order of their arrival. */
  readonly events: ReadonlyArray<LoggedEvent>
  /** `reason:address` for each suppression that the row's events asked for. */
  readonly suppression_marks: ReadonlyArray<string>
  /** What the sender tagged it with. */
  readonly tags: Readonly<Record<string, string>>
}

/** All that is known of one mail: a send and its retries. */
export interface MailStory {
  /** The rows of the mail's idempotency key, oldest first. */
  readonly rows: ReadonlyArray<StoryRow>
  readonly claim:
    | {
        readonly state: ClaimState
        readonly provider: Provider
        readonly firstAttemptAt: string
        readonly leaseUntil: string | null
      }
    | undefined
  readonly alerts: ReadonlyArray<{
    readonly sendId: string
    readonly claimedAt: string
    readonly attempts: number
    /** Null where it is raised again at `dueAt`. */
    readonly confirmedAt: string | null
    readonly dueAt: string | null
  }>
  /** Entries of the mail's recipients on the suppression list now. */
  readonly suppressions: ReadonlyArray<{
    readonly email: string
    readonly reason: ListedReason
    readonly note: string | null
    readonly since: string
  }>
}
