import { Schema, Context, type Duration } from "effect"

import type { AuthenticityRules } from "./sender-authenticity.ts"

/** How a mail ended. From `duplicate` on they get no reply; `unregistered` gets one a day. */
export const MailOutcome = Schema.Literals([
  "success",
  "error",
  "insufficient",
  "unregistered",
  "no_attachment",
  "unsupported",
  "too_large",
  "misaddressed",
  "duplicate",
  "automatic",
  "unverified",
  "no_sender",
  "limited",
  "suppressed",
  "malformed"
])
export type MailOutcome = typeof MailOutcome.Type

/** Replies an hour to one customer that only tell how to send a file: whoever answers them by a program gets no more. */
export const MAX_HINTS_AN_HOUR = 20

/** Mails an hour that one sender may send; the contract asks for 100 at least. Beyond, they are not answered. */
export const MAX_MAILS_AN_HOUR = 500

/** What convert-by-email takes from the settings. */
export class IntakeConfig extends Context.Service<
  IntakeConfig,
  {
    /** `convert@{LEGACY_DOMAIN}`: what people write to, and Reply-To of every reply. */
    readonly convertAddress: string
    /** Keys of the addresses that a mail's To or Cc names to be converted: that one, and the one of the landing domain. */
    readonly convertAddresses: ReadonlySet<string>
    /** Keys of all addresses that we write from or take mail at: their mail is never answered. */
    readonly ownAddresses: ReadonlySet<string>
    readonly authenticity: AuthenticityRules
    /** Where people register, and where they buy credits. */
    readonly registerUrl: string
    readonly buyUrl: string
    /** Links to results start with it; no slash at its end. */
    readonly baseUrl: string
    /** How often work under way says that it is alive. */
    readonly heartbeat: Duration.Duration
  }
>()("postlane/domain/IntakeConfig") {}

/** Where all mails' objects stand, and where one's. */
export const MAILS = "mails/"
export const mailPrefix = (mailId: string): string => `${MAILS}${mailId}/`

const MAIL_ID = /^mails\/([\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12})\//

/** The mail that an object belongs to; undefined for what is not ours. */
export const mailIdOf = (key: string): string | undefined => MAIL_ID.exec(key)?.[1]
export const rawKey = (mailId: string): string => `${mailPrefix(mailId)}raw.eml`
/** The lease is part of it, so that a worker that lost it overwrites nothing. */
export const sourceKey = (mailId: string, lease: string): string => `${mailPrefix(mailId)}source-${lease}.pdf`
export const resultKey = (mailId: string, lease: string): string =>
  `${mailPrefix(mailId)}result-${lease}.html`

/** When a mail's id was made, milliseconds of the epoch: the first 48 bits of a UUID of version 7 (RFC 9562, section 5.7). */
export const madeAt = (mailId: string): number =>
  Number.parseInt(mailId.slice(0, 8) + mailId.slice(9, 13), 16)
