import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"

import { DIGEST_CADENCES } from "../../domain/delivery/audit-digest-period.ts"
import type { AuditDigest, DigestReport } from "../../domain/delivery/audit-digest.ts"
import { invalidRequest, problem, problemResponse } from "./problem.ts"

const answer = (report: DigestReport) =>
  report.ok
    ? HttpServerResponse.text(JSON.stringify(report), { contentType: "application/json" })
    : problemResponse({
        ...problem("DIGEST_FAILED", `${report.failed} did not go out; run it again for those`),
        ...report
      })

/** What `POST /functions/v1/audit-digest` answers to a cadence as the query has it; the caller is known. */
export const digestAnswer = (digest: AuditDigest["Service"], asked: string | null | undefined) => {
  const cadence = DIGEST_CADENCES.find((known) => known === asked)
  if (cadence === undefined) {
    return Effect.succeed(
      problemResponse(invalidRequest([{ path: "cadence", message: "is neither daily nor weekly" }]))
    )
  }
  return digest.run({ cadence }).pipe(
    Effect.map(answer),
    Effect.catchTags({
      RelayUnconfigured: () =>
        Effect.succeed(problemResponse(problem("INTERNAL", "INTERNAL_SEND_EMAIL_URL is unset"))),
      AuditDigestStoreError: (error) =>
        Effect.as(
          Effect.logError("the digests cannot be read", error.cause),
          problemResponse({ ...problem("INTERNAL", "The digests cannot be read now"), retryable: true })
        )
    })
  )
}
