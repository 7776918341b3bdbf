/** A header: name in lower case, value unfolded. */
export interface MailHeader {
  readonly name: string
  readonly value: string
}

/** What a part of a mail says of itself. */
export interface PartNames {
  /** Decoded; undefined where the mail has no name for it. */
  readonly filename: string | undefined
  /** In lower case, as declared. */
  readonly mediaType: string
  /** Shown inline (a logo in a signature), not attached. */
  readonly inline: boolean
}

/** A part of a mail that is not its text; `Content` is how its bytes are read. */
export interface MailPart<Content extends object = object> extends PartNames {
  /** Its size, decoded. */
  readonly bytes: number
  /** Its first {@link HEAD_BYTES} bytes, which identify its kind. */
  readonly head: Uint8Array
  /** SHA-256 of it, hex. */
  readonly sha256: string
  /** All of it, where it is a PDF by content: nothing else is read. */
  readonly pdf: Content | undefined
}

/** Bytes at the beginning of a file that tell its kind, PDFs apart. */
export const HEAD_BYTES = 32

/** A parsed mail; a forwarded message is replaced by its parts. */
export interface IncomingMail<Content extends object = object> {
  /** All of them, top first. */
  readonly headers: ReadonlyArray<MailHeader>
  /** Addresses of every From header, bare and as they were written. */
  readonly from: ReadonlyArray<string>
  /** Addresses of To and of Cc, bare and as they were written. */
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly subject: string | undefined
  /** In document order. */
  readonly parts: ReadonlyArray<MailPart<Content>>
}

/** The values of a header, top first. */
export const headerValues = (mail: Pick<IncomingMail, "headers">, name: string): ReadonlyArray<string> =>
  mail.headers.filter((header) => header.name === name).map(({ value }) => value)

/** Largest mail, bytes on the wire: 40 MB (INBOUND-1). */
export const MAX_MAIL_BYTES = 40 * 1024 * 1024
