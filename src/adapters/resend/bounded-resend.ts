import { Resend, type Response as ResendResponse } from "resend"

import { boundedBody, MAX_ANSWER, MAX_SEND_ANSWER } from "../../domain/bounded-body.ts"
import type { Fetch, TransportAnswer, TransportRequest } from "../../ports/mail/transport.ts"

/** The vendor's answer, before its body is read. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: TransportAnswer["body"]
}

/** Options of a request that brings what makes it; the SDK passes them on. */
export const hasFetch = (options: object): options is TransportRequest & { readonly fetch: Fetch } =>
  "fetch" in options

/** The SDK's message where an answer is not JSON. */
const notJson = (statusCode: number) => ({
  name: "application_error" as const,
  statusCode,
  message: "The answer is not JSON"
})

/** Statuses that may prove that nothing was accepted. */
const mayProve = (status: number): boolean =>
  status === 503 || (status >= 400 && status < 500 && status !== 408)

/**
 * A JSON error with its status, which the SDK's own transport does not return where the body lacks it. Where body and answer differ,
 * the one that proves less: a gateway may have put its own status on the body, or another body under the status.
 */
const withStatus = (error: unknown, status: number): object => {
  if (typeof error !== "object" || error === null || Array.isArray(error)) return notJson(status)
  const named = "statusCode" in error ? error.statusCode : undefined
  const isNamed = typeof named === "number" && (mayProve(status) || !mayProve(named))
  return { ...error, statusCode: isNamed ? named : status }
}

/** Where a name has several addresses, their errors come as one with an empty message. */
const reasonOf = (cause: unknown): string => {
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(reasonOf).join("; ")
  const inner = cause instanceof TypeError && cause.cause !== undefined ? cause.cause : cause
  return inner instanceof Error && inner.message !== "" ? inner.message : "the request did not get through"
}

/** The SDK's error for a missing answer, with the reason instead of its text. */
const noAnswer = (cause: unknown) => ({
  name: "application_error" as const,
  statusCode: null,
  message: reasonOf(cause)
})

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The SDK with a transport that reads every answer to a bound. Answers and failures are reported as by the SDK's
 * `fetchRequest` (6.38.0), with an error's status also where its body lacks it, and with the reason why there is no answer. No redirect
 * is followed.
 */
export class BoundedResend extends Resend {
  protected readonly origin: string

  constructor(key: string, options: { readonly baseUrl: string; readonly userAgent: string }) {
    super(key, options)
    this.origin = options.baseUrl
  }

  protected async exchange(path: string, options: object): Promise<RawAnswer> {
    const answer = hasFetch(options)
      ? await options.fetch(this.origin + path, options)
      : await fetch(this.origin + path, { redirect: "manual", ...options })
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: answer.body }
  }

  override async fetchRequest<T>(path: string, options: object = {}): Promise<ResendResponse<T>> {
    try {
      const { body, headers, status } = await this.exchange(path, options)
      const whole = boundedBody(path === "/emails" ? MAX_SEND_ANSWER : MAX_ANSWER)
      for await (const chunk of body ?? []) whole.add(chunk)
      const text = whole.text()
      // The SDK does not check the shape either; the adapter does.
      if (status >= 200 && status < 300) return { data: JSON.parse(text) as T, error: null, headers }
      const error = withStatus(jsonOf(text), status)
      return { data: null, error: error as ReturnType<typeof noAnswer>, headers }
    } catch (cause) {
      return { data: null, error: noAnswer(cause), headers: null }
    }
  }
}
