import { Effect, Exit, Layer, Redacted, Schedule, Schema } from "effect"

import { LogRowId } from "../../../domain/ids.ts"
import { newUse } from "../../../domain/mail/claim.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import type { Block } from "../../../domain/mail/suppression/policy.ts"
import {
  type BeganSend,
  MailStore,
  type RecordedSend,
  type RecordSend
} from "../../../ports/mail/mail-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { decoder, inOrder } from "../batch-answers.ts"
import { makeBatcher } from "../batcher.ts"
import { SendSql, WriteSql } from "../client.ts"
import { isAboutData, statements, storeUnavailable } from "../statement.ts"
import { Absent, storable, TextOrNull, toJsonText } from "../values.ts"
import {
  AT,
  claimEntryOf,
  type ClaimedBegin,
  decodeBegan,
  EvidenceRow,
  Moment,
  RetryRow,
  retryEntryOf,
  Suppressions,
  toRetry
} from "./claim-rows.ts"
import { toEntry } from "./send-entry.ts"

/** A look-up or claim may be repeated; its caller waits. */
const ask = statements({ repeatable: true })

/** A row write is retried also after its caller stopped waiting, for about half a minute of a database outage. */
const ROW_RETRIES = Schedule.min([Schedule.exponential("200 millis", 3), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 6 })
)
const writes = statements()

/** The secret of the installation's tags, handed out with an answer that asked for it. */
const Secret = Schema.Uint8Array.check(Schema.makeFilter((secret) => secret.length === 32))
const isSecret = Schema.is(Schema.Struct({ secret: Secret }))

const Recorded = Schema.Struct({
  sendId: LogRowId,
  status: EmailStatus,
  providerMessageId: TextOrNull
})

const EndRow = Schema.Struct({
  sendId: LogRowId,
  outcome: Schema.Literals(["sent", "suppressed", "failed"]),
  provider: Schema.NullOr(Provider),
  providerMessageId: TextOrNull,
  failedOver: Schema.Boolean,
  error: TextOrNull
})

const LookedUp = Schema.Struct({ suppressions: Suppressions, secret: Absent(Schema.Unknown), at: Moment })

/** What the process has learned of the database. */
interface Learned {
  secret: Redacted.Redacted<Uint8Array> | undefined
}

const learn = (learned: Learned, row: unknown) => {
  if (learned.secret === undefined && isSecret(row)) learned.secret = Redacted.make(row.secret)
}

/** What a look-up found, and when by the database's clock. */
interface LookUp {
  readonly at: number
  readonly suppressions: ReadonlyArray<Block>
}

/** Look-ups of suppressions, as one statement. */
const lookUps = (send: SendSql["Service"], learned: Learned) =>
  makeBatcher<ReadonlyArray<string>, LookUp, StoreUnavailable>({
    isAboutItem: isAboutData,
    onOverflow: () => storeUnavailable("begin")("too many look-ups wait"),
    run: (items) => {
      const addresses = [...new Set(items.flat())].map(storable)
      const secret =
        learned.secret === undefined ? send`(select secret from email_tag_secrets)` : send`null::bytea`
      return Effect.map(
        ask.one(
          "begin",
          LookedUp,
          send`select email_suppressions_of(${addresses}::text[]) as suppressions, ${secret} as secret, ${send.literal(AT)}`
        ),
        (row) => {
          learn(learned, row)
          const found = row.suppressions
          return items.map((wanted) =>
            Exit.succeed({
              at: Math.floor(row.at),
              suppressions: found.length === 0 ? found : found.filter(({ email }) => wanted.includes(email))
            })
          )
        }
      )
    }
  })

/** Claims with their look-ups, as one statement. */
const claims = (send: SendSql["Service"], learned: Learned) =>
  makeBatcher<ClaimedBegin, BeganSend, StoreUnavailable>({
    isAboutItem: isAboutData,
    onOverflow: () => storeUnavailable("begin")("too many claims wait"),
    run: (items) => {
      const entries = items.map(claimEntryOf)
      const secret =
        learned.secret === undefined ? send`(select secret from email_tag_secrets)` : send`null::bytea`
      return Effect.map(
        ask.unread(
          "begin",
          send`select b.*, ${secret} as secret, ${send.literal(AT)} from begin_email_sends(${toJsonText(entries)}::jsonb) as b`
        ),
        (rows) => {
          learn(learned, rows[0])
          return inOrder(rows, items.length, "begin", decodeBegan)
        }
      )
    }
  })

