import { tagOf } from "../../../domain/mail/deferred-send.ts"
import type { RecordSend } from "../../../ports/mail/mail-store.ts"
import { inSnakeCase } from "../column-names.ts"

/** The entry of `record_email_sends`: what the send says of itself, what became of it, and what is written in another way. */
export const toEntry = (send: RecordSend) => {
  const { costUsd, details, retryAt, rowId, settle, waitsForKey: _, ...end } = send
  const { keyHash, list: _list, ...said } = details
  const isDeferred = end.outcome === "deferred"
  return {
    ...inSnakeCase({ ...said, ...end }),
    id: rowId,
    cost_usd: isDeferred ? null : costUsd,
    accepted_cost_usd: isDeferred ? costUsd : null,
    key_hash: keyHash,
    key_tag: tagOf(details) ?? null,
    retry_at: retryAt === null ? null : new Date(retryAt),
    settle
  }
}
