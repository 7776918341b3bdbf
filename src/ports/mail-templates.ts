import { Context, type Effect } from "effect"

import type { MailTemplate, RenderedMail } from "../domain/mail/template.ts"

/** Writes the product's own mails: accessible, safe in dark mode, plain text beside HTML, every value escaped. */
export class MailTemplates extends Context.Service<
  MailTemplates,
  {
    /** Never fails: any data gives a mail. */
    readonly render: (template: MailTemplate) => Effect.Effect<RenderedMail>
  }
>()("postlane/ports/MailTemplates") {}
