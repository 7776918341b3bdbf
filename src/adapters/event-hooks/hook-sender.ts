import { Effect, Layer, Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import type { Pool } from "undici"

import { withDeadline } from "../../application/deadline.ts"
import { MAX_ANSWER_BYTES, RECEIPT_WITHIN_SECONDS } from "../../domain/delivery/event-hooks.ts"
import { type ClaimedDelivery, type HookAnswer, HookSender } from "../../ports/delivery/event-hooks.ts"
import { TimeForOthers } from "../../ports/test-time.ts"
import { makeAddressCheck, type Resolve, resolveName } from "./addresses.ts"
import { makeConnections } from "./connections.ts"

/** Headers of one try under the scheme: each secret signs, and the signatures are separated by one space. */
export const signedHeaders = (
  { body, messageId, secrets }: Pick<ClaimedDelivery, "body" | "messageId" | "secrets">,
  at: Date
): Readonly<Record<string, string>> => ({
  "webhook-id": messageId,
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": secrets
    .map((secret) => new Webhook(Redacted.value(secret)).sign(messageId, at, body))
    .join(" ")
})

interface Answered {
  status?: number
  readonly chunks: Array<Uint8Array>
}

/** What came of an answer before it ended or was cut off. */
const answerOf = ({ chunks, status }: Answered, error: string | undefined): HookAnswer => ({
  status,
  answer:
    status === undefined
      ? undefined
      : new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES)),
  error:
    status === undefined || (status >= 300 && status < 400)
      ? (error ?? "redirects are not followed")
      : undefined
})

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  return cause.message || cause.name
}

/** Posts, and reads the answer as far as it is kept; `answered` has what came so far at any time. */
const exchange = async (
  pool: Pool,
  request: { readonly url: URL; readonly headers: Readonly<Record<string, string>>; readonly body: string },
  answered: Answered,
  signal: AbortSignal
) => {
  const answer = await pool.request({
    method: "POST",
    path: request.url.pathname + request.url.search,
    headers: { ...request.headers, "content-type": "application/json", "user-agent": "Postlane" },
    body: request.body,
    signal
  })
  answered.status = answer.statusCode
  let read = 0
  // Leaving the loop closes the connection where the answer has not ended.
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    answered.chunks.push(chunk)
    read += chunk.length
    if (read >= MAX_ANSWER_BYTES) break
  }
}

/** How receivers are reached. */
interface HookSenderOptions {
  /** Networks that may be called though they are private (`EVENT_HOOK_PRIVATE_NETWORKS`). */
  readonly privateNetworks: ReadonlyArray<string>
  readonly resolve?: Resolve
}

/** Receivers over HTTP. Every try looks its host up, and connects to an address that it has checked; redirects are not followed. */
export const layer = ({
  privateNetworks,
  resolve = resolveName
}: HookSenderOptions): Layer.Layer<HookSender> =>
  Layer.effect(
    HookSender,
    Effect.gen(function* () {
      const check = makeAddressCheck(privateNetworks, resolve, "EVENT_HOOK_PRIVATE_NETWORKS can allow it")
      const { withPool } = yield* Effect.acquireRelease(Effect.sync(makeConnections), ({ close }) =>
        Effect.promise(close)
      )
      return HookSender.of({
        post: Effect.fnUntraced(function* ({ url: address, ...delivery }) {
          const at = new Date(yield* yield* TimeForOthers)
          const answered: Answered = { chunks: [] }
          const attempt = Effect.tryPromise({
            try: async (signal) => {
              const url = new URL(address)
              const request = { url, headers: signedHeaders(delivery, at), body: delivery.body }
              await withPool(url, await check(url.hostname), (pool) =>
                exchange(pool, request, answered, signal)
              )
            },
            catch: reasonOf
          }).pipe(
            Effect.as(undefined),
            Effect.catch((reason) => Effect.succeed(reason))
          )
          const error = yield* withDeadline(attempt, {
            duration: `${RECEIPT_WITHIN_SECONDS} seconds`,
            onTimeout: () => Effect.succeed(`no answer within ${RECEIPT_WITHIN_SECONDS} s`)
          })
          return answerOf(answered, error)
        })
      })
    })
  )
