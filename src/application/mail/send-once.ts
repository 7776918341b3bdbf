import { Effect } from "effect"

import type { SendRequest } from "../../domain/mail/message.ts"
import type { NotBegun, SendResult } from "../../domain/mail/send-result.ts"
import { Deferrals } from "../../ports/mail/deferrals.ts"
import { Mailer } from "./mailer.ts"
import { makeSendNowOrLater } from "./send-later.ts"

/** What became of a mail that has to go out once: a provider accepted it, its retries are under way, or it did not go out. */
export type SentOnce =
  | { readonly _tag: "Sent" }
  | { readonly _tag: "Deferred" }
  /** `refused`: the message or its recipient; another try ends alike. */
  | { readonly _tag: "Unsent"; readonly error: string; readonly refused: boolean }

/** What became of one call of the mailer. */
const sentOnce = (result: SendResult): SentOnce =>
  result.ok
    ? { _tag: result.status === "sent" ? "Sent" : "Deferred" }
    : {
        _tag: "Unsent",
        error: result.error,
        refused: result.status === "suppressed" || result.kind === "rejected"
      }

/** Makes one send: `mayWait`, in the send queue where no provider takes the mail now. */
export const makeSendOne: Effect.Effect<
  (request: SendRequest, mayWait: boolean) => Effect.Effect<SentOnce, NotBegun>,
  never,
  Mailer
> = Effect.gen(function* () {
  const { send } = yield* Mailer
  const sendNowOrLater = yield* makeSendNowOrLater
  return (request, mayWait) =>
    Effect.map(mayWait ? sendNowOrLater(request) : send(request), (result) =>
      result === undefined ? { _tag: "Deferred" } : sentOnce(result)
    )
})

/**
 * Sends a mail under a key until a provider has accepted it, however often it is called: a deferral that ended without a
 * mail is followed by a send under the next key (R3). `request` is prepared only where there is something to send.
 */
type SendOnce = <E, R>(
  key: string,
  request: Effect.Effect<Omit<SendRequest, "idempotencyKey">, E, R>,
  mayWait?: boolean
) => Effect.Effect<SentOnce, E | NotBegun, R>

/** Makes {@link SendOnce}. Where the log does not answer, the plain key is used, which the claims still remember. */
export const makeSendOnce: Effect.Effect<SendOnce, never, Deferrals | Mailer> = Effect.gen(function* () {
  const deferrals = yield* Deferrals
  const sendOne = yield* makeSendOne
  return Effect.fnUntraced(function* (key, request, mayWait = false) {
    const open = yield* deferrals.openKey(key).pipe(
      Effect.catch((error) =>
        Effect.as(
          Effect.logWarning(
            "the log does not say how an earlier deferral ended: its key is used again",
            error
          ),
          {
            key,
            state: "new" as const
          }
        )
      )
    )
    if (open.state === "sent") return { _tag: "Sent" } as const
    if (open.state === "deferred") return { _tag: "Deferred" } as const
    return yield* sendOne({ ...(yield* request), idempotencyKey: open.key }, mayWait)
  })
})

/** Why a mail cannot count as sent yet; undefined where a provider accepted it. A deferred one may still fail. */
export const notSent = (sent: SentOnce): string | undefined =>
  sent._tag === "Sent" ? undefined : sent._tag === "Deferred" ? "it waits for a retry" : sent.error
