import { Schema, Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi, HttpApiBuilder } from "effect/http-api"

import { AuditDigest } from "../../../../application/delivery/audit-digest.ts"
import { DIGEST_CADENCES } from "../../../../domain/delivery/audit-digest-period.ts"
import { ProxySecret } from "../../server/access.ts"
import { apiOf } from "../../server/endpoint.ts"
import { InvalidRequest, problemSchema } from "../../server/problem.ts"
import { digestAnswer } from "./function-answers.ts"

const counts = { sent: Schema.Int, suppressed: Schema.Int, failed: Schema.Int }

/** The digest's function (EVENT-50), called by cron. */
export class DigestGroup extends HttpApiGroup.make("digest")
  .add(
    HttpApiEndpoint.post("auditDigest", "/functions/v1/audit-digest", {
      query: { cadence: Schema.Literals(DIGEST_CADENCES) },
      success: Schema.Struct({ ok: Schema.Literal(true), ...counts }).annotate({
        identifier: "AuditDigestAnswer"
      }),
      error: [
        InvalidRequest,
        problemSchema("INTERNAL", {}),
        problemSchema("DIGEST_FAILED", { ok: Schema.Literal(false), ...counts }),
        problemSchema("SHUTTING_DOWN", {})
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Sends the digest of the last period that is over",
        description:
          "Daily: the 24 hours up to 14:00 UTC; weekly: the 7 days up to Monday 14:00 UTC. The counts are of this call: run " +
          "again, it sends nothing twice and tries the failed ones again. 500 where INTERNAL_SEND_EMAIL_URL is unset, 502 where any failed."
      })
    )
  )
  .middleware(ProxySecret) {}

/** `POST /functions/v1/audit-digest`. */
export const digestHandlers = HttpApiBuilder.group(
  apiOf(DigestGroup),
  "digest",
  Effect.fnUntraced(function* (handlers) {
    const digest = yield* AuditDigest
    return handlers.handle("auditDigest", ({ query }) => digestAnswer(digest, query.cadence))
  })
)
