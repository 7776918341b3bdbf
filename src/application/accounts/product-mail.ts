import { Effect } from "effect"

import type { Category } from "../../domain/mail/suppression/policy.ts"
import type { MailTemplate } from "../../domain/mail/templates/template.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { Mailer } from "../mail/mailer.ts"
import { makeSendOnce, makeSendOne, type SentOnce } from "../mail/send-once.ts"

/** The envelope of a mail of the product: all but its text. */
interface Addressed {
  readonly to: string
  readonly category: Category
  /** `api:<name>`. */
  readonly source: `api:${string}`
  readonly replyTo?: string
  readonly idempotencyKey?: string
  /** ISO 8601: a retry that comes later is not sent. */
  readonly expiresAt?: string
  /** Where no provider takes it now, it waits in the send queue, and counts as a deferred one: many such mails may be asked for at once. */
  readonly mayWait?: boolean
}

/** Whether a caller may say that the mail was sent: only where the send's `ok` is true (MAIL-3). */
export const isOk = (sent: SentOnce): boolean => sent._tag !== "Unsent"

/**
 * Renders a mail and sends it; one that does not go out is logged. A repeated key sends again only where its mail did not
 * go out, also after a deferral.
 */
type SendProductMail = (mail: MailTemplate, addressed: Addressed) => Effect.Effect<SentOnce>

/** Makes {@link SendProductMail}, on the mailer in its context. */
export const makeProductMail: Effect.Effect<SendProductMail, never, Deferrals | Mailer | MailTemplates> =
  Effect.gen(function* () {
    const templates = yield* MailTemplates
    const sendOne = yield* makeSendOne
    const sendOnce = yield* makeSendOnce

    return Effect.fnUntraced(function* (mail, { idempotencyKey, mayWait = false, ...addressed }) {
      const request = Effect.map(templates.render(mail), (rendered) => ({ ...rendered, ...addressed }))
      const sent = yield* (
        idempotencyKey === undefined
          ? Effect.flatMap(request, (one) => sendOne(one, mayWait))
          : sendOnce(idempotencyKey, request, mayWait)
      ).pipe(
        Effect.catch((notBegun) =>
          Effect.succeed<SentOnce>({ _tag: "Unsent", error: notBegun.message, refused: false })
        )
      )
      if (sent._tag === "Unsent") {
        yield* Effect.logError("a mail did not go out").pipe(
          Effect.annotateLogs({ source: addressed.source, kind: mail.kind, error: sent.error })
        )
      }
      return sent
    })
  })
