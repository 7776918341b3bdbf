import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

import { AuditDigest } from "../../../domain/delivery/audit-digest.ts"
import { Api } from "../api/api.ts"
import { digestAnswer } from "../digest-answer.ts"

/** `POST /functions/v1/audit-digest`. */
export const digestHandlers = HttpApiBuilder.group(
  Api,
  "digest",
  Effect.fnUntraced(function* (handlers) {
    const digest = yield* AuditDigest
    return handlers.handleRaw("auditDigest", ({ query }) => digestAnswer(digest, query.cadence))
  })
)
