import MailComposer from "nodemailer/lib/mail-composer"

import type { PlainRequestBody } from "../../domain/mail/plain-request.ts"

type Box = PlainRequestBody["from"]

/** A line of a mail ends with CRLF (`newline`), which the composer makes of a line feed; a carriage return alone would stay one. */
const inLines = (text: string | null): string | undefined => text?.replaceAll(/\r\n?/g, "\n")

const box = ({ name, address }: Box) => ({ name: name ?? "", address })

/** Chosen by the caller, so that a mail has the same bytes each time. */
interface Identity {
  readonly messageId: string
  readonly date: Date
  /** Part of the boundaries; by chance where absent. */
  readonly boundary?: string
}

/** The RFC 5322 message that a recipient would get: without Bcc. The same body, date and boundary give the same bytes. */
export const composeMessage = (body: PlainRequestBody, identity: Identity): Promise<Uint8Array> =>
  new MailComposer({
    from: box(body.from),
    to: body.to.map(box),
    cc: body.cc.map(box),
    replyTo: body.replyTo.map(box),
    subject: body.subject,
    text: inLines(body.text),
    html: inLines(body.html),
    headers: { ...body.headers },
    attachments: body.attachments.map((part) => ({
      filename: part.filename,
      content: Buffer.from(part.content, "base64"),
      contentType: part.contentType ?? undefined,
      cid: part.contentId ?? undefined,
      contentDisposition: part.contentId === null ? "attachment" : "inline"
    })),
    messageId: identity.messageId,
    date: identity.date,
    ...(identity.boundary === undefined ? {} : { baseBoundary: identity.boundary }),
    newline: "windows",
    disableFileAccess: true,
    disableUrlAccess: true
  })
    .compile()
    .build()

/** Most characters of a message's words that are kept for the search. */
const MAX_WORDS = 8_000

/** A message's words, for the search: its text, else its HTML without the tags. */
export const wordsOf = ({ html, text }: Pick<PlainRequestBody, "html" | "text">): string =>
  (text ?? (html ?? "").slice(0, 16 * MAX_WORDS).replaceAll(/<[^<>]*>/g, " "))
    .slice(0, 16 * MAX_WORDS)
    .replaceAll(/\s+/g, " ")
    .slice(0, MAX_WORDS)
