import PostalMime, { type Attachment, type Email } from "postal-mime"

import { beyondLimits } from "../../application/inbound/mail-limits.ts"
import { isPdf } from "../../domain/conversion/file-signatures.ts"
import type { IncomingMail, PartNames } from "../../domain/inbound/incoming-mail.ts"
import { append } from "../../domain/lists.ts"
import { addresses, sendersOf } from "./read-head.ts"
import { signedContent } from "./signed-data.ts"
import { filesInTnef } from "./tnef.ts"

/** What a hostile mail may cost: real ones nest a few levels deep. Attached messages are read by {@link within}. */
const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 1024 * 1024, maxRfc822NestingDepth: 0 }

/** Limit on nested messages: each level reads the bytes in it once more. */
const MAX_ATTACHED_DEPTH = 5

/** Longest To or Cc header that is parsed, characters: some 400 recipients. */
const MAX_RECIPIENTS = 20_000

/** Longest name of a file that is kept, characters. */
const MAX_NAME = 1_000

/** A part with its content in memory. */
interface ParsedPart extends PartNames {
  readonly content: Uint8Array
}

/** A mail with all of its content in memory. */
interface ParsedMail extends Omit<IncomingMail, "parts"> {
  readonly parts: ReadonlyArray<ParsedPart>
}

const bytesOf = (content: Attachment["content"]): Uint8Array => {
  if (typeof content === "string") return new TextEncoder().encode(content)
  return content instanceof Uint8Array ? content : new Uint8Array(content)
}

const partOf = (attachment: Attachment): ParsedPart => ({
  filename:
    attachment.filename === null || attachment.filename === ""
      ? undefined
      : attachment.filename.slice(0, MAX_NAME),
  mediaType: attachment.mimeType.slice(0, MAX_NAME).toLowerCase(),
  inline: attachment.disposition === "inline" || attachment.related === true,
  content: bytesOf(attachment.content)
})

/** The library copies a view before it reads it, but not a buffer: this saves the memory of one mail, up to 35 MB. */
const parse = (raw: Uint8Array): Promise<Email> =>
  PostalMime.parse(
    raw.buffer instanceof ArrayBuffer && raw.byteLength === raw.buffer.byteLength ? raw.buffer : raw,
    LIMITS
  )

/** The files in a `winmail.dat` with PDFs, which replace it (INBOUND-15). */
const withinTnef = (part: ParsedPart): ReadonlyArray<ParsedPart> | undefined => {
  const files = filesInTnef(part.content)
  if (files?.some(({ content }) => isPdf(content)) !== true) return undefined
  return files.map(({ content, filename }) => ({
    filename,
    mediaType: "application/octet-stream",
    inline: false,
    content
  }))
}

/** How a PDF by itself begins. */
const PDF = new TextEncoder().encode("%PDF-")

/** Mail that is signed or encrypted as a whole. */
const SEALED = /^application\/(?:x-)?pkcs7-mime$/

/** The files of a message within the mail; undefined for one that is beyond the limits, or is no message. */
const filesIn = async (
  message: Uint8Array,
  depth: number
): Promise<ReadonlyArray<ParsedPart> | undefined> => {
  // Decoded, it may have lines that the mail around it did not have.
  if (depth === MAX_ATTACHED_DEPTH || beyondLimits(message) !== undefined) return undefined
  const inner = await parse(message).catch(() => undefined)
  return inner === undefined ? undefined : partsOf(inner.attachments, depth + 1)
}

/** What was signed: a mail, or a file by itself (`contract.pdf.p7m`). Undefined for an encrypted one. */
const filesSigned = async (
  { content, filename }: ParsedPart,
  depth: number
): Promise<ReadonlyArray<ParsedPart> | undefined> => {
  const signed = signedContent(content)
  if (signed === undefined) return undefined
  if (!PDF.every((byte, at) => signed[at] === byte)) return filesIn(signed, depth)
  const name = filename?.replace(/\.p7m$/i, "")
  return [{ filename: name, mediaType: "application/pdf", inline: false, content: signed }]
}

/** Expands nested parts: a message forwarded as an attachment or signed in one piece, Outlook's files. The content replaces the part. */
const within = async (attachment: Attachment, depth: number): Promise<ReadonlyArray<ParsedPart>> => {
  const part = partOf(attachment)
  const files = withinTnef(part)
  if (files !== undefined) return files
  if (SEALED.test(part.mediaType)) return (await filesSigned(part, depth)) ?? [part]
  if (part.mediaType !== "message/rfc822") return [part]
  // One that is no message stays what it is: an attachment.
  const parts = await filesIn(part.content, depth)
  // A message that is shown with the mail's own text is no attachment.
  const isShown = parts !== undefined && attachment.rfc822DepthExceeded === true
  return parts === undefined || (parts.length === 0 && !isShown) ? [part] : parts
}

const partsOf = async (
  attachments: ReadonlyArray<Attachment>,
  depth: number
): Promise<ReadonlyArray<ParsedPart>> => {
  const parts: Array<ParsedPart> = []
  for (const attachment of attachments) append(parts, await within(attachment, depth))
  return parts
}

/** Result of reading; `unreadable`: why the mail cannot be read. */
type ReadMail =
  | { readonly kind: "read"; readonly mail: ParsedMail }
  | { readonly kind: "unreadable"; readonly message: string }

/** Parses a mail, within limits. */
export const readMail = async (raw: Uint8Array): Promise<ReadMail> => {
  const beyond = beyondLimits(raw)
  if (beyond !== undefined) return { kind: "unreadable", message: beyond }
  try {
    const email = await parse(raw)
    const headers = email.headers.map(({ key, value }) => ({ name: key, value }))
    const mail = {
      headers,
      from: sendersOf(headers),
      to: addresses(headers, "to", MAX_RECIPIENTS),
      cc: addresses(headers, "cc", MAX_RECIPIENTS),
      subject: email.subject,
      parts: await partsOf(email.attachments, 0)
    }
    return { kind: "read", mail }
  } catch (cause) {
    return { kind: "unreadable", message: cause instanceof Error ? cause.message : "it is not a mail" }
  }
}
