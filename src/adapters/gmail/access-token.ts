import { Data, Effect, Clock, Redacted, Schema } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { boundedBody, MAX_ANSWER } from "../../domain/bounded-body.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { isUnsent } from "../../domain/mail/http-answer.ts"
import { ReplyFailure } from "../../ports/inbound/mails.ts"
import { ASSERTION_SECONDS, type ServiceAccount, signAssertion } from "./service-account.ts"

/** How long one call may take, milliseconds. */
export const DEADLINE_MS = 45_000

/** No whole answer came. `sent`: the request may have arrived. */
class NoAnswer extends Data.TaggedError("NoAnswer")<{
  readonly message: string
  readonly sent: boolean
}> {}

const codeOf = (cause: unknown): string => {
  const inner: unknown = cause instanceof Error ? (cause.cause ?? cause) : cause
  return typeof inner === "object" && inner !== null && "code" in inner ? String(inner.code) : ""
}

/** One request to the vendor, its answer as text. The error repeats nothing of the request. */
export const call = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
): Effect.Effect<{ readonly status: number; readonly body: string }, NoAnswer> =>
  withDeadline(
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(url, { ...init, redirect: "manual", signal })
        const body = boundedBody(MAX_ANSWER)
        for await (const chunk of response.body ?? []) body.add(chunk)
        return { status: response.status, body: body.text() }
      },
      catch: (cause) =>
        new NoAnswer({ message: `the connection failed ${codeOf(cause)}`.trim(), sent: !isUnsent(cause) })
    }),
    {
      duration: DEADLINE_MS,
      onTimeout: () =>
        Effect.fail(new NoAnswer({ message: `no answer within ${DEADLINE_MS} ms`, sent: true }))
    }
  )

/** The vendor's token endpoint. */
const VENDOR_AUTH_URL = "https://oauth2.googleapis.com/token"

/** A token is not used in the last minute of its time. */
const MARGIN_MS = 60_000

const Granted = Schema.fromJsonString(
  Schema.Struct({ access_token: Schema.NonEmptyString, expires_in: Schema.Finite })
)
const Refused = Schema.fromJsonString(
  Schema.Struct({ error: Schema.String, error_description: Schema.optionalKey(Schema.String) })
)

/** Access tokens of one mailbox, kept in memory for their time: up to 1 hour (INBOUND-13). */
export const makeAccessTokens = (options: {
  readonly account: ServiceAccount
  readonly mailbox: string
  readonly authUrl: string | undefined
}) => {
  const url = options.authUrl ?? options.account.tokenUri ?? VENDOR_AUTH_URL
  let kept: { readonly token: Redacted.Redacted; readonly until: number } | undefined

  const exchange = Effect.fnUntraced(function* (now: number) {
    const assertion = yield* Effect.tryPromise({
      try: () =>
        signAssertion(options.account, {
          mailbox: options.mailbox,
          audience: url,
          now: Math.floor(now / 1000)
        }),
      catch: () =>
        new ReplyFailure({ reason: "later", message: "workspace: the service account's key cannot sign" })
    })
    const { body, status } = yield* call(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion
      }).toString()
    }).pipe(
      // Nothing was sent: asking again does no harm.
      Effect.mapError(
        ({ message }) => new ReplyFailure({ reason: "later", message: `workspace token: ${message}` })
      )
    )
    const granted = Schema.decodeUnknownOption(Granted)(body)
    if (status === 200 && granted._tag === "Some") {
      const { access_token, expires_in } = granted.value
      const lives = Math.min(expires_in, ASSERTION_SECONDS) * 1000
      return { token: Redacted.make(access_token), until: now + lives - MARGIN_MS }
    }
    const refused = Schema.decodeUnknownOption(Refused)(body)
    const said =
      refused._tag === "Some" ? `${refused.value.error} ${refused.value.error_description ?? ""}` : "no token"
    // A delegation that is missing or a revoked key can be mended while replies wait.
    return yield* new ReplyFailure({
      reason: "later",
      message: failureText(`workspace token: ${status} ${said}`, [assertion])
    })
  })

  return {
    get: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (kept === undefined || kept.until <= now) kept = yield* exchange(now)
      return kept.token
    }),
    /** Forgets a token that was refused. */
    forget: Effect.sync(() => {
      kept = undefined
    })
  }
}
