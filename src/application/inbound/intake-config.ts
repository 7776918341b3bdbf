import { Context, type Duration } from "effect"

import { type LeaseId, MailId } from "../../domain/ids.ts"
import type { AuthenticityRules } from "../../domain/inbound/sender-authenticity.ts"

/** Replies an hour to one customer that only explain how to send a file (INBOUND-5): a program that answers them gets no more. */
export const MAX_HINTS_AN_HOUR = 20

/** Mails an hour that one sender may send; at least 100 (INBOUND-14). Further ones are not answered. */
export const MAX_MAILS_AN_HOUR = 500

/** The settings of convert-by-email. */
export class IntakeConfig extends Context.Service<
  IntakeConfig,
  {
    /** `convert@{LEGACY_DOMAIN}`: where people write to, and Reply-To of every reply. */
    readonly convertAddress: string
    /** Keys of the addresses that To or Cc must name for a conversion: that one, and the one of the landing domain. */
    readonly convertAddresses: ReadonlySet<string>
    /** Keys of all addresses that we send from or receive at: mail from these is never answered. */
    readonly ownAddresses: ReadonlySet<string>
    readonly authenticity: AuthenticityRules
    /** Where people register, and where they buy credits. */
    readonly registerUrl: string
    readonly buyUrl: string
    /** Prefix of links to results, without a trailing slash. */
    readonly baseUrl: string
    /** How often work under way renews its lease. */
    readonly heartbeat: Duration.Duration
  }
>()("postlane/application/IntakeConfig") {}

/** Prefix of all mails' objects, and of one mail's. */
export const MAILS = "mails/"
export const mailPrefix = (mailId: MailId): string => `${MAILS}${mailId}/`

const MAIL_ID = /^mails\/([\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12})\//

/** The mail that an object belongs to; undefined for an object that is not ours. */
export const mailIdOf = (key: string): MailId | undefined => {
  const id = MAIL_ID.exec(key)?.[1]
  return id === undefined ? undefined : MailId.make(id)
}
export const rawKey = (mailId: MailId): string => `${mailPrefix(mailId)}raw.eml`
/** The lease is part of the key, so that a worker that lost it overwrites nothing. */
export const sourceKey = (mailId: MailId, lease: LeaseId): string =>
  `${mailPrefix(mailId)}source-${lease}.pdf`
export const resultKey = (mailId: MailId, lease: LeaseId): string =>
  `${mailPrefix(mailId)}result-${lease}.html`
