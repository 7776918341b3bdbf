import { Effect, Exit, Layer, Result, Schedule, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

import { Provider } from "../../../domain/mail/failover.ts"
import { SendResult } from "../../../domain/mail/send-result.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import { type Suppression, SuppressionReason } from "../../../domain/mail/suppression-policy.ts"
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
import { answered, isAboutData, isTransient, storeUnavailable } from "../answered.ts"
import { makeBatcher } from "../batcher.ts"
import { ReadSql, WriteSql } from "../client.ts"
import { storable, toJsonText } from "../values.ts"

/** A look-up or claim that hits a lost connection or a deadlock is retried at once; its caller waits. */
const QUICK_RETRIES = Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 2 }))

/** A row write is retried also after its caller stopped waiting, for about half a minute of a database outage. */
const ROW_RETRIES = Schedule.min([Schedule.exponential("200 millis", 3), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 6 })
)

const Suppressions = Schema.Array(Schema.Struct({ email: Schema.String, reason: SuppressionReason }))

const Began = Schema.Struct({
  decision: Schema.Literals(["Claimed", "Replay", "Conflict", "InProgress"]),
  sticky: Schema.NullOr(Provider),
  takeover: Schema.Boolean,
  first_attempt_at: Schema.Number,
  result: Schema.NullOr(SendResult),
  evidence: Schema.NullOr(Schema.String),
  suppressions: Suppressions
})

const Recorded = Schema.Struct({
  send_id: Schema.String,
  status: EmailStatus,
  provider_message_id: Schema.NullOr(Schema.String)
})

const Retry = Schema.Struct({
  decision: Schema.Literals(["Go", "Settled", "Recorded", "Busy"]),
  evidence: Schema.NullOr(Schema.String),
  suppressions: Suppressions
})

const Evidence = Schema.Struct({ evidence: Schema.NullOr(Schema.String) })
const Moved = Schema.Struct({ moved: Schema.Boolean })
const hasOrdinal = Schema.is(Schema.Struct({ ordinal: Schema.Int }))

/** Refused before it reached the database, or by the database for its values: no other call of the batch fails with it. */
const isAboutItem = ({ cause }: StoreUnavailable): boolean => isSqlError(cause) && isAboutData(cause)

const failed = storeUnavailable

/** Decodes one answer; a malformed one fails its own call only. */
const decoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, operation: string) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (row: unknown): Result.Result<S["Type"], StoreUnavailable> =>
    Result.mapError(decode(row), failed(operation))
}

const toExit = <A>(result: Result.Result<A, StoreUnavailable>): Exit.Exit<A, StoreUnavailable> =>
  Result.isSuccess(result) ? Exit.succeed(result.success) : Exit.fail(result.failure)

/** Puts the answers of a batch into the order of its items by their `ordinal`, counted from 1. */
const inOrder = <A>(
  rows: ReadonlyArray<object>,
  count: number,
  operation: string,
  decode: (row: object, index: number) => Result.Result<A, StoreUnavailable>
): ReadonlyArray<Exit.Exit<A, StoreUnavailable>> => {
  const exits = Array.from({ length: count }, (): Exit.Exit<A, StoreUnavailable> | undefined => undefined)
  for (const row of rows) {
    if (hasOrdinal(row) && row.ordinal >= 1 && row.ordinal <= count) {
      exits[row.ordinal - 1] = toExit(decode(row, row.ordinal - 1))
    }
  }
  // Made only where it is needed: an error captures its stack when it is made.
  return exits.map((exit) => exit ?? Exit.fail(failed(operation)("the database did not answer this entry")))
}

const toDecision = (
  row: typeof Began.Type,
  requested: Provider
): Result.Result<BeganSend, StoreUnavailable> => {
  const { suppressions } = row
  switch (row.decision) {
    case "Claimed":
      return Result.succeed({
        suppressions,
        decision: {
          _tag: "Claimed",
          sticky: row.sticky ?? undefined,
          takeover: row.takeover,
          firstAttemptAt: Math.floor(row.first_attempt_at)
        },
        evidence:
          row.evidence === null
            ? undefined
            : { provider: row.sticky ?? requested, providerMessageId: row.evidence }
      })
    case "Replay":
      return row.result === null
        ? Result.fail(failed("begin")("a replay without a result"))
        : Result.succeed({
            suppressions,
            decision: { _tag: "Replay", result: row.result },
            evidence: undefined
          })
    case "Conflict":
    case "InProgress":
      return Result.succeed({ suppressions, decision: { _tag: row.decision }, evidence: undefined })
  }
}

/** The entry of `record_email_sends`. */
export const toEntry = ({ details, ...entry }: RecordSend) => ({
  id: entry.rowId,
  category: details.category,
  source: details.source,
  from: details.from,
  to: details.to,
  others: details.others,
  dropped: details.dropped,
  subject: details.subject,
  outcome: entry.outcome,
  error: entry.error,
  error_kind: entry.errorKind,
  failed_over: entry.failedOver,
  cost_usd: entry.outcome === "deferred" ? null : entry.costUsd,
  accepted_cost_usd: entry.outcome === "deferred" ? entry.costUsd : null,
  idempotency_key: details.idempotencyKey,
  key_hash: details.keyHash,
  provider: entry.provider,
  provider_message_id: entry.providerMessageId,
  settle: entry.settle
})

type ClaimedBegin = BeginSend & { readonly claim: ClaimEntry }

