import { cleanFileName } from "../../reader/model/file-name.ts"
import { signedKind, startsWith } from "../conversion/file-signatures.ts"
import type { MailPart, PartNames } from "./incoming-mail.ts"

/** By extension: containers that look alike, and text files. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["docx", "a Word document"],
  ["doc", "a Word document"],
  ["odt", "a text document"],
  ["xlsx", "a spreadsheet"],
  ["xls", "a spreadsheet"],
  ["ods", "a spreadsheet"],
  ["pptx", "a presentation"],
  ["ppt", "a presentation"],
  ["epub", "an e-book"],
  ["html", "an HTML page"],
  ["htm", "an HTML page"],
  ["txt", "a text file"],
  ["md", "a text file"],
  ["csv", "a table of values"],
  ["zip", "an archive"],
  ["eml", "a mail"]
])

/** What a file that is not a PDF seems to be by its first bytes, in words that follow "it is". Total. */
export const describeFile = (
  head: Uint8Array,
  { filename, mediaType }: Pick<PartNames, "mediaType"> & { readonly filename: string }
): string => {
  if (head.length === 0) return "an empty file"
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(filename)?.[1]?.toLowerCase() ?? ""
  const zip = startsWith(head, [0x50, 0x4b, 0x03, 0x04])
  if (zip) return EXTENSIONS.get(extension) ?? "an archive"
  const known = signedKind(head)
  if (known !== undefined) return known
  const named = EXTENSIONS.get(extension)
  if (extension !== "pdf" && named !== undefined) return named
  if (mediaType.startsWith("message/")) return "a mail"
  if (mediaType.startsWith("image/")) return "a picture"
  if (mediaType.startsWith("audio/") || mediaType.startsWith("video/")) return "a recording"
  return "a file of another kind"
}

/** Largest attachment, decoded bytes: 25 MB (INBOUND-8). */
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024

/** What a mail brings. */
export type AttachmentChoice<Content extends object = object> =
  | { readonly _tag: "None" }
  /** The mail is encrypted: its attachments are not what the sender attached. */
  | { readonly _tag: "Sealed"; readonly found: string }
  /** Files, but no PDF among them; the first represents them all. */
  | { readonly _tag: "Unsupported"; readonly filename: string; readonly found: string }
  | { readonly _tag: "TooLarge"; readonly filename: string; readonly bytes: number }
  /** The first PDF; `ignored` names the other files, in order. */
  | {
      readonly _tag: "Pdf"
      readonly filename: string
      readonly part: Pdf<Content>
      readonly ignored: ReadonlyArray<string>
    }

/** Parts that mail programs add on their own: signatures, cards, invitations, reports. */
const BY_PROGRAMS =
  /^(?:application\/(?:pgp-signature|pgp-encrypted|pkcs7-signature|x-pkcs7-signature|applefile|ics)|text\/(?:calendar|vcard|x-vcard|rfc822-headers)|message\/(?:delivery-status|disposition-notification))$/

/** A part that is a PDF by content. */
type Pdf<Content extends object> = MailPart<Content> & { readonly pdf: Content }

const isPdfPart = <Content extends object>(part: MailPart<Content>): part is Pdf<Content> =>
  part.pdf !== undefined

/** The file name of a part. */
const nameOf = (part: MailPart): string =>
  cleanFileName(part.filename ?? (isPdfPart(part) ? "document.pdf" : "attachment"))

/** Whether a person attached the part: not inline content, nor what programs add. A PDF always counts. */
const isHandedOver = (part: MailPart): boolean =>
  isPdfPart(part) ||
  !(
    BY_PROGRAMS.test(part.mediaType) ||
    (part.inline && (part.mediaType.startsWith("image/") || part.mediaType.startsWith("text/"))) ||
    (part.bytes === 0 && part.filename === undefined)
  )

const PGP = [...new TextEncoder().encode("-----BEGIN PGP MESSAGE-----")]

/** What a mail is that was encrypted as a whole, in words that follow "it is"; undefined where somebody attached files. */
const sealedAs = (parts: ReadonlyArray<MailPart>): string | undefined => {
  const types = new Set(parts.map(({ mediaType }) => mediaType))
  if (types.has("application/pkcs7-mime") || types.has("application/x-pkcs7-mime"))
    return "a mail that is encrypted with S/MIME"
  const isPgp = types.has("application/pgp-encrypted") && parts.some(({ head }) => startsWith(head, PGP))
  return isPgp ? "a mail that is encrypted with PGP" : undefined
}

/** The one file that a mail converts: its first PDF, by content, whatever its name and type say (INBOUND-8). */
export const chooseAttachment = <Content extends object>(
  parts: ReadonlyArray<MailPart<Content>>
): AttachmentChoice<Content> => {
  const files = parts.filter(isHandedOver)
  const pdf = files.find((file) => isPdfPart(file))
  if (pdf !== undefined) {
    const filename = nameOf(pdf)
    const { bytes } = pdf
    if (bytes > MAX_ATTACHMENT_BYTES) return { _tag: "TooLarge", filename, bytes }
    return {
      _tag: "Pdf",
      filename,
      part: pdf,
      ignored: files.filter((file) => file !== pdf).map(nameOf)
    }
  }
  const sealed = sealedAs(parts)
  if (sealed !== undefined) return { _tag: "Sealed", found: sealed }
  const first = files[0]
  if (first === undefined) return { _tag: "None" }
  const filename = nameOf(first)
  return {
    _tag: "Unsupported",
    filename,
    found: describeFile(first.head, { filename, mediaType: first.mediaType })
  }
}
