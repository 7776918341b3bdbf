import { Effect } from "effect"

import type * as Refusal from "../../../../domain/mail/send-result.ts"
import { invalidRequest, problem } from "../../server/problem.ts"

/** What a send is refused for before it begins. */
export const sendRefusals = {
  InvalidRequest: ({ issues }: Refusal.InvalidRequest) => Effect.fail(invalidRequest(issues)),
  IdempotencyConflict: ({ message }: Refusal.IdempotencyConflict) =>
    Effect.fail(problem("IDEMPOTENCY_CONFLICT", message)),
  IdempotencyInProgress: ({ message }: Refusal.IdempotencyInProgress) =>
    Effect.fail(problem("IDEMPOTENCY_IN_PROGRESS", message)),
  ClaimUnavailable: ({ message }: Refusal.ClaimUnavailable) => Effect.fail(problem("UNAVAILABLE", message))
}
