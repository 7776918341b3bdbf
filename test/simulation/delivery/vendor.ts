import { Clock, Effect } from "effect"

import type { DeliveryEvent } from "../../../src/domain/delivery/delivery-event.ts"
import type { KeyTag } from "../../../src/domain/ids.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { ListFailure, type SentMails } from "../../../src/ports/delivery/event-poll.ts"
import type { Chance } from "../kernel.ts"

/** Something that happened to a mail after a provider had accepted it. */
export interface VendorEvent {
  readonly name: string
  readonly at: number
  readonly permanent: boolean
  /** The recipient that it happened to; it is named to others by `provider_b` alone. */
  readonly recipient: string
  /** A process has answered its notification with success. */
  acknowledged: boolean
  /** Its notification is lost for good: only the poll can find it. */
  readonly silent: boolean
}

/** A mail as its provider knows it. */
export interface VendorMail {
  readonly provider: Provider
  readonly messageId: string
  /** Absent where it was sent by hand, outside of the library. */
  readonly keyTag: KeyTag | undefined
  readonly to: ReadonlyArray<string>
  readonly recipients: ReadonlyArray<string>
  readonly subject: string
  readonly sentAt: number
  readonly events: ReadonlyArray<VendorEvent>
}

/** What becomes of mails: names of events, with their share of all mails. */
const FATES: ReadonlyArray<readonly [number, ReadonlyArray<string>]> = [
  [0.4, ["delivered"]],
  [0.1, ["delivered", "opened"]],
  [0.1, ["delivery_delayed", "delivered"]],
  [0.1, ["bounce_transient", "delivered"]],
  [0.16, ["bounced"]],
  [0.1, ["delivered", "complained"]],
  [0.04, ["failed"]]
]

const fateOf = (chance: Chance): ReadonlyArray<string> => {
  let left = chance.next()
  for (const [share, names] of FATES) {
    left -= share
    if (left < 0) return names
  }
  return ["delivered"]
}

/** Lives the life of an accepted mail in advance. `silent`: how often a notification is lost for good. */
export const liveOn = (
  chance: Chance,
  mail: Omit<VendorMail, "events">,
  given: { readonly lateMs: number; readonly silent: number }
): VendorMail => {
  let at = mail.sentAt
  const recipient = chance.pick(mail.recipients)
  const events = ["sent", ...fateOf(chance)].map((name): VendorEvent => {
    at += chance.bool(0.7) ? chance.int(1, 3_000) : chance.int(1, given.lateMs)
    const silent = chance.bool(given.silent)
    return { name, at, permanent: name === "bounced", recipient, acknowledged: false, silent }
  })
  return { ...mail, events }
}

/** The notification of an event. `provider_a` names no Bcc recipient and not who bounced; `provider_b` names who did. */
export const notificationOf = (mail: VendorMail, event: VendorEvent): DeliveryEvent => {
  const named = mail.provider === "provider_b" && (event.permanent || event.name === "complained")
  return {
    provider: mail.provider,
    providerMessageId: mail.messageId,
    event: event.name,
    occurredAt: event.at,
    recipients: mail.to,
    from: "noreply@postlane.test",
    subject: mail.subject,
    reason: event.permanent ? "550 no such user" : undefined,
    keyTag: mail.keyTag,
    bounceType: event.permanent ? "Permanent" : undefined,
    suppress: named ? [event.recipient] : undefined,
    alertable: true,
    tags: mail.keyTag === undefined ? {} : { postlane_key: mail.keyTag },
    raw: { id: mail.messageId, type: event.name }
  }
}

/** `provider_a`'s list of sent mails, the newest first; an event is in it a moment after it happened. */
export const listOf = (mails: ReadonlyArray<VendorMail>, pageSize: number): SentMails["Service"]["page"] =>
  Effect.fnUntraced(function* (after) {
    const now = yield* Clock.currentTimeMillis
    const all = mails.filter(({ provider }) => provider === "provider_a").toReversed()
    const from = after === undefined ? 0 : all.findIndex(({ messageId }) => messageId === after) + 1
    if (after !== undefined && from === 0)
      return yield* new ListFailure({ kind: "cursor", message: "no such mail" })
    const page = all.slice(from, from + pageSize)
    return {
      mails: page.map((mail) => ({
        id: mail.messageId,
        lastEvent: mail.events.findLast(({ at }) => at <= now)?.name ?? "sent",
        sentAt: mail.sentAt,
        recipients: mail.recipients,
        from: "noreply@postlane.test",
        subject: mail.subject,
        raw: { id: mail.messageId }
      })),
      unreadable: 0,
      next: from + pageSize < all.length ? page.at(-1)?.messageId : undefined
    }
  })
