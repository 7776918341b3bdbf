import { Effect, Layer } from "effect"

import type { MailTemplate } from "../../../src/domain/mail/templates/template.ts"
import { MailTemplates } from "../../../src/ports/mail/mail-provider.ts"

/** Mails that show the data they are made from, and nothing else. */
export const plainTemplates: Layer.Layer<MailTemplates> = Layer.succeed(
  MailTemplates,
  MailTemplates.of({
    render: (template) =>
      Effect.succeed({ subject: template.kind, html: "<p>h</p>", text: JSON.stringify(template) })
  })
)

/** The data that a mail of {@link plainTemplates} was made from. */
export const shownData = (text: string | undefined): MailTemplate => JSON.parse(text ?? "")
