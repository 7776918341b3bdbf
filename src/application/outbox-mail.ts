import { KEY_TAG } from "../domain/mail/tag.ts"
import type { MessageContent } from "../ports/mail/message-views.ts"
import type { OutboxEntry } from "../ports/mail/simulated-mail.ts"

/** A mail of the outbox, taken apart for a program. What it does not have is null. */
export interface OutboxMail extends Pick<
  OutboxEntry,
  "id" | "via" | "from" | "to" | "cc" | "bcc" | "subject" | "at"
> {
  readonly idempotencyKey: string | null
  readonly category: string | null
  /** As the sender wrote them. */
  readonly tags: Readonly<Record<string, string>>
  /** The events that its provider has reported. */
  readonly events: ReadonlyArray<string>
  readonly text: string | null
  /** As it was sent. */
  readonly html: string | null
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly links: ReadonlyArray<{ readonly text: string; readonly href: string }>
  readonly attachments: ReadonlyArray<{
    readonly filename: string | null
    readonly contentType: string
    /** Shown within the HTML. */
    readonly inline: boolean
    /** Base64. */
    readonly content: string
  }>
}

/** What the outbox knows of a mail, and what is in it. */
export const outboxMail = (entry: OutboxEntry, content: MessageContent): OutboxMail => {
  const { at, bcc, category, cc, from, id, key, marks, subject, tags = {}, to, via } = entry
  const { [KEY_TAG]: _own, ...own } = tags
  return {
    id,
    via,
    from,
    to,
    cc,
    bcc,
    subject,
    at,
    idempotencyKey: key ?? null,
    category: category ?? null,
    tags: own,
    events: marks ?? [],
    text: content.text ?? null,
    html: content.html ?? null,
    headers: content.headers,
    links: content.links,
    attachments: content.files.map(({ base64, filename, inline, mediaType }) => ({
      filename: filename ?? null,
      contentType: mediaType,
      inline,
      content: base64
    }))
  }
}
