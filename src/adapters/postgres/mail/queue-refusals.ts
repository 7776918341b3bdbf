import {
  IdempotencyConflict,
  IdempotencyInProgress,
  InvalidRequest
} from "../../../domain/mail/send-result.ts"
import { QueueRefused } from "../../../ports/mail/send-queue.ts"

const WHY: ReadonlyMap<string, QueueRefused["why"]> = new Map([
  ["22023", "invalid"],
  ["54000", "too large"],
  ["23505", "conflict"],
  ["55P03", "in progress"]
])

/** What the functions that queue mail raised; undefined where the error is another one. */
export const refusalOf = (sqlState: string, message: string): QueueRefused | undefined => {
  const why = WHY.get(sqlState)
  return why === undefined ? undefined : new QueueRefused({ why, message })
}

/** A refusal as the error of the same kind that a mail gets which is sent at once. */
export const asNotBegun = (
  refused: QueueRefused,
  request: { readonly idempotencyKey?: string | undefined }
): InvalidRequest | IdempotencyConflict | IdempotencyInProgress => {
  switch (refused.why) {
    case "invalid":
    case "too large":
      return new InvalidRequest({ issues: [refused.issue] })
    case "conflict":
      return new IdempotencyConflict({ idempotencyKey: request.idempotencyKey ?? "" })
    case "in progress":
      return new IdempotencyInProgress({ idempotencyKey: request.idempotencyKey ?? "" })
  }
}
