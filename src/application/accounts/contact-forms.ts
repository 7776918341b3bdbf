import { Context, Effect, Layer } from "effect"

import type { MailTemplate } from "../../domain/mail/templates/template.ts"
import { type ContactMessage, ContactMessages } from "../../ports/accounts/accounts.ts"
import type { Deferrals } from "../../ports/mail/deferrals.ts"
import type { MailTemplates } from "../../ports/mail/mail-provider.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import type { Mailer } from "../mail/mailer.ts"
import type { SentOnce } from "../mail/send-once.ts"
import { isOk, makeProductMail } from "./product-mail.ts"

/** How often messages that wait for their notification are looked for, in one process at a time. */
export const CONTACT_SWEEP_INTERVAL = "1 minute"

/** The outcome of a message. `received`: it is stored. `notified`: a mail about it went out, or its retry is queued. */
interface FormAnswer {
  readonly received: true
  readonly notified: boolean
}

/** The contact and the feedback form (DOC-53). */
export class ContactForms extends Context.Service<
  ContactForms,
  {
    /** Fails only where the message could not be stored. */
    readonly receive: (message: ContactMessage) => Effect.Effect<FormAnswer, StoreUnavailable>
    /**
     * Sends the notifications that are due: those that did not go out when their message came in, and those with a deferral that
     * ended without a mail. Returns how many went out.
     */
    readonly sweep: Effect.Effect<number, StoreUnavailable>
  }
>()("postlane/application/ContactForms") {}

const mailOf = ({ email, kind, message, name, page, rating }: ContactMessage): MailTemplate =>
  kind === "contact"
    ? { kind, name: name ?? email ?? "", email: email ?? "", message }
    : { kind, email, rating, message, page }

/** Contact forms. Messages go to `alertEmail` (`ALERT_EMAIL`); while it is unset, they are stored and wait. */
export const layer = (options: {
  readonly alertEmail: string | undefined
}): Layer.Layer<ContactForms, never, ContactMessages | Deferrals | MailTemplates | Mailer> =>
  Layer.effect(
    ContactForms,
    Effect.gen(function* () {
      const messages = yield* ContactMessages
      const sendMail = yield* makeProductMail
      const { alertEmail } = options

      /** Every attempt uses the same key, so that a message is mailed once. */
      const notify = (id: string, message: ContactMessage, to: string) =>
        sendMail(mailOf(message), {
          to,
          category: "notification",
          source: `api:${message.kind}`,
          idempotencyKey: `${message.kind}:${id}`,
          ...(message.email === undefined ? {} : { replyTo: message.email })
        })

      /** A deferral is recorded when it has ended: until then the message waits, and the sweep checks again. */
      const recordEnd = (id: string, sent: SentOnce) => {
        switch (sent._tag) {
          case "Sent":
            return messages.notified(id)
          case "Deferred":
            return Effect.void
          case "Unsent":
            return messages.missed(id, sent.error)
        }
      }

      return ContactForms.of({
        receive: Effect.fnUntraced(function* (message) {
          const id = yield* messages.keep(message)
          if (message.spam) return { received: true, notified: false }
          if (alertEmail === undefined) {
            yield* Effect.logWarning("a message of the contact form waits: ALERT_EMAIL is unset").pipe(
              Effect.annotateLogs({ id, kind: message.kind })
            )
            return { received: true, notified: false }
          }
          const sent = yield* notify(id, message, alertEmail)
          yield* recordEnd(id, sent).pipe(
            Effect.catch(({ cause }) =>
              Effect.logWarning(
                "the outcome of a form's mail could not be recorded: the sweep checks again",
                cause
              )
            )
          )
          return { received: true, notified: isOk(sent) }
        }),
        sweep: Effect.gen(function* () {
          if (alertEmail === undefined) return 0
          let count = 0
          while (true) {
            const waiting = yield* messages.claimWaiting
            if (waiting === undefined) return count
            // An interruption waits until the outcome of a send under way is recorded.
            const sent = yield* notify(waiting.id, waiting.message, alertEmail).pipe(
              Effect.tap((end) => recordEnd(waiting.id, end)),
              Effect.uninterruptible
            )
            if (sent._tag === "Sent") count += 1
          }
        })
      })
    })
  )