const decodeRecorded = decoder(Recorded, "record")

/** Rows with the settlement of their claims, as one statement. */
const records = (write: WriteSql["Service"]) =>
  makeBatcher<RecordSend, RecordedSend, StoreUnavailable>({
    isAboutItem: isAboutData,
    onOverflow: () => storeUnavailable("record")("too many rows wait to be written"),
    run: (items) =>
      writes
        .unread("record", write`select * from record_email_sends(${toJsonText(items.map(toEntry))}::jsonb)`)
        .pipe(
          Effect.retry({ schedule: ROW_RETRIES, while: ({ isRetryable }) => isRetryable }),
          Effect.map((rows) => inOrder(rows, items.length, "record", decodeRecorded))
        )
  })

const unclaimed = ({ at, suppressions }: LookUp): BeganSend => ({
  at,
  suppressions,
  decision: newUse(undefined, at),
  evidence: undefined,
  leaving: true
})

const make = Effect.gen(function* () {
  const send = yield* SendSql
  const write = yield* WriteSql
  const learned: Learned = { secret: undefined }
  const lookUp = yield* lookUps(send, learned)
  const claim = yield* claims(send, learned)
  const record = yield* records(write)
  return MailStore.of({
    configured: true,
    begin: (entry) =>
      entry.claim === undefined
        ? Effect.map(lookUp(entry.addresses), unclaimed)
        : claim({ ...entry, claim: entry.claim }),
    moveClaim: ({ keyHash, owner, provider }) =>
      ask.answer(
        "moveClaim",
        Schema.Boolean,
        send`select move_email_claim(${keyHash}, ${owner}, ${provider}) as answer`
      ),
    tagSecret: Effect.sync(() => learned.secret),
    findEvidence: ({ ageMs, keyHash, tag }) =>
      ask.first(
        "findEvidence",
        EvidenceRow,
        send`select provider, provider_message_id from find_email_evidence(
          ${keyHash}, ${tag ?? null}::text, clock_timestamp() - make_interval(secs => ${ageMs / 1000}::float8))`
      ),
    deferralEnd: ({ keyHash, sendId }) =>
      ask.first(
        "deferralEnd",
        EndRow,
        send`select send_id as "sendId", outcome, provider, provider_message_id as "providerMessageId",
            failed_over as "failedOver", error
          from report_deferral_end(${keyHash}, ${sendId}::uuid)`
      ),
    beginRetry: (entry) => {
      const asked = toJsonText(retryEntryOf(entry))
      return Effect.flatMap(
        ask.one(
          "beginRetry",
          RetryRow,
          send`select r.*, ${send.literal(AT)} from begin_email_retry(${asked}::jsonb) as r`
        ),
        (row) => Effect.fromResult(toRetry(row))
      )
    },
    noteUnclaimed: (count) =>
      writes.done("noteUnclaimed", write`select note_unclaimed_email_sends(${count}::int)`),
    noteSign: (provider, sign) =>
      writes.answer(
        "noteSign",
        Schema.Int,
        write`insert into email_provider_hangs as h (provider, in_a_row, noted_at)
          values (${provider}, ${sign === "hung" ? 1 : 0}::int, clock_timestamp())
          on conflict (provider) do update set
            in_a_row = case when excluded.in_a_row = 0 then 0
              when h.noted_at > clock_timestamp() - interval '1 minute' then h.in_a_row + 1 else 1 end,
            noted_at = clock_timestamp()
          returning h.in_a_row as answer`
      ),
    record
  })
})

/**
 * The mail store on PostgreSQL. Look-ups, claims and rows are batched, each with two calls under way at most. Writing a
 * row is retried for about half a minute while the database is away, also after its caller stopped waiting.
 */
export const layer: Layer.Layer<MailStore, never, SendSql | WriteSql> = Layer.effect(MailStore, make)
