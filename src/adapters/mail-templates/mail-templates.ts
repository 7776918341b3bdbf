import { Effect, Layer } from "effect"

import type { MailTemplate, RenderedMail } from "../../domain/mail/templates/template.ts"
import { MailTemplates } from "../../ports/mail/mail-provider.ts"
import { cleanLine, cleanWithin, MAX_SUBJECT } from "./clean.ts"
import { alarm, alert, alertTest } from "./content/alerts.ts"
import {
  accountDeleted,
  adminInvite,
  contact,
  feedback,
  magicLink,
  receipt,
  share,
  signIn,
  teamInvite
} from "./content/callers.ts"
import {
  bulkCompleted,
  conversionError,
  insufficientCredits,
  misaddressed,
  noAttachment,
  processingStarted,
  success,
  unregistered,
  unsupportedFile
} from "./content/conversion.ts"
import { auditDigest, outreach } from "./content/outreach.ts"
import { type Values, valuesWithin } from "./content/values.ts"
import type { Limits, MailContent } from "./mail-content.ts"
import { writeHtml } from "./write-html.ts"
import { writeText } from "./write-text.ts"

/** Gmail shows no more of a message than 102 kB. */
export const MAX_HTML_BYTES = 100_000

/** How much is shown where it fits; halved until the mail does. */
const LIMITS: Limits = { line: 160, text: 10_000, items: 100 }

const encoder = new TextEncoder()

const contentOf = (template: MailTemplate, values: Values): MailContent => {
  switch (template.kind) {
    case "contact":
      return contact(template, values)
    case "feedback":
      return feedback(template, values)
    case "share":
      return share(template, values)
    case "team-invite":
      return teamInvite(template, values)
    case "account-deleted":
      return accountDeleted(template, values)
    case "receipt":
      return receipt(template, values)
    case "magic-link":
      return magicLink(template, values)
    case "sign-in":
      return signIn(template, values)
    case "admin-invite":
      return adminInvite(template, values)
    case "outreach":
      return outreach(template, values)
    case "audit-digest":
      return auditDigest(template, values)
    case "alert":
      return alert(template, values)
    case "alarm":
      return alarm(template, values)
    case "alert-test":
      return alertTest(template, values)
    case "unregistered":
      return unregistered(template, values)
    case "no-attachment":
      return noAttachment(template, values)
    case "misaddressed":
      return misaddressed(template, values)
    case "unsupported-file":
      return unsupportedFile(template, values)
    case "insufficient-credits":
      return insufficientCredits(template, values)
    case "processing-started":
      return processingStarted(template, values)
    case "success":
      return success(template, values)
    case "error":
      return conversionError(template, values)
    case "bulk-completed":
      return bulkCompleted(template, values)
  }
}

/** Writes a mail. The same data gives the same bytes, so that a send can be repeated under its idempotency key. */
export const renderMail = (template: MailTemplate): RenderedMail => {
  let limits = LIMITS
  for (;;) {
    const content = contentOf(template, valuesWithin(limits))
    const subject = cleanWithin(cleanLine, content.subject, MAX_SUBJECT)
    const html = writeHtml({ ...content, subject })
    if (encoder.encode(html).length < MAX_HTML_BYTES || limits.items <= 1) {
      return { subject, html, text: writeText(content) }
    }
    limits = {
      line: Math.max(20, Math.floor(limits.line / 2)),
      text: Math.max(200, Math.floor(limits.text / 2)),
      items: Math.max(1, Math.floor(limits.items / 2))
    }
  }
}

/** The product's mails, written as trees and serialised by parse5. */
export const layer: Layer.Layer<MailTemplates> = Layer.succeed(
  MailTemplates,
  MailTemplates.of({ render: (template) => Effect.sync(() => renderMail(template)) })
)
