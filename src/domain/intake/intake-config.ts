import { Context, type Duration } from "effect"

import type { AuthenticityRules } from "./sender-authenticity.ts"

/** What convert-by-email takes from the settings. */
export class IntakeConfig extends Context.Service<
  IntakeConfig,
  {
    /** `convert@{LEGACY_DOMAIN}`: what people write to, and Reply-To of every reply. */
    readonly convertAddress: string
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
    /** How long a reply that is being sent is left alone. */
    readonly replyHold: Duration.Duration
  }
>()("postlane/domain/IntakeConfig") {}

/** Where a mail's objects stand. */
export const mailPrefix = (mailId: string): string => `mails/${mailId}/`
export const rawKey = (mailId: string): string => `${mailPrefix(mailId)}raw.eml`
/** The lease is part of it, so that a worker that lost it overwrites nothing. */
export const sourceKey = (mailId: string, lease: string): string => `${mailPrefix(mailId)}source-${lease}.pdf`
export const resultKey = (mailId: string, lease: string): string =>
  `${mailPrefix(mailId)}result-${lease}.html`
