import type { Mailbox } from "./address.ts"

/** The two synonym domains, in lower-case ASCII: mail leaves from `sender` only. */
export interface SenderDomains {
  readonly sender: string
  readonly legacy: string
}

/**
 * Rewrites a From address on the legacy domain, or on any subdomain of it, to the same local part at the sender domain;
 * the display name stays (document 1, "Sender domain"; invariant S8). A sender domain that is itself a subdomain of the
 * legacy one is left alone.
 */
export const rewriteSender = (from: Mailbox, domains: SenderDomains): Mailbox => {
  const onSender = from.domain === domains.sender || from.domain.endsWith(`.${domains.sender}`)
  const onLegacy = from.domain === domains.legacy || from.domain.endsWith(`.${domains.legacy}`)
  const senderUnderLegacy = domains.sender.endsWith(`.${domains.legacy}`)
  return onLegacy && !(onSender && senderUnderLegacy) ? { ...from, domain: domains.sender } : from
}
