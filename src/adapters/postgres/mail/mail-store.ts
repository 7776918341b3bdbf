import { Effect, Exit, Layer, Redacted, Result, Schedule, Schema } from "effect"

import { KeyTag, LogRowId } from "../../../domain/ids.ts"
import { newUse } from "../../../domain/mail/claim.ts"
import { Provider } from "../../../domain/mail/failover.ts"
import { SendResult } from "../../../domain/mail/send-result.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import { type Block, BlockReason } from "../../../domain/mail/suppression/policy.ts"
import {
  type BeganRetry,
  type BeganSend,
  type BeginSend,
  type ClaimEntry,
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
import { toEntry } from "./send-entry.ts"

/** A look-up or claim may be repeated; its caller waits. */
const ask = statements({ repeatable: true })

/** A row write is retried also after its caller stopped waiting, for about half a minute of a database outage. */
const ROW_RETRIES = Schedule.min([Schedule.exponential("200 millis", 3), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 6 })
)
const writes = statements()

const Suppressions = Schema.Array(Schema.Struct({ email: Schema.String, reason: BlockReason }))

/** Milliseconds of the database's clock, with their fraction. */
const Moment = Schema.Finite

/** The database's clock, as a column `at` of an answer. */
const AT = "(extract(epoch from clock_timestamp()) * 1000)::float8 as at"

const EvidenceRow = Schema.Struct({ provider: Provider, providerMessageId: Schema.String })

const Began = Schema.Struct({
  decision: Schema.Literals(["Claimed", "Replay", "Conflict", "InProgress"]),
  sticky: Absent(Provider),
  takeover: Schema.Boolean,
  late: Schema.Boolean,
  firstAttemptAt: Schema.Number,
  lastAttemptAt: Schema.Number,
  tag: Absent(KeyTag),
  result: Schema.NullOr(SendResult),
  evidence: Absent(EvidenceRow),
  leaving: Schema.Boolean,
  suppressions: Suppressions,
  at: Moment
})

/** The secret of the installation's tags, handed out with an answer that asked for it. */
const Secret = Schema.Uint8Array.check(Schema.makeFilter((secret) => secret.length === 32))
const isSecret = Schema.is(Schema.Struct({ secret: Secret }))

const Recorded = Schema.Struct({
  sendId: LogRowId,
  status: EmailStatus,
  providerMessageId: TextOrNull
})

const Retry = Schema.Struct({
  decision: Schema.Literals(["Go", "Settled", "Recorded", "Busy"]),
  evidence: Absent(EvidenceRow),
  suppressions: Suppressions,
  firstAttemptAt: Schema.NullOr(Moment),
  lastAttemptAt: Schema.NullOr(Moment),
  torn: Schema.NullOr(Schema.Boolean),
  at: Moment
})

const EndRow = Schema.Struct({
  sendId: LogRowId,
  outcome: Schema.Literals(["sent", "suppressed", "failed"]),
  provider: Schema.NullOr(Provider),
  providerMessageId: TextOrNull,
  failedOver: Schema.Boolean,
  error: TextOrNull
})

/** Uses the index of keys. A missing row could not be written: no use of a key lasts longer than a day. */
const DEFERRAL_END = `with first as (
  select coalesce(
    (select created_at from email_log where id = $2::uuid), clock_timestamp() - interval '24 hours') as at
), rows as materialized (select * from email_log where key_hash = $1)
select id as "sendId", provider, provider_message_id as "providerMessageId", failed_over as "failedOver", error,
  case when provider_message_id is not null or outcome = 'sent' then 'sent' else outcome end as outcome
from rows, first
where rows.created_at >= first.at and (provider_message_id is not null or outcome in ('sent', 'suppressed', 'failed'))
order by (provider_message_id is not null or outcome = 'sent') desc, created_at desc, id desc
limit 1`

const LookedUp = Schema.Struct({ suppressions: Suppressions, secret: Absent(Schema.Unknown), at: Moment })

const toDecision = (row: typeof Began.Type): Result.Result<BeganSend, StoreUnavailable> => {
  const { evidence, leaving, suppressions } = row
  const at = Math.floor(row.at)
  switch (row.decision) {
    case "Claimed":
      return Result.succeed({
        at,
        suppressions,
        decision: {
          _tag: "Claimed",
          sticky: row.sticky,
          takeover: row.takeover,
          late: row.late,
          firstAttemptAt: Math.floor(row.firstAttemptAt),
          lastAttemptAt: Math.floor(row.lastAttemptAt),
          tag: row.tag
        },
        evidence,
        leaving
      })
    case "Replay":
      return row.result === null
        ? Result.fail(storeUnavailable("begin")("a replay without a result"))
        : Result.succeed({
            at,
            suppressions,
            decision: {
              _tag: "Replay",
              result: row.result,
              firstAttemptAt: Math.floor(row.firstAttemptAt),
              lastAttemptAt: Math.floor(row.lastAttemptAt)
            },
            evidence,
            leaving
          })
    case "Conflict":
    case "InProgress":
      return Result.succeed({ at, suppressions, decision: { _tag: row.decision }, evidence, leaving })
  }
}

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

