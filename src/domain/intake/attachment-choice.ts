import { cleanFileName } from "../conversion/file-name.ts"
import { describeFile, isPdf } from "./file-signature.ts"
import type { MailPart } from "./incoming-mail.ts"

/** Largest attachment, decoded bytes: 25 MB (document 2, "Limits"). */
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024

/** What a mail brings. */
export type AttachmentChoice =
  | { readonly _tag: "None" }
  /** Files, and no PDF among them; the first stands for all. */
  | { readonly _tag: "Unsupported"; readonly filename: string; readonly found: string }
  | { readonly _tag: "TooLarge"; readonly filename: string; readonly bytes: number }
  /** The first PDF; `ignored` names the other files, in order. */
  | {
      readonly _tag: "Pdf"
      readonly filename: string
      readonly content: Uint8Array
      readonly ignored: ReadonlyArray<string>
    }

/** Parts that mail programs add by themselves: signatures, cards, invitations, reports. */
const BY_PROGRAMS =
  /^(?:application\/(?:pgp-signature|pgp-encrypted|pkcs7-signature|x-pkcs7-signature|ics)|text\/(?:calendar|vcard|x-vcard|rfc822-headers)|message\/(?:delivery-status|disposition-notification))$/

/** The name that a part is called by. */
export const nameOf = (part: Pick<MailPart, "filename" | "content">): string =>
  cleanFileName(part.filename ?? (isPdf(part.content) ? "document.pdf" : "attachment"))

/** Whether a person handed the part over: not what stands in the text, nor what programs add. A PDF always counts. */
const isHandedOver = (part: MailPart): boolean =>
  isPdf(part.content) ||
  !(
    BY_PROGRAMS.test(part.mediaType) ||
    (part.inline && (part.mediaType.startsWith("image/") || part.mediaType.startsWith("text/"))) ||
    (part.content.length === 0 && part.filename === undefined)
  )

/** The one file that a mail converts: its first PDF, by content, whatever its name and type say (document 2, steps 1 and 3). */
export const chooseAttachment = (parts: ReadonlyArray<MailPart>): AttachmentChoice => {
  const files = parts.filter(isHandedOver)
  const pdf = files.find(({ content }) => isPdf(content))
  if (pdf !== undefined) {
    const filename = nameOf(pdf)
    const bytes = pdf.content.length
    if (bytes > MAX_ATTACHMENT_BYTES) return { _tag: "TooLarge", filename, bytes }
    return {
      _tag: "Pdf",
      filename,
      content: pdf.content,
      ignored: files.filter((file) => file !== pdf).map(nameOf)
    }
  }
  const first = files[0]
  if (first === undefined) return { _tag: "None" }
  const filename = nameOf(first)
  return { _tag: "Unsupported", filename, found: describeFile(first.content, filename, first.mediaType) }
}
