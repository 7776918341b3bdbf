import type { MessageLink } from "../../ports/mail/message-views.ts"

/** Most links that are listed, and the longest address and text of one, characters. */
export const MAX_LINKS = 500
export const MAX_HREF = 2_000
export const MAX_LINK_TEXT = 200

/** The web addresses in a plain text; what ends a sentence is no part of them. */
export const linksInText = (text: string): ReadonlyArray<MessageLink> =>
  (text.match(/https?:\/\/[^\s<>"]{1,2000}/gi) ?? [])
    .slice(0, MAX_LINKS)
    .map((href) => ({ text: "", href: href.replace(/[.,;:!?)\]]{1,5}$/, "") }))
