import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"

import {
  SenderAccess,
  type SenderNotAllowed,
  type SenderTooFast
} from "../../../application/send-queue/sender-access.ts"
import type { SendRequest } from "../../../domain/mail/message.ts"
import type { SenderToken } from "../../../domain/mail/sender-token.ts"
import { networkOf } from "../../../domain/networks.ts"
import { bearerToken, secretCheck } from "./credentials.ts"
import {
  Forbidden,
  notAllowed,
  problem,
  problemResponse,
  problemSchema,
  SenderRefused,
  unavailable
} from "./problem.ts"
import { retryLater } from "./rate-limit.ts"

/** The caller of a route that sends: a sender token, or, undefined, somebody with the proxy secret, who may send anything. */
export class CurrentSender extends Context.Service<
  CurrentSender,
  { readonly token: SenderToken | undefined }
>()("postlane/http/CurrentSender") {}

const RateLimited = problemSchema("RATE_LIMITED", {})

/** Lets callers with the shared secret pass, and programs with a sender token (FRONT-2), before the body is read. */
export class MaySend extends HttpApiMiddleware.Service<MaySend, { provides: CurrentSender }>()(
  "postlane/http/MaySend",
  {
    security: {
      proxySecret: HttpApiSecurity.apiKey({ key: "x-proxy-secret", in: "header" }),
      senderToken: HttpApiSecurity.http({ scheme: "bearer" })
    },
    error: [
      Forbidden,
      SenderRefused,
      problemSchema("UNAUTHENTICATED", {}),
      RateLimited,
      problemSchema("UNAVAILABLE", {})
    ]
  }
) {}

const unknownToken = problem("UNAUTHENTICATED", "The sender token is unknown or revoked")
const away = unavailable("a sender token cannot be looked up", "Sender tokens cannot be looked up now")

const tooFast = ({ message, retryAfterSeconds }: SenderTooFast) =>
  retryLater(problem("RATE_LIMITED", message), retryAfterSeconds)

/** What a mail is refused for because of its token. */
export const senderRefusals = {
  SenderNotAllowed: ({ issues }: SenderNotAllowed) => Effect.fail(notAllowed(issues)),
  SenderTooFast: tooFast
}

/** The network of a caller, by which wrong tokens are counted. */
export const networkOfCaller = ({ remoteAddress }: HttpServerRequest.HttpServerRequest): string =>
  networkOf(Option.getOrElse(remoteAddress, () => ""))

/** Whether the settings name a provider: `EMAIL_PRIMARY=none` is for documents alone. */
export class SendsMail extends Context.Service<SendsMail, boolean>()("postlane/http/SendsMail") {}

export const NoProvider = problemSchema("PROVIDER_NOT_CONFIGURED", {})
const noProvider = problem(
  "PROVIDER_NOT_CONFIGURED",
  "EMAIL_PRIMARY is none here: no mail goes out, and nothing was sent"
)

/** For handlers as they are built: what refuses mail where no provider takes any. */
export const makeGoesOut = Effect.map(SendsMail, (sends) => (sends ? Effect.void : Effect.fail(noProvider)))

/** A caller in the terms of the queue: whether it may send these mails, which takes them of its rate, and by which token. */
export const makeCaller = Effect.map(SenderAccess, (access) => ({ token }: CurrentSender["Service"]) => ({
  allow: (mails: ReadonlyArray<SendRequest>): Effect.Effect<void, SenderNotAllowed | SenderTooFast> =>
    token === undefined
      ? Effect.void
      : Effect.andThen(access.allow(token, mails), access.take(token, mails.length)),
  sender: token?.id
}))

/** 403 for a wrong or missing `x-proxy-secret` without a token, 401 for an unknown token. */
export const maySendLayer = (
  secret: Redacted.Redacted | undefined
): Layer.Layer<MaySend, never, SenderAccess> => {
  const check = secretCheck(secret)
  return Layer.effect(
    MaySend,
    Effect.map(SenderAccess, (access) => {
      const caller = Effect.fnUntraced(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (check(request.headers["x-proxy-secret"])) return { token: undefined }
        const text = bearerToken(request.headers["authorization"])
        if (text === undefined) {
          return yield* Effect.fail(
            problem(
              "FORBIDDEN",
              "The header x-proxy-secret is missing or wrong, and there is no sender token (Authorization: Bearer)"
            )
          )
        }
        const token = yield* access.identify(text, networkOfCaller(request)).pipe(
          Effect.catchTags({
            UnknownSender: () => Effect.fail(unknownToken),
            SenderTooFast: tooFast,
            StoreUnavailable: away
          })
        )
        return { token }
      })
      type Scheme = MaySend["Service"]["proxySecret"]
      // Both schemes at once: the answer depends on which of the two a request has.
      const pass: Scheme = (handler) =>
        Effect.matchEffect(caller(), {
          onFailure: (refused) => Effect.succeed(problemResponse(refused)),
          onSuccess: (sender) => Effect.provideService(handler, CurrentSender, sender)
        })
      return MaySend.of({ proxySecret: pass, senderToken: pass })
    })
  )
}