type ClaimedBegin = BeginSend & { readonly claim: ClaimEntry }

const decodeBegan = decoder(Began, "begin")

/** Claims with their look-ups, as one statement. */
const claims = (send: SendSql["Service"], learned: Learned) =>
  makeBatcher<ClaimedBegin, BeganSend, StoreUnavailable>({
    isAboutItem: isAboutData,
    onOverflow: () => storeUnavailable("begin")("too many claims wait"),
    run: (items) => {
      const entries = items.map(({ addresses, claim, keyHash }) => ({
        key_hash: keyHash,
        addresses,
        payload_hash: claim.payloadHash,
        provider: claim.provider,
        owner: claim.owner,
        lease_ms: claim.leaseMs,
        tag: claim.tag,
        known: claim.known
      }))
      const secret =
        learned.secret === undefined ? send`(select secret from email_tag_secrets)` : send`null::bytea`
      return Effect.map(
        ask.rows(
          "begin",
          Schema.Unknown,
          send`select b.*, ${secret} as secret, ${send.literal(AT)} from begin_email_sends(${toJsonText(entries)}::jsonb) as b`
        ),
        (rows) => {
          learn(learned, rows[0])
          return inOrder(rows, items.length, "begin", (row) => Result.flatMap(decodeBegan(row), toDecision))
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
        .rows(
          "record",
          Schema.Unknown,
          write`select * from record_email_sends(${toJsonText(items.map(toEntry))}::jsonb)`
        )
        .pipe(
          Effect.retry({ schedule: ROW_RETRIES, while: ({ isRetryable }) => isRetryable }),
          Effect.map((rows) => inOrder(rows, items.length, "record", decodeRecorded))
        )
  })

/** The look-up before a retry, in the terms of the port. */
const toRetry = (row: typeof Retry.Type): Result.Result<BeganRetry, StoreUnavailable> => {
  switch (row.decision) {
    case "Go":
      return row.firstAttemptAt === null
        ? Result.fail(storeUnavailable("beginRetry")("a lease without its key's first attempt"))
        : Result.succeed({
            _tag: "Go",
            torn: row.torn === true,
            suppressions: row.suppressions,
            at: Math.floor(row.at),
            firstAttemptAt: Math.floor(row.firstAttemptAt)
          })
    case "Settled":
      return row.evidence === undefined || row.firstAttemptAt === null || row.lastAttemptAt === null
        ? Result.fail(storeUnavailable("beginRetry")("settled without evidence or times"))
        : Result.succeed({
            _tag: "Settled",
            evidence: row.evidence,
            at: Math.floor(row.at),
            firstAttemptAt: Math.floor(row.firstAttemptAt),
            lastAttemptAt: Math.floor(row.lastAttemptAt)
          })
    case "Recorded":
    case "Busy":
      return Result.succeed({ _tag: row.decision })
  }
}

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
      Effect.map(
        ask.rows("deferralEnd", EndRow, send.unsafe(DEFERRAL_END, [keyHash, sendId])),
        ([row]) => row
      ),
    beginRetry: (entry) => {
      const { ageMs, firstAttemptAt, keyHash, leaseMs, rowId, ...rest } = entry
      const asked = toJsonText({
        ...rest,
        key_hash: keyHash,
        first_attempt_at: firstAttemptAt,
        age_ms: ageMs,
        row_id: rowId,
        lease_ms: leaseMs
      })
      return Effect.flatMap(
        ask.one(
          "beginRetry",
          Retry,
          send`select r.*, ${send.literal(AT)} from begin_email_retry(${asked}::jsonb) as r`
        ),
        (row) => Effect.fromResult(toRetry(row))
      )
    },
    noteUnclaimed: (count) =>
      writes.done("noteUnclaimed", write`select note_unclaimed_email_sends(${count}::int)`),
    record
  })
})

/**
 * The mail store on PostgreSQL. Look-ups, claims and rows are batched, each with two calls under way at most. Writing a
 * row is retried for about half a minute while the database is away, also after its caller stopped waiting.
 */
export const layer: Layer.Layer<MailStore, never, SendSql | WriteSql> = Layer.effect(MailStore, make)
