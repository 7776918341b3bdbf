import { Data, Effect } from "effect"

import { withDeadline } from "../../domain/deadline.ts"

/** How long one call may take, milliseconds. */
export const DEADLINE_MS = 45_000

/** No whole answer came. `sent`: the request may have arrived. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{
  readonly message: string
  readonly sent: boolean
}> {}

/** Failures of `fetch` that come before a byte of the request has left. */
const NOT_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_/

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
        return { status: response.status, body: await response.text() }
      },
      catch: (cause) => {
        const code = codeOf(cause)
        return new NoAnswer({ message: `the connection failed ${code}`.trim(), sent: !NOT_SENT.test(code) })
      }
    }),
    {
      duration: DEADLINE_MS,
      onTimeout: () =>
        Effect.fail(new NoAnswer({ message: `no answer within ${DEADLINE_MS} ms`, sent: true }))
    }
  )