const make = Effect.gen(function* () {
  const read = yield* ReadSql
  const write = yield* WriteSql

  const quickly = <A>(operation: string, statement: Effect.Effect<A, SqlError>) =>
    answered(Effect.retry(statement, { schedule: QUICK_RETRIES, while: isTransient })).pipe(
      Effect.mapError(failed(operation))
    )

  const decodeFound = decoder(Schema.Tuple([Schema.Struct({ found: Suppressions })]), "begin")
  const lookUp = yield* makeBatcher<ReadonlyArray<string>, ReadonlyArray<Suppression>, StoreUnavailable>({
    isAboutItem,
    onOverflow: () => failed("begin")("too many look-ups wait"),
    run: (items) => {
      const addresses = [...new Set(items.flat())].map(storable)
      return quickly("begin", read`select email_suppressions_of(${addresses}::text[]) as found`).pipe(
        Effect.flatMap((rows) => Effect.fromResult(decodeFound(rows))),
        Effect.map(([{ found }]) =>
          items.map((wanted) =>
            Exit.succeed(found.length === 0 ? found : found.filter(({ email }) => wanted.includes(email)))
          )
        )
      )
    }
  })

  const decodeBegan = decoder(Began, "begin")
  const claim = yield* makeBatcher<ClaimedBegin, BeganSend, StoreUnavailable>({
    isAboutItem,
    onOverflow: () => failed("begin")("too many claims wait"),
    run: (items) => {
      const entries = items.map((entry) => ({
        key_hash: entry.keyHash,
        addresses: entry.addresses,
        payload_hash: entry.claim.payloadHash,
        provider: entry.claim.provider,
        owner: entry.claim.owner,
        lease_ms: entry.claim.leaseMs
      }))
      return quickly("begin", write`select * from begin_email_sends(${toJsonText(entries)}::jsonb)`).pipe(
        Effect.map((rows) =>
          inOrder(rows, items.length, "begin", (row, index) =>
            Result.flatMap(decodeBegan(row), (began) => toDecision(began, items[index]!.claim.provider))
          )
        )
      )
    }
  })

  const decodeRecorded = decoder(Recorded, "record")
  const record = yield* makeBatcher<RecordSend, RecordedSend, StoreUnavailable>({
    isAboutItem,
    onOverflow: () => failed("record")("too many rows wait to be written"),
    run: (items) =>
      answered(write`select * from record_email_sends(${toJsonText(items.map(toEntry))}::jsonb)`).pipe(
        Effect.retry({ schedule: ROW_RETRIES, while: isTransient }),
        Effect.mapError(failed("record")),
        Effect.map((rows) =>
          inOrder(rows, items.length, "record", (row) =>
            Result.map(decodeRecorded(row), (one) => ({
              sendId: one.send_id,
              status: one.status,
              providerMessageId: one.provider_message_id
            }))
          )
        )
      )
  })

  const one = <S extends Schema.ConstraintDecoder<unknown>>(
    schema: S,
    operation: string,
    statement: Effect.Effect<ReadonlyArray<object>, SqlError>
  ) => {
    const decode = decoder(schema, operation)
    return quickly(operation, statement).pipe(Effect.flatMap((rows) => Effect.fromResult(decode(rows[0]))))
  }

  const unclaimed = (now: number, suppressions: ReadonlyArray<Suppression>): BeganSend => ({
    suppressions,
    decision: { _tag: "Claimed", sticky: undefined, takeover: false, firstAttemptAt: now },
    evidence: undefined
  })

  return MailStore.of({
    configured: true,
    begin: (entry) =>
      entry.claim === undefined
        ? Effect.clockWith((clock) => {
            const now = clock.currentTimeMillisUnsafe()
            return Effect.map(lookUp(entry.addresses), (found) => unclaimed(now, found))
          })
        : claim({ ...entry, claim: entry.claim }),
    moveClaim: ({ keyHash, owner, provider }) =>
      Effect.map(
        one(Moved, "moveClaim", write`select move_email_claim(${keyHash}, ${owner}, ${provider}) as moved`),
        ({ moved }) => moved
      ),
    findEvidence: ({ keyHash, provider }) =>
      Effect.map(
        one(Evidence, "findEvidence", read`select find_email_evidence(${keyHash}, ${provider}) as evidence`),
        ({ evidence }) => (evidence === null ? undefined : { provider, providerMessageId: evidence })
      ),
    beginRetry: (entry) => {
      const { keyHash, leaseMs, rowId, ...rest } = entry
      const asked = toJsonText({ ...rest, key_hash: keyHash, row_id: rowId, lease_ms: leaseMs })
      return Effect.flatMap(
        one(Retry, "beginRetry", write`select * from begin_email_retry(${asked}::jsonb)`),
        (row): Effect.Effect<BeganRetry, StoreUnavailable> => {
          switch (row.decision) {
            case "Go":
              return Effect.succeed({ _tag: "Go", suppressions: row.suppressions })
            case "Settled":
              return row.evidence === null
                ? Effect.fail(failed("beginRetry")("settled without evidence"))
                : Effect.succeed({
                    _tag: "Settled",
                    evidence: { provider: entry.provider, providerMessageId: row.evidence }
                  })
            case "Recorded":
            case "Busy":
              return Effect.succeed({ _tag: row.decision })
          }
        }
      )
    },
    record
  })
})

/**
 * The mail store on PostgreSQL. Look-ups, claims and rows are batched, each with two calls under way at most. Writing a
 * row is retried for about half a minute while the database is away, also after its caller stopped waiting.
 */
export const layer: Layer.Layer<MailStore, never, ReadSql | WriteSql> = Layer.effect(MailStore, make)
