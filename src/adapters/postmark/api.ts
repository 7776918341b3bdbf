import { Effect, Redacted } from "effect"

import { boundedBody, MAX_ANSWER, MAX_SEND_ANSWER } from "../../domain/bounded-body.ts"
import { isUnsent } from "../../domain/mail/http-answer.ts"
import { retryAfterMs } from "../../domain/mail/retry-after.ts"
import { type Fetch, otherFetch } from "../../ports/mail/transport.ts"

/** What the adapter is made from. */
export interface PostmarkOptions {
  /** `POSTMARK_SERVER_TOKEN`. One that cannot be a header makes every send `unavailable`. */
  readonly serverToken: Redacted.Redacted
  /** `POSTMARK_BASE_URL`; the vendor's where absent. */
  readonly baseUrl?: string | undefined
  /** `POSTMARK_MESSAGE_STREAM`: of all mail but marketing. */
  readonly messageStream: string
}

/** The vendor's API. */
const VENDOR_URL = "https://api.postmarkapp.com"
const HEADER_VALUE = /^[\x21-\x7e]+$/

export const addressOfApi = ({ baseUrl = VENDOR_URL }: PostmarkOptions): string =>
  baseUrl.replace(/(?<!\/)\/+$/, "")

/** Whether the token can be sent. `fetch` would throw one that cannot, in its message. */
export const isToken = (token: string): boolean => HEADER_VALUE.test(token)

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number
  /** Undefined where the whole body is no JSON. */
  readonly body: unknown
  /** `Retry-After`, milliseconds. */
  readonly retryAfterMs: number | undefined
}

/** There is no answer, or its body broke off. */
export interface NoAnswer {
  readonly why: string
  /** Nothing of the request left this machine: there was no connection. */
  readonly unsent: boolean
}

/** Where a name has several addresses, their errors come as one with an empty message. */
const reasonOf = (cause: unknown): string => {
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(reasonOf).join("; ")
  const inner = cause instanceof TypeError && cause.cause !== undefined ? cause.cause : cause
  if (inner instanceof AggregateError) return reasonOf(inner)
  return inner instanceof Error && inner.message !== "" ? inner.message : "the request did not get through"
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What is asked besides the path. */
interface Question {
  /** Of a POST, JSON; a GET has none. */
  readonly body?: string
  /** Limit on the answer. */
  readonly maxBytes?: number
}

/** One call. The answer is read to a bound. */
const call = (
  by: Fetch,
  options: PostmarkOptions,
  path: string,
  { body, maxBytes = body === undefined ? MAX_ANSWER : MAX_SEND_ANSWER }: Question
): Effect.Effect<Answer, NoAnswer> =>
  Effect.tryPromise({
    try: async (signal): Promise<Answer> => {
      const answer = await by(addressOfApi(options) + path, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          accept: "application/json",
          "x-postmark-server-token": Redacted.value(options.serverToken),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body }),
        redirect: "manual",
        signal
      })
      const whole = boundedBody(maxBytes)
      const { status, headers } = answer
      for await (const chunk of answer.body ?? []) whole.add(chunk)
      return {
        status,
        body: jsonOf(whole.text()),
        retryAfterMs: retryAfterMs(headers.get("retry-after"), headers.get("date"))
      }
    },
    catch: (cause): NoAnswer => ({ why: reasonOf(cause), unsent: isUnsent(cause) })
  })

/**
 * One call with the caller's `fetch`, or the runtime's, which does not retry a POST. No redirect is followed: it would turn the POST into
 * a GET and carry the token to another host. An interruption aborts it.
 */
export const ask = (
  options: PostmarkOptions,
  path: string,
  question: Question = {}
): Effect.Effect<Answer, NoAnswer> =>
  Effect.flatMap(otherFetch, (by = fetch as Fetch) => call(by, options, path, question))
