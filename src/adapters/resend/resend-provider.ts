import { Effect, Option, Redacted } from "effect"
import type { CreateEmailRequestOptions, Resend } from "resend"

import { answeredWith, asksServer } from "../../application/mail/attempt-span.ts"
import { fieldsOf, idOf } from "../../domain/delivery/untrusted.ts"
import { type FailureKind, failureText, noAnswer } from "../../domain/mail/failover.ts"
import {
  type Accepted,
  type MailProvider,
  ProviderFailure,
  type ProviderPace
} from "../../ports/mail/mail-provider.ts"
import { type Fetch, otherFetch } from "../../ports/mail/transport.ts"
import { BoundedResend } from "./bounded-resend.ts"
import { classifyResendError, KEY_IS_KNOWN, whyNoAnswer } from "./classify.ts"
import { paceOf } from "./pace.ts"
import { decodeBody, dropRecipients, isHeaderValue, payloadOf, prepareRequest } from "./request.ts"

/** What the adapter is made from. */
export interface ResendOptions {
  /** `PROVIDERA_API_KEY`. One that cannot be a bearer token makes every send `unavailable`. */
  readonly apiKey: Redacted.Redacted<string>
  /** `PROVIDERA_BASE_URL`; the vendor's where absent. */
  readonly baseUrl?: string | undefined
  /** `PROVIDERA_USER_AGENT`; `postlane` where absent. */
  readonly userAgent?: string | undefined
  /** A client with another transport than `fetch`. */
  readonly client?: ResendClient | undefined
}

/** The factory of clients. */
export type ResendClient = new (
  key: string,
  options: { readonly baseUrl: string; readonly userAgent: string }
) => Resend

/** The vendor's API. */
export const VENDOR_URL = "https://api.resend.com"
const BEARER_TOKEN = /^[\x21-\x7e]+$/

/**
 * `redirect` reaches `fetch` through the SDK, and so does another `fetch`. Following a redirect would turn the POST into a GET and read its answer as that of the send.
 */
type SendOptions = CreateEmailRequestOptions & { readonly redirect: "manual"; readonly fetch?: Fetch }

/**
 * The client, or `undefined` where the key cannot be used: the SDK would throw, its message holding the key, or take
 * `RESEND_API_KEY` for an empty one.
 */
export const makeClient = (
  apiKey: string,
  baseUrl: string,
  Client: ResendClient = BoundedResend,
  userAgent = "postlane"
): Resend | undefined => {
  if (!BEARER_TOKEN.test(apiKey)) return undefined
  const client = new Client(apiKey, { baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ""), userAgent })
  // RESEND_DEBUG=true makes the SDK print error bodies, which hold message data, to the console.
  Object.defineProperty(client, "debug", { value: false })
  return client
}

/**
 * `provider_a`: Resend through its SDK, on Node and on every runtime with `fetch`. The SDK neither retries nor times out;
 * an interruption aborts the request.
 */
export const makeResendProvider = (options: ResendOptions): MailProvider => {
  const apiKey = Redacted.value(options.apiKey)
  const address = options.baseUrl ?? VENDOR_URL
  const client = makeClient(apiKey, address, options.client, options.userAgent)

  const asks = asksServer(address)
  const failure = (kind: FailureKind, message: string, code?: string, pace?: ProviderPace) =>
    new ProviderFailure({
      ...(pace === undefined ? {} : { pace }),
      provider: "provider_a",
      kind,
      message: failureText(message, [apiKey]),
      code,
      ...(code === KEY_IS_KNOWN ? { knowsKey: true } : {})
    })

  const accepted = (answer: unknown): Effect.Effect<Accepted, ProviderFailure> => {
    const { data, error, headers } = Object(answer) as {
      readonly data?: unknown
      readonly error?: unknown
      readonly headers?: unknown
    }
    const pace = paceOf(headers, error)
    if (error !== null && error !== undefined) {
      const { kind, message, code } = classifyResendError(error)
      const cause = whyNoAnswer(error)
      const text =
        cause === undefined
          ? message
          : noAnswer("provider_a", { address, cause, settings: "PROVIDERA_BASE_URL" })
      return Effect.fail(failure(kind, text, code, pace))
    }
    const id = idOf(fieldsOf(data)["id"])
    return id !== undefined
      ? Effect.succeed(pace === undefined ? { messageId: id } : { messageId: id, pace })
      : Effect.fail(failure("ambiguous", "the provider answered without a message id"))
  }

  const send: MailProvider["send"] = (request) =>
    Effect.suspend(() => {
      if (client === undefined)
        return Effect.fail(failure("unavailable", "the API key is missing or malformed"))
      const body = Option.getOrUndefined(decodeBody(request.body))
      if (body === undefined || !isHeaderValue(request.key)) {
        return Effect.fail(failure("rejected", "the request is not one that this provider prepared"))
      }
      const ask = (fetch: Fetch | undefined) =>
        Effect.tryPromise({
          try: (signal) => {
            const by = fetch === undefined ? {} : { fetch }
            const sendOptions: SendOptions = {
              idempotencyKey: request.key,
              signal,
              redirect: "manual",
              ...by
            }
            return client.emails.send(payloadOf(body), sendOptions)
          },
          // The SDK returns its errors. One that it throws may come from before or after the request.
          catch: (cause) => failure("ambiguous", cause instanceof Error ? cause.message : "the SDK threw")
        })
      return Effect.flatMap(otherFetch, ask).pipe(
        Effect.tap(({ error }) => answeredWith(error === null ? 200 : error.statusCode)),
        Effect.flatMap(accepted),
        (asked) => Effect.andThen(asks, asked)
      )
    })

  return { provider: "provider_a", prepare: prepareRequest, withoutRecipients: dropRecipients, send }
}
