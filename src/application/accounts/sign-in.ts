import { Clock, Context, Data, Effect, Layer, Random, Redacted } from "effect"

import { MAGIC_LINK_LIFETIME_SECONDS } from "../../domain/accounts/session.ts"
import { pathTo } from "../../domain/pages.ts"
import { MagicLinks } from "../../ports/accounts/access.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { Mailer } from "../mail/mailer.ts"
import { makeProductMail } from "./product-mail.ts"

/** Requests for a link that wait or are worked on at once, in one process. */
export const MOST_UNDER_WAY = 500

/**
 * A request is worked on after a random part of this time, milliseconds: what the server does for an address that it knows
 * must not show in its answers to others.
 */
const PUT_OFF_MS = 3_000

/** Raised when the limit on concurrent sign-in requests is reached. */
class SignInsBusy extends Data.TaggedError("SignInsBusy") {}

/** Signs people in by mail (DOC-54). */
export class SignIn extends Context.Service<
  SignIn,
  {
    /**
     * Mails a link within some seconds, if the address is a customer's or an admin's. It answers before anything is looked
     * up, so that neither the answer nor its time says whether the address is known. `email` is the key of an address, `to` the
     * address as it was written; `browser` is the cookie of the browser that asked.
     */
    readonly request: (request: {
      readonly email: string
      readonly to: string
      readonly browser: string
      /** The page to open after the sign-in: a path of this server, or none. */
      readonly next: string | undefined
    }) => Effect.Effect<void, SignInsBusy>
  }
>()("postlane/application/SignIn") {}

/** Sign-ins. Their links lead to `baseUrl`, which has no slash at its end. */
export const layer = (options: {
  readonly baseUrl: string
  /** Tests shorten it, milliseconds. */
  readonly putOffMs?: number | undefined
}): Layer.Layer<SignIn, never, Deferrals | MagicLinks | MailTemplates | Mailer> =>
  Layer.effect(
    SignIn,
    Effect.gen(function* () {
      const links = yield* MagicLinks
      const sendMail = yield* makeProductMail
      const scope = yield* Effect.scope
      let underWay = 0

      const mailLink = Effect.fnUntraced(
        function* ({ browser, email, next, to }: Parameters<SignIn["Service"]["request"]>[0]) {
          const expiresAt = (yield* Clock.currentTimeMillis) + MAGIC_LINK_LIFETIME_SECONDS * 1000
          const link = yield* links.request({ email, browser })
          if (link === undefined) return
          yield* sendMail(
            {
              kind: "sign-in",
              url: `${options.baseUrl}${pathTo.magicLink(Redacted.value(link.token), next)}`,
              minutes: MAGIC_LINK_LIFETIME_SECONDS / 60
            },
            {
              to,
              category: "auth",
              source: "api:sign-in",
              idempotencyKey: `sign-in:${link.id}`,
              expiresAt: new Date(expiresAt).toISOString()
            }
          )
        },
        Effect.catch((error) =>
          Effect.logError(
            "a sign-in link could not be made: no mail goes out, and the person has to ask again",
            error
          )
        )
      )

      return SignIn.of({
        request: (request) =>
          Effect.suspend((): Effect.Effect<void, SignInsBusy> => {
            if (underWay >= MOST_UNDER_WAY) return Effect.fail(new SignInsBusy())
            underWay += 1
            const putOff = Effect.flatMap(Random.nextBetween(0, options.putOffMs ?? PUT_OFF_MS), Effect.sleep)
            const work = Effect.ensuring(
              Effect.andThen(putOff, mailLink(request)),
              Effect.sync(() => (underWay -= 1))
            )
            return Effect.asVoid(Effect.forkIn(work, scope))
          })
      })
    })
  )
