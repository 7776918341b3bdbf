import { Context, Effect, Layer } from "effect"

import {
  type ContactMessage,
  ContactMessages,
  type ContactMessagesUnavailable
} from "../../ports/contact-messages.ts"
import type { MailTemplates } from "../../ports/mail-templates.ts"
import type { Mailer } from "../mail/mailer.ts"
import type { MailTemplate } from "../mail/template.ts"
import { makeTell } from "./tell.ts"

/** What came of a message. `received`: it is stored. `notified`: a mail about it went out. */
export interface FormAnswer {
  readonly received: true
  readonly notified: boolean
}

/** The contact and the feedback form (document 1, `api:contact`, `api:feedback`). */
export class ContactForms extends Context.Service<
  ContactForms,
  {
    /** Fails only where the message could not be stored. */
    readonly receive: (message: ContactMessage) => Effect.Effect<FormAnswer, ContactMessagesUnavailable>
  }
>()("postlane/domain/ContactForms") {}

const mailOf = ({ email, kind, message, name, page, rating }: ContactMessage): MailTemplate =>
  kind === "contact"
    ? { kind, name: name ?? email ?? "", email: email ?? "", message }
    : { kind, email, rating, message, page }

/** Forms whose messages go to `alertEmail` (`ALERT_EMAIL`); without one they are stored only. */
export const layer = (options: {
  readonly alertEmail: string | undefined
}): Layer.Layer<ContactForms, never, ContactMessages | MailTemplates | Mailer> =>
  Layer.effect(
    ContactForms,
    Effect.gen(function* () {
      const messages = yield* ContactMessages
      const tell = yield* makeTell

      return ContactForms.of({
        receive: Effect.fnUntraced(function* (message) {
          const id = yield* messages.keep(message)
          if (message.spam) return { received: true, notified: false }
          const { email, kind } = message
          if (options.alertEmail === undefined) {
            yield* Effect.logWarning("a message of the contact form waits: ALERT_EMAIL is unset").pipe(
              Effect.annotateLogs({ id, kind })
            )
            return { received: true, notified: false }
          }
          const notified = yield* tell(mailOf(message), {
            to: options.alertEmail,
            category: "notification",
            source: `api:${kind}`,
            idempotencyKey: `${kind}:${id}`,
            ...(email === undefined ? {} : { replyTo: email })
          })
          if (notified) {
            yield* messages
              .notified(id)
              .pipe(
                Effect.catch(({ cause }) =>
                  Effect.logWarning("a message was mailed, which could not be noted", cause)
                )
              )
          }
          return { received: true, notified }
        })
      })
    })
  )
