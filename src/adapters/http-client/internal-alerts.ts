import { Data, Effect, Layer, Redacted, Schema } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { Alerts, type AlertOutcome } from "../../application/delivery/alerts.ts"
import { boundedBody, MAX_ANSWER } from "../../domain/bounded-body.ts"
import { CHANNEL_NAMES } from "../../domain/delivery/alert-policy.ts"
import type { FailedSend } from "../../domain/delivery/delivery-event.ts"

/** Where alerts are posted to. */
interface InternalAlertOptions {
  /** `INTERNAL_ALERT_URL`, that is `{BASE_URL}/internal/email-alert`. */
  readonly url: string | undefined
  /** `PROXY_SHARED_SECRET`. */
  readonly proxySecret: Redacted.Redacted | undefined
}

/** A provider waits some 15 seconds for the answer to its webhook. */
const ANSWER_WITHIN = "12 seconds"

class PostFailed extends Data.TaggedError("PostFailed")<{ readonly why: string }> {}

const FAILED: AlertOutcome = { delivery: "failed", escalated: undefined }
const UNCONFIGURED: AlertOutcome = { delivery: "unconfigured", escalated: undefined }

const decodeTaken = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      delivery: Schema.Literals(["delivered", "disabled"]),
      escalated: Schema.optionalKey(Schema.Literal("telegram")),
      lacks: Schema.optionalKey(
        Schema.Struct({
          taken: Schema.Array(Schema.String),
          missing: Schema.Array(Schema.Literals(CHANNEL_NAMES))
        })
      )
    })
  )
)
const decodeProblem = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ code: Schema.String }))
)

/** What the alert route's answer means (EVENT-21); a proxy's page is a failure. */
const outcomeOf = (status: number, body: string): AlertOutcome => {
  if (status === 200) {
    const taken = decodeTaken(body)
    if (taken._tag === "Some") {
      const { delivery, escalated, lacks } = taken.value
      return { delivery, escalated, ...(lacks === undefined ? {} : { lacks }) }
    }
  }
  const unconfigured =
    status === 503 &&
    decodeProblem(body).pipe((problem) =>
      problem._tag === "Some" ? problem.value.code === "ALERT_CHANNEL_UNCONFIGURED" : false
    )
  return unconfigured ? UNCONFIGURED : FAILED
}

const post = (url: string, secret: Redacted.Redacted, failed: FailedSend) =>
  withDeadline(
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", "x-proxy-secret": Redacted.value(secret) },
          body: JSON.stringify(failed),
          // A redirect would carry the secret elsewhere.
          redirect: "manual",
          signal
        })
        const body = boundedBody(MAX_ANSWER)
        for await (const chunk of response.body ?? []) body.add(chunk)
        return { status: response.status, body: body.text() }
      },
      catch: () => new PostFailed({ why: "no connection" })
    }),
    {
      duration: ANSWER_WITHIN,
      onTimeout: () => Effect.fail(new PostFailed({ why: `no answer within ${ANSWER_WITHIN}` }))
    }
  )

/** Alerts by way of the API: for functions that run where there is no mailer and no chat. */
export const layer = ({ proxySecret, url }: InternalAlertOptions): Layer.Layer<Alerts> =>
  Layer.succeed(
    Alerts,
    Alerts.of({
      raise: (failed) => {
        const about = { sendId: failed.sendId, provider: failed.provider, event: failed.event }
        if (url === undefined || proxySecret === undefined) {
          const missing = url === undefined ? "INTERNAL_ALERT_URL" : "PROXY_SHARED_SECRET"
          return Effect.as(Effect.logError(`an alert was not delivered: set ${missing}`, about), UNCONFIGURED)
        }
        return post(url, proxySecret, failed).pipe(
          Effect.tap(({ body, status }) =>
            outcomeOf(status, body).delivery === "failed"
              ? Effect.logError("the API refused an alert: it is raised again by the leader's sweep", {
                  ...about,
                  status
                })
              : Effect.void
          ),
          Effect.map(({ body, status }) => outcomeOf(status, body)),
          Effect.catch(({ why }) =>
            Effect.as(
              Effect.logError("the API refused an alert: it is raised again by the leader's sweep", {
                ...about,
                why
              }),
              FAILED
            )
          )
        )
      }
    })
  )
