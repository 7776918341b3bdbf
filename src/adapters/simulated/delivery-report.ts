import { Option, Schema } from "effect"

import { KeyTag } from "../../domain/ids.ts"
import { type ReturnAddress, returnPath } from "../../domain/mail/return-address.ts"
import { KEY_TAG } from "../../domain/mail/tag.ts"
import type { SimulatedEvent, SimulatedEventType } from "../../ports/mail/simulated-mail.ts"

/** What a mail server says of a recipient (RFC 3464), by the event. It knows of no complaint, and of nothing that a reader does. */
const SAYS: ReadonlyMap<
  SimulatedEventType,
  { readonly action: string; readonly status: string; readonly diagnostic: string }
> = new Map([
  ["delivered", { action: "delivered", status: "2.0.0", diagnostic: "250 2.0.0 taken" }],
  ["delivery_delayed", { action: "delayed", status: "4.2.2", diagnostic: "452 4.2.2 The mailbox is full" }],
  ["bounced", { action: "failed", status: "5.1.1", diagnostic: "550 5.1.1 The mailbox does not exist" }]
])

const isTag = Schema.is(Schema.String.check(Schema.isPattern(/^[\da-f]{64}$/u)))

/** The tag of the key's use that a mail carries; none where no database gave it one. */
export const tagIn = (tags: Readonly<Record<string, string>>): KeyTag | undefined => {
  const tag = tags[KEY_TAG]
  return isTag(tag) ? KeyTag.make(tag) : undefined
}

/** A mail that comes back to the bounce address. */
interface ReturningMail {
  readonly to: string
  readonly raw: Uint8Array
}

/**
 * The report that the server behind a relay sends back to the envelope sender. None: mail servers report no such event, or
 * `BOUNCE_ADDRESS` is unset.
 */
export const deliveryReport = (
  { at, recipients, tags, type }: Pick<SimulatedEvent, "at" | "recipients" | "tags" | "type">,
  returns: ReturnAddress | undefined
): Option.Option<ReturningMail> => {
  const tag = tagIn(tags)
  const said = SAYS.get(type)
  if (returns === undefined || tag === undefined || said === undefined) return Option.none()
  const to = returnPath(returns, tag)
  const about = recipients.map(
    (recipient) =>
      `Final-Recipient: rfc822; ${recipient}\r\nAction: ${said.action}\r\nStatus: ${said.status}\r\n` +
      `Diagnostic-Code: smtp; ${said.diagnostic}\r\nLast-Attempt-Date: ${new Date(at).toUTCString()}\r\n`
  )
  const lines = [
    "From: Mail Delivery System <MAILER-DAEMON@relay.postlane.test>",
    `To: ${to}`,
    "Subject: Delivery report",
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="report"',
    "",
    "--report",
    "Content-Type: text/plain",
    "",
    "A report about a mail of yours.",
    "--report",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; relay.postlane.test",
    "",
    about.join("\r\n"),
    "--report--",
    ""
  ]
  return Option.some({ to, raw: new TextEncoder().encode(lines.join("\r\n")) })
}
