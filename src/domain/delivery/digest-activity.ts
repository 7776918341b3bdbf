import type { TerminalStatus } from "../mail/status.ts"

/** The mails of a period by outcome. */
export interface MailCounts extends Readonly<Record<TerminalStatus, number>> {
  /** Accepted by a provider. */
  readonly sent: number
  readonly delivered: number
}

/** One thing that happened, newest first. */
export type DigestEntry =
  /** A row of `admin_audit_log`. */
  | {
      readonly _tag: "Admin"
      /** Milliseconds since the epoch. */
      readonly at: number
      readonly actor: string
      readonly action: string
      readonly target: string | null
    }
  /** A mail that failed. */
  | {
      readonly _tag: "Mail"
      readonly at: number
      readonly source: string | null
      readonly status: TerminalStatus
      readonly recipients: ReadonlyArray<string>
      readonly error: string | null
    }

/** What happened in a period. */
export interface DigestActivity {
  readonly counts: MailCounts
  readonly entries: ReadonlyArray<DigestEntry>
  /** How many entries there were, those left out included. */
  readonly total: number
}
