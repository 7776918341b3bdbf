import { Clock, Context, Effect, Layer, Redacted } from "effect"

import { MAGIC_LINK_LIFETIME_SECONDS } from "../../domain/accounts/session.ts"
import { pathTo } from "../../domain/pages.ts"
import { MagicLinks } from "../../ports/accounts/access.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { Mailer } from "../mail/mailer.ts"

/** The answer to a claim. It does not reveal whether the address was known. */
interface PromoClaim {
  /** Whether a provider took the mail or its retry is queued; never true otherwise (MAIL-3). */
  readonly emailSent: boolean
  /** For the person who claimed. */
  readonly message: string
}

const MINUTES = MAGIC_LINK_LIFETIME_SECONDS / 60

const SENT = `We have sent you a link. It works once, within ${MINUTES} minutes.`
const DELAYED =
  `Your link may take some minutes to arrive. It works once, within ${MINUTES} minutes from now; ` +
  "if you do not have it by then, claim again."
const NOT_SENT =
  "Your claim is noted, but the mail with your link did not go out. Please request a link yourself: claim again in a few minutes."

/** The claim of a promotion, which mails a magic link (MAIL-3, DOC-52). */
export class PromoClaims extends Context.Service<
  PromoClaims,
  {
    /**
     * `email` is the address key of the link's owner; `to` is that address as it was written: the link goes there and
     * nowhere else. `undefined`: no such promotion.
     */
    readonly claim: (claim: {
      readonly promo: string
      readonly email: string
      readonly to: string
    }) => Effect.Effect<PromoClaim | undefined, StoreUnavailable>
  }
>()("postlane/application/PromoClaims") {}

/** Promo claims. Their links lead to `baseUrl`, which has no slash at its end. */
export const layer = (options: {
  readonly baseUrl: string
}): Layer.Layer<PromoClaims, never, MagicLinks | MailTemplates | Mailer> =>
  Layer.effect(
    PromoClaims,
    Effect.gen(function* () {
      const links = yield* MagicLinks
      const templates = yield* MailTemplates
      const mailer = yield* Mailer

      const sendLink = Effect.fnUntraced(
        function* (promo: string, to: string, token: Redacted.Redacted, expiresAt: number) {
          const mail = yield* templates.render({
            kind: "magic-link",
            promo,
            url: `${options.baseUrl}${pathTo.magicLink(Redacted.value(token))}`,
            minutes: MINUTES
          })
          return yield* mailer.send({
            ...mail,
            to,
            category: "auth",
            source: "api:promo",
            expiresAt: new Date(expiresAt).toISOString()
          })
        },
        Effect.catch((error) => Effect.succeed({ ok: false as const, error: error.message }))
      )

      return PromoClaims.of({
        claim: Effect.fnUntraced(function* ({ email, promo, to }) {
          const expiresAt = (yield* Clock.currentTimeMillis) + MAGIC_LINK_LIFETIME_SECONDS * 1000
          const token = yield* links.claim({ promo, email })
          if (token === undefined) return undefined
          const result = yield* sendLink(promo, to, token, expiresAt)
          if (result.ok) return { emailSent: true, message: result.status === "sent" ? SENT : DELAYED }
          yield* Effect.logError("a magic link was not mailed: the page asks the person to try again").pipe(
            Effect.annotateLogs({ promo, error: result.error })
          )
          return { emailSent: false, message: NOT_SENT }
        })
      })
    })
  )
