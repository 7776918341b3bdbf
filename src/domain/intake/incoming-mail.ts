/** A header as it came: name in lower case, value unfolded. */
export interface MailHeader {
  readonly name: string
  readonly value: string
}

/** A part of a mail that is no text of it. */
export interface MailPart {
  /** Decoded; undefined where the mail gives none. */
  readonly filename: string | undefined
  /** In lower case, as declared. */
  readonly mediaType: string
  /** Shown within the text (a logo in a signature), not handed over. */
  readonly inline: boolean
  readonly content: Uint8Array
}

/** A mail, taken apart; a forwarded message's parts stand where the message stood. */
export interface IncomingMail {
  /** All of them, top first. */
  readonly headers: ReadonlyArray<MailHeader>
  /** Addresses of every From header, bare and as they were written. */
  readonly from: ReadonlyArray<string>
  /** Addresses of To and of Cc, bare and as they were written. */
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly subject: string | undefined
  /** In document order. */
  readonly parts: ReadonlyArray<MailPart>
}

/** The values of a header, top first. */
export const headerValues = (mail: Pick<IncomingMail, "headers">, name: string): ReadonlyArray<string> =>
  mail.headers.filter((header) => header.name === name).map(({ value }) => value)
