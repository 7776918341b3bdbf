import type { KeyTag } from "../../ids.ts"
import { failureText } from "../../mail/failover.ts"
import { REPORTED_PROVIDER } from "../../mail/provider.ts"
import type { DeliveryEvent } from "../delivery-event.ts"
import type { ReportedRecipient } from "./report.ts"

/** What a failure that stays is called in every provider's events. */
const PERMANENT = "Permanent"

/**
 * Permanent failures (RFC 3463) that say nothing against the address: a full mailbox, a mail that is too large or of a form that is not
 * taken, a server or route in trouble, a loop, an expired delivery, a policy. The mail has bounced; its recipient is not suppressed.
 */
const OF_MAIL = /^5\.(?:2\.[23]|3\.\d+|4\.[67]|6\.\d+|7\.\d+)$/

type Meaning = Pick<DeliveryEvent, "event" | "bounceType">

/**
 * The event of one recipient (RETURN-4). `relayed` proves that the mail left for a server that reports nothing, not that it arrived; a
 * failure by 4.x.x is the end of a delivery that was tried for long, and may succeed with another mail.
 */
const meaningOf = ({ action, status }: ReportedRecipient): Meaning | undefined => {
  switch (action) {
    case "delivered":
    case "expanded":
      return { event: "delivered", bounceType: undefined }
    case "relayed":
      return { event: "sent", bounceType: undefined }
    case "delayed":
      return { event: "delivery_delayed", bounceType: undefined }
    case "failed":
      if (status.startsWith("4.")) return { event: "bounce_transient", bounceType: status }
      if (status.startsWith("2.")) return undefined
      return { event: "bounced", bounceType: OF_MAIL.test(status) ? status : PERMANENT }
  }
}

/** The mail that a report is about, and its recipient. */
interface Subject {
  readonly messageId: string
  readonly keyTag: KeyTag
  readonly address: string
}

/** The event of a recipient; undefined where action and status contradict each other. */
export const eventOfReport = (
  recipient: ReportedRecipient,
  { address, keyTag, messageId }: Subject
): DeliveryEvent | undefined => {
  const meaning = meaningOf(recipient)
  if (meaning === undefined) return undefined
  const { action, diagnostic, occurredAt, status } = recipient
  const isFailure = action === "failed" || action === "delayed"
  return {
    provider: REPORTED_PROVIDER,
    providerMessageId: messageId,
    ...meaning,
    occurredAt,
    recipients: [address],
    from: undefined,
    subject: undefined,
    reason: isFailure
      ? failureText(diagnostic === undefined ? status : `${status}: ${diagnostic}`)
      : undefined,
    keyTag,
    suppress: meaning.bounceType === PERMANENT ? [address] : undefined,
    alertable: true,
    tags: {},
    raw: { action, status, recipient: address, ...(diagnostic === undefined ? {} : { diagnostic }) }
  }
}
