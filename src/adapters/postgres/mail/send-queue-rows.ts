import { Schema } from "effect"

import { IdempotencyKey, LeaseId, LogRowId, QueueId } from "../../../domain/ids.ts"
import { Attempt } from "../../../domain/mail/logged-attempt.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { QueueState } from "../../../domain/mail/queue.ts"
import { SendResult } from "../../../domain/mail/send-result.ts"
import { EmailStatus } from "../../../domain/mail/status.ts"
import { Category } from "../../../domain/mail/suppression/policy.ts"
import type { Taken, TakenMail } from "../../../ports/mail/send-queue.ts"
import { Absent, Millis, TextOrNull } from "../values.ts"

export const QueuedRow = Schema.Struct({
  id: QueueId,
  idempotencyKey: Schema.String,
  state: QueueState,
  sendAt: Millis
})

export const MailRow = Schema.Struct({
  ...QueuedRow.fields,
  attempts: Schema.Int,
  nextAttemptAt: Schema.NullOr(Millis),
  result: Schema.NullOr(SendResult),
  error: TextOrNull,
  createdAt: Millis,
  mail: Schema.Unknown,
  sender: TextOrNull
})

export const UpcomingRow = Schema.Struct({
  ...QueuedRow.fields,
  attempts: Schema.Int,
  nextAttemptAt: Schema.NullOr(Millis),
  error: TextOrNull,
  category: Category,
  to: Schema.Array(Schema.String),
  subject: Schema.String
})

export const TakenRow = Schema.Struct({
  nextMs: Absent(Schema.Finite),
  waitMs: Schema.NullOr(Schema.Finite),
  id: Schema.NullOr(QueueId),
  lease: Schema.NullOr(LeaseId),
  idempotencyKey: Schema.NullOr(IdempotencyKey),
  request: Schema.Unknown,
  deferral: Absent(Schema.String),
  tried: Schema.NullOr(Schema.Array(Attempt)),
  deaths: Schema.NullOr(Schema.Int),
  refusals: Schema.NullOr(Schema.Int),
  ageMs: Schema.NullOr(Schema.Finite),
  expiresInMs: Absent(Schema.Finite)
})

export const MovedRow = Schema.Struct({
  held: Schema.Boolean,
  sendId: Schema.NullOr(LogRowId),
  status: Schema.NullOr(EmailStatus),
  providerMessageId: TextOrNull
})

export const Overview = Schema.Struct({
  categories: Schema.Array(
    Schema.Struct({
      category: Category,
      due: Schema.Int,
      later: Schema.Int,
      sending: Schema.Int,
      deferred: Schema.Int,
      oldestDueAt: TextOrNull
    })
  ),
  paused: Schema.Array(
    Schema.Struct({ scope: Schema.String, actor: Schema.String, pausedAt: Schema.String })
  ),
  pace: Schema.Array(
    Schema.Struct({
      provider: Provider,
      ratePerSecond: Schema.NullOr(Schema.Finite),
      heldUntil: TextOrNull,
      taken: Schema.Int
    })
  )
})

/** What a sender took, and when the next request is due. */
export const toTaken = (rows: ReadonlyArray<typeof TakenRow.Type>): Taken => ({
  mails: rows.flatMap(
    ({
      ageMs,
      deaths,
      id,
      idempotencyKey,
      lease,
      refusals,
      tried,
      waitMs,
      ...row
    }): ReadonlyArray<TakenMail> =>
      id === null || lease === null || idempotencyKey === null
        ? []
        : [
            {
              id,
              lease,
              idempotencyKey,
              waitMs: waitMs ?? 0,
              request: row.request,
              deferral: row.deferral,
              tried: tried ?? [],
              deaths: deaths ?? 0,
              refusals: refusals ?? 0,
              ageMs: ageMs ?? 0,
              expiresInMs: row.expiresInMs
            }
          ]
  ),
  nextMs: rows.find(({ id }) => id === null)?.nextMs
})
