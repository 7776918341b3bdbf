import { Schema } from "effect"

import { isUuid } from "../ids.ts"
import { FailureKind } from "../mail/failover.ts"
import { Provider } from "../mail/provider.ts"
import { SendStatus } from "../mail/send-result.ts"
import { EmailStatus } from "../mail/status.ts"
import { Category, UNKNOWN_CATEGORY } from "../mail/suppression/policy.ts"
import { Day } from "../moments.ts"
import { StorableText } from "../request-body.ts"

const text = Schema.NullOr(Schema.String)
const addresses = Schema.Array(Schema.String)

/** The columns of `email_log` that are shown, and what each holds (MAIL-70, EVENT-60). */
export const EMAIL_LOG_COLUMNS = {
  id: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String,
  /** A category of a send, or `unknown` where only delivery events wrote the row. */
  category: Schema.String,
  source: text,
  from_address: text,
  to_addresses: addresses,
  /** Cc and Bcc. */
  other_addresses: addresses,
  /** Recipients dropped because they are suppressed. */
  dropped_addresses: addresses,
  subject: text,
  outcome: Schema.NullOr(SendStatus),
  status: EmailStatus,
  last_event: text,
  last_event_at: text,
  error: text,
  error_kind: Schema.NullOr(FailureKind),
  failed_over: Schema.Boolean,
  /** USD. */
  cost_usd: Schema.NullOr(Schema.Finite),
  idempotency_key: text,
  provider: text,
  provider_message_id: text,
  /** When the failure alert was claimed. */
  alerted_at: text,
  /** The latest provider event, unchanged. */
  raw: Schema.Json
}

/** Columns with a time: ISO 8601 in UTC with microseconds. */
export const MOMENTS: ReadonlySet<string> = new Set<keyof EmailLogRow>([
  "created_at",
  "updated_at",
  "last_event_at",
  "alerted_at"
])

/** One row of `email_log`, with the columns' names as keys. */
export interface EmailLogRow extends Schema.Struct.Type<typeof EMAIL_LOG_COLUMNS> {}

/** The columns of the log as a file, by their headings, in its order. */
export const EMAIL_LOG_CSV = {
  id: "id",
  written: "created_at",
  status: "status",
  category: "category",
  source: "source",
  from: "from_address",
  to: "to_addresses",
  cc_and_bcc: "other_addresses",
  left_out: "dropped_addresses",
  subject: "subject",
  provider: "provider",
  provider_message_id: "provider_message_id",
  failed_over: "failed_over",
  last_event: "last_event",
  last_event_at: "last_event_at",
  error: "error",
  error_kind: "error_kind",
  cost_usd: "cost_usd",
  idempotency_key: "idempotency_key"
} as const satisfies Readonly<Record<string, Exclude<keyof EmailLogRow, "raw">>>

const upTo = (length: number) => StorableText.check(Schema.isMaxLength(length))

/** What the log is searched by, and what each filter takes. All that are given must match. */
export const EMAIL_LOG_FILTERS = {
  /** Only the newest row of each idempotency key: the other filters compare that row. A row without a key counts as one mail. */
  by: Schema.Literal("mail"),
  status: EmailStatus,
  category: Schema.Literals([...Category.literals, UNKNOWN_CATEGORY]),
  provider: Provider,
  /** An address; matches a recipient exactly, ignoring case: To, Cc, Bcc, or dropped. */
  recipient: upTo(320),
  /** Matches a part of the subject, ignoring case; `%` and `_` are no wildcards. */
  subject: upTo(998),
  /** The id of a row. */
  id: Schema.String.check(Schema.makeFilter((id) => isUuid(id) || "is not the id of a row")),
  /** An idempotency key, exactly. */
  key: upTo(1000),
  /** A provider's id of a message, exactly. */
  messageId: upTo(1000),
  /**
   * One text for all of these: an id, an idempotency key, a provider's id or an address, exactly; where no row has it, a part of an address
   * or of the subject.
   */
  search: upTo(1000),
  /** Where the send came from, exactly. */
  source: upTo(200),
  /** The name of a tag of the request, and its value, where that counts. */
  tag: upTo(256),
  tagValue: upTo(256),
  /** The first and the last day, UTC. */
  since: Day,
  until: Day
}

type Filters = typeof EMAIL_LOG_FILTERS

/** Which rows are meant. */
export type EmailLogSearch = { readonly [F in keyof Filters]?: Filters[F]["Type"] | undefined }

/** Rows of the send log of one UTC day, category, provider and status. */
export interface EmailStat {
  /** `YYYY-MM-DD`. */
  readonly day: string
  /** A category of a send, or `unknown` where only delivery events wrote the rows. */
  readonly category: string
  /** Null where no provider was tried. */
  readonly provider: string | null
  readonly status: EmailStatus
  readonly count: number
  readonly failedOver: number
  /** Accepted, and ended without being delivered, which no status says (EVENT-16). */
  readonly undelivered: number
  /** USD. */
  readonly costUsd: number
}
