import { tagOf } from "../../../domain/mail/deferred-send.ts"
import type { RecordSend } from "../../../ports/mail/mail-store.ts"

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
  key_tag: tagOf(details) ?? null,
  provider: entry.provider,
  provider_message_id: entry.providerMessageId,
  retry_at: entry.retryAt === null ? null : new Date(entry.retryAt),
  attempts: entry.attempts,
  traceparent: details.traceparent,
  tags: details.tags,
  settle: entry.settle
})
