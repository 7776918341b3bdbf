/** A mail that the log has a row for. */
export interface KnownMail {
  readonly lastEvent: string | undefined
  /** True when the provider reported a failure and its alert is unclaimed: the alert has not gone out. */
  readonly alertDue: boolean
}

/** A point in the list: the mail that a run had reached or, without an id, a time. */
export interface ListMark {
  readonly id: string | undefined
  /** When that mail was sent, milliseconds since the epoch: used where the list no longer has the mail. */
  readonly sentAt: number | undefined
}

/** A mail of `provider_a`'s list, normalised. */
export interface ListedMail {
  readonly id: string
  /** The newest event, without a prefix: `sent`, `delivered`, `bounced`, …; open-ended. */
  readonly lastEvent: string
  /** When it was sent, milliseconds since the epoch; absent where the list gave no readable time. */
  readonly sentAt: number | undefined
  /** Bare lower-case addresses of To, Cc and Bcc. */
  readonly recipients: ReadonlyArray<string>
  readonly from: string | undefined
  readonly subject: string | undefined
  /** The item as it came. */
  readonly raw: unknown
}
