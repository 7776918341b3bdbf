import { Clock, Effect, Redacted, Schema } from "effect"

import { failureText } from "../../domain/mail/failure-text.ts"
import { ReplyFailure } from "../../ports/reply-channel.ts"
import { call } from "./call.ts"
import { ASSERTION_SECONDS, type ServiceAccount, signAssertion } from "./service-account.ts"

/** The vendor's token endpoint. */
export const VENDOR_AUTH_URL = "https://oauth2.googleapis.com/token"

/** A token is not used in the last minute of its time. */
const MARGIN_MS = 60_000

const Granted = Schema.fromJsonString(
  Schema.Struct({ access_token: Schema.NonEmptyString, expires_in: Schema.Finite })
)
const Refused = Schema.fromJsonString(
  Schema.Struct({ error: Schema.String, error_description: Schema.optionalKey(Schema.String) })
)

/** Access tokens of one mailbox, kept in memory for their time: up to 1 hour (document 2, "Limits"). */
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
    // A delegation that is missing or a key that was taken back can be put right while replies wait.
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
