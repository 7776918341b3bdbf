import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"

import type { AuditDigest, DigestReport } from "../../../../application/delivery/audit-digest.ts"
import type { EventPoll, PollFailure, PollResult } from "../../../../application/delivery/poll.ts"
import { DIGEST_CADENCES } from "../../../../domain/delivery/audit-digest-period.ts"
import { invalidRequest, problem, problemResponse } from "../../server/problem.ts"

const digestResponse = (report: DigestReport) =>
  report.ok
    ? HttpServerResponse.text(JSON.stringify(report), { contentType: "application/json" })
    : problemResponse({
        ...problem("DIGEST_FAILED", `${report.failed} did not go out; run it again for those`),
        ...report
      })

/** The answer of `POST /functions/v1/audit-digest` to the query's cadence; the caller is already authorised. */
export const digestAnswer = (digest: AuditDigest["Service"], asked: string | null | undefined) => {
  const cadence = DIGEST_CADENCES.find((known) => known === asked)
  if (cadence === undefined) {
    return Effect.succeed(
      problemResponse(invalidRequest([{ path: "cadence", message: "is neither daily nor weekly" }]))
    )
  }
  return digest.run({ cadence }).pipe(
    Effect.map(digestResponse),
    Effect.catchTags({
      RelayUnconfigured: () =>
        Effect.succeed(problemResponse(problem("INTERNAL", "INTERNAL_SEND_EMAIL_URL is unset"))),
      StoreUnavailable: (error) =>
        Effect.as(
          Effect.logError("the digests cannot be read", error),
          problemResponse({ ...problem("INTERNAL", "The digests cannot be read now"), retryable: true })
        )
    })
  )
}

const pollResponse = (result: PollResult) =>
  HttpServerResponse.text(JSON.stringify({ ok: !result.truncated, ...result }), {
    contentType: "application/json"
  })

const refusal = ({ cause, counts }: PollFailure) => {
  if (cause._tag !== "ListFailure") {
    return Effect.as(
      Effect.logError("the poll broke off: an event could not be recorded; the next run repeats it", cause),
      problemResponse({ ...problem("INTERNAL", "An event was not recorded; poll again"), retryable: true })
    )
  }
  const { kind, message } = cause
  return Effect.as(
    Effect.logWarning("the poll broke off", { kind, reason: message, ...counts }),
    problemResponse(
      kind === "unconfigured"
        ? problem("UNAVAILABLE", "PROVIDERA_API_KEY is unset or malformed: there is no list to read")
        : {
            ...problem("POLL_FAILED", `The provider's list could not be read (${kind}): ${message}`),
            ...counts
          }
    )
  )
}

/** Runs the poll once; the answer of `POST /functions/v1/provider-a-events-fetcher`. */
export const pollAnswer = (poll: EventPoll["Service"]) =>
  Effect.matchEffect(poll.run, {
    onSuccess: (result) => Effect.succeed(pollResponse(result)),
    onFailure: refusal
  })
