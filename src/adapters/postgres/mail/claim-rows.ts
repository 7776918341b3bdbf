import { Result, Schema } from "effect"

import { KeyTag } from "../../../domain/ids.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { SendResult } from "../../../domain/mail/send-result.ts"
import { BlockReason } from "../../../domain/mail/suppression/policy.ts"
import type {
  BeganRetry,
  BeganSend,
  BeginRetry,
  BeginSend,
  ClaimEntry
} from "../../../ports/mail/mail-store.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { decoder } from "../batch-answers.ts"
import { storeUnavailable } from "../statement.ts"
import { Absent } from "../values.ts"

export const Suppressions = Schema.Array(
  Schema.Struct({ email: Schema.String, reason: BlockReason, list: Schema.optionalKey(Schema.String) })
)

/** Milliseconds of the database's clock, with their fraction. */
export const Moment = Schema.Finite

/** The database's clock, as a column `at` of an answer. */
export const AT = "(extract(epoch from clock_timestamp()) * 1000)::float8 as at"

export const EvidenceRow = Schema.Struct({ provider: Provider, providerMessageId: Schema.String })

const Began = Schema.Struct({
  decision: Schema.Literals(["Claimed", "Replay", "Conflict", "InProgress"]),
  sticky: Absent(Provider),
  takeover: Schema.Boolean,
  late: Schema.Boolean,
  torn: Schema.Boolean,
  firstAttemptAt: Schema.Number,
  lastAttemptAt: Schema.Number,
  tag: Absent(KeyTag),
  result: Schema.NullOr(SendResult),
  evidence: Absent(EvidenceRow),
  leaving: Schema.Boolean,
  suppressions: Suppressions,
  at: Moment
})

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
          ...(row.result === null ? {} : { after: row.result.sendId }),
          late: row.late,
          ...(row.torn ? { torn: true as const } : {}),
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

export type ClaimedBegin = BeginSend & { readonly claim: ClaimEntry }

const decodeRow = decoder(Began, "begin")

/** What a begun send found, in the terms of the port. */
export const decodeBegan = (row: unknown): Result.Result<BeganSend, StoreUnavailable> =>
  Result.flatMap(decodeRow(row), toDecision)

/** An entry of `begin_email_sends`. */
export const claimEntryOf = ({ addresses, claim, keyHash }: ClaimedBegin) => ({
  key_hash: keyHash,
  addresses,
  payload_hash: claim.payloadHash,
  provider: claim.provider,
  owner: claim.owner,
  lease_ms: claim.leaseMs,
  tag: claim.tag,
  known: claim.known
})

export const RetryRow = Schema.Struct({
  decision: Schema.Literals(["Go", "Settled", "Recorded", "Busy"]),
  evidence: Absent(EvidenceRow),
  suppressions: Suppressions,
  firstAttemptAt: Schema.NullOr(Moment),
  lastAttemptAt: Schema.NullOr(Moment),
  torn: Schema.NullOr(Schema.Boolean),
  at: Moment
})

/** The look-up before a retry, in the terms of the port. */
export const toRetry = (row: typeof RetryRow.Type): Result.Result<BeganRetry, StoreUnavailable> => {
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

/** The entry of `begin_email_retry`. */
export const retryEntryOf = ({ ageMs, firstAttemptAt, keyHash, leaseMs, rowId, ...rest }: BeginRetry) => ({
  ...rest,
  key_hash: keyHash,
  first_attempt_at: firstAttemptAt,
  age_ms: ageMs,
  row_id: rowId,
  lease_ms: leaseMs
})
