import { Effect, Layer, Option, Redacted, Schema } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { boundedBody, MAX_ANSWER } from "../../domain/bounded-body.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { RelayFailed, SendRelay } from "../../ports/delivery/audit-digest-store.ts"

/** What the adapter is made from. */
interface SendRelayOptions {
  /** `INTERNAL_SEND_EMAIL_URL`; absent: not configured. */
  readonly url: string | undefined
  /** `PROXY_SHARED_SECRET`. */
  readonly secret: Redacted.Redacted | undefined
  /** Time limit of one call, milliseconds; 90,000 where absent: longer than the relay takes over two attempts. */
  readonly deadlineMs?: number | undefined
}

const DEADLINE_MS = 90_000

const Problem = Schema.fromJsonString(
  Schema.Struct({
    code: Schema.optionalKey(Schema.String),
    detail: Schema.optionalKey(Schema.String),
    kind: Schema.optionalKey(Schema.String)
  })
)
const decodeProblem = Schema.decodeUnknownOption(Problem)

/** Refusals that come before the relay looks at the mail, and so prove that it sent nothing. */
const REFUSALS = new Set([400, 401, 403, 404, 405, 413, 415])

/**
 * Whether an answer proves that nothing was sent: a refusal, or a failure of a kind that says so. A proxy's page, a conflict
 * and a call in progress prove nothing.
 */
const provesNothingSent = (status: number, problem: typeof Problem.Type | undefined): boolean =>
  REFUSALS.has(status) ||
  (problem?.code === "EMAIL_FAILED" && (problem.kind === "rejected" || problem.kind === "unavailable"))

const decodeNotOk = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ ok: Schema.Literal(false) }))
)
const PAGE = /^\s*</u

interface RelayAnswer {
  readonly status: number
  readonly said: string
  readonly problem: typeof Problem.Type | undefined
}

/** Whether the relay took the mail. A page says otherwise: another server at its address, or one in front of it, answers 200 too. */
const isTaken = ({ said, status }: RelayAnswer): boolean =>
  status >= 200 && status < 300 && !PAGE.test(said) && Option.isNone(decodeNotOk(said))

/** The relay over HTTP with `fetch`, which runs where there is no Node. */
export const makeSendRelay = (options: SendRelayOptions): SendRelay["Service"] => {
  const { url } = options
  if (url === undefined) {
    return SendRelay.of({
      configured: false,
      send: () => Effect.fail(new RelayFailed({ message: "INTERNAL_SEND_EMAIL_URL is unset", certain: true }))
    })
  }
  const secret = options.secret === undefined ? "" : Redacted.value(options.secret)
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS
  const failed = (message: string, certain: boolean) =>
    new RelayFailed({ message: `relay: ${failureText(message, [secret])}`, certain })

  const post = (body: object) =>
    Effect.tryPromise({
      try: async (signal): Promise<RelayAnswer> => {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", "x-proxy-secret": secret },
          body: JSON.stringify(body),
          // A redirect would carry the secret elsewhere.
          redirect: "manual",
          signal
        })
        const text = boundedBody(MAX_ANSWER)
        for await (const chunk of response.body ?? []) text.add(chunk)
        const { status } = response
        const said = text.text()
        const problem = status < 300 ? undefined : Option.getOrUndefined(decodeProblem(said))
        return { status, said, problem }
      },
      catch: () => failed("the connection failed", false)
    })

  return SendRelay.of({
    configured: true,
    send: (request) =>
      withDeadline(
        Effect.flatMap(post(request), (answer) =>
          // It certainly was not accepted, mostly since it came faster than providers take mail: it waits in the send queue, under its key.
          answer.problem?.code === "EMAIL_FAILED" && answer.problem.kind === "unavailable"
            ? Effect.map(post({ ...request, queue: true }), (queued) => (isTaken(queued) ? queued : answer))
            : Effect.succeed(answer)
        ),
        {
          duration: deadlineMs,
          onTimeout: () => Effect.fail(failed(`no answer within ${deadlineMs} ms`, false))
        }
      ).pipe(
        Effect.flatMap((answer) => {
          const { problem, status } = answer
          if (isTaken(answer)) return Effect.succeed("sent" as const)
          if (status === 422) return Effect.succeed("suppressed" as const)
          const detail =
            problem?.detail ??
            problem?.code ??
            "without an answer of the relay: look at INTERNAL_SEND_EMAIL_URL"
          return Effect.fail(failed(`${status} ${detail}`, provesNothingSent(status, problem)))
        })
      )
  })
}

export const layer = (options: SendRelayOptions): Layer.Layer<SendRelay> =>
  Layer.sync(SendRelay, () => makeSendRelay(options))
