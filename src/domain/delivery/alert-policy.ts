import { EMAIL_STATUSES, TERMINAL_STATUSES, type TerminalStatus } from "../mail/status.ts"
import type { MailTemplate } from "../mail/templates/template.ts"
import { pathTo } from "../pages.ts"
import type { FailedSend } from "./delivery-event.ts"

/** The alerts that admins can switch off (A1). */
export type AlertType = "email_delivery_failure"

/** Where an alert can go. */
interface ChannelFacts {
  /** On the page of notifications, after "tell the admins". */
  readonly label: string
  /** The settings that configure it. */
  readonly settings: string
  /** It takes alerts about the alert inbox, which by email would loop: its name in the answer of the internal route. */
  readonly escalates?: "telegram"
}

/** The channels, with all that is known of each. */
export const ALERT_CHANNELS = {
  email: { label: "by email", settings: "ALERT_EMAIL" },
  chat: { label: "by chat message", settings: "CHAT_BOT_TOKEN and CHAT_ID", escalates: "telegram" }
} as const satisfies Readonly<Record<string, ChannelFacts>>

export type AlertChannel = keyof typeof ALERT_CHANNELS

export const CHANNEL_NAMES = Object.keys(ALERT_CHANNELS) as ReadonlyArray<AlertChannel>

/** The channels of vendors' chats, which take text. */
export type ChatChannel = Exclude<AlertChannel, "email">

/** The settings of all channels, for a sentence that says what is missing. */
export const CHANNEL_SETTINGS = Object.values(ALERT_CHANNELS)
  .map(({ settings }) => settings)
  .join(", or ")

/** One value for each channel. */
export type PerChannel<A> = Readonly<Record<AlertChannel, A>>

/** How one alert is handled. */
type AlertPlan =
  /** Switched off: nothing is sent. */
  | { readonly _tag: "Disabled" }
  /** Nothing that is wanted is configured. */
  | { readonly _tag: "Unconfigured"; readonly escalation: boolean }
  /** The alert goes to these channels, none where all have it; an escalation goes to the chat alone. */
  | { readonly _tag: "Send"; readonly channels: ReadonlyArray<AlertChannel>; readonly escalation: boolean }

/** The outcome of one dispatch, and whether the chat accepted an escalation. */
export interface AlertEnd {
  /** `delivered`: at least one channel has it, by now or from before. */
  readonly delivery: "delivered" | "disabled" | "unconfigured" | "failed"
  readonly escalated: (typeof ALERT_CHANNELS)[typeof ESCALATION]["escalates"] | undefined
  /** Where a channel still lacks what another one has. */
  readonly lacks?: Spread
}

/** Which channels have an alert, and on which it is tried again. */
export interface Spread {
  readonly taken: ReadonlyArray<string>
  readonly missing: ReadonlyArray<AlertChannel>
}

/** How a channel answered: it took the alert, it will never take it, or it may take it later. */
export type ChannelAnswer = "took" | "refused" | "failed"

/**
 * Number of attempts after which a channel is given up where another one took the alert: within a day, by the waits between them. An alert
 * that no channel took is tried for ever.
 */
export const MAX_CHANNEL_TRIES = 24

/** The channel of alerts about the alert inbox. */
const ESCALATION = "chat" satisfies AlertChannel

/** One value for each channel. */
export const perChannel = <A>(valueOf: (channel: AlertChannel) => A): PerChannel<A> =>
  Object.fromEntries(CHANNEL_NAMES.map((channel) => [channel, valueOf(channel)])) as PerChannel<A>

/**
 * Which channels an alert goes to (EVENT-20 to EVENT-22). An alert about the alert inbox itself never goes by email, which
 * would loop: it goes to the chat whatever the preferences say (A2).
 */
export const planAlert = (given: {
  readonly wanted: PerChannel<boolean>
  readonly configured: PerChannel<boolean>
  readonly aboutAlertInbox: boolean
  /** They have it already. */
  readonly taken?: ReadonlyArray<string>
}): AlertPlan => {
  const { aboutAlertInbox, configured, taken = [], wanted } = given
  const asked: ReadonlyArray<AlertChannel> = aboutAlertInbox
    ? [ESCALATION]
    : CHANNEL_NAMES.filter((channel) => wanted[channel])
  if (asked.length === 0) return { _tag: "Disabled" }
  const channels = asked.filter((channel) => configured[channel])
  return channels.length === 0 && taken.length === 0
    ? { _tag: "Unconfigured", escalation: aboutAlertInbox }
    : {
        _tag: "Send",
        channels: channels.filter((channel) => !taken.includes(channel)),
        escalation: aboutAlertInbox
      }
}

/** The outcome of a plan: each channel is tried for itself until it took the alert or refused it for good (A1). */
export const endOf = (
  plan: AlertPlan,
  answers: ReadonlyMap<AlertChannel, ChannelAnswer>,
  before: ReadonlyArray<string> = []
): AlertEnd => {
  if (plan._tag === "Disabled") return { delivery: "disabled", escalated: undefined }
  if (plan._tag === "Unconfigured") return { delivery: "unconfigured", escalated: undefined }
  const spread = spreadOf(answers, before)
  if (spread.taken.length === 0) return { delivery: "failed", escalated: undefined }
  return {
    delivery: "delivered",
    escalated: plan.escalation ? ALERT_CHANNELS[ESCALATION].escalates : undefined,
    ...(spread.missing.length === 0 ? {} : { lacks: spread })
  }
}

/** Which channels have it by now; one that refused it for good is not tried again. */
export const spreadOf = (
  answers: ReadonlyMap<AlertChannel, ChannelAnswer>,
  before: ReadonlyArray<string>
): Spread => {
  const which = (asked: ChannelAnswer) =>
    [...answers].flatMap(([channel, answer]) => (answer === asked ? [channel] : []))
  return { taken: [...before, ...which("took")], missing: which("failed") }
}

const WORDS: ReadonlyMap<string, string> = new Map(
  TERMINAL_STATUSES.map((status) => [status, EMAIL_STATUSES[status].ended.alert])
)

/** The outcomes that may suppress an address. */
const SUPPRESSES: ReadonlySet<string> = new Set<TerminalStatus>(["bounced", "complained", "suppressed"])

const suppressionsOf = ({ recipients }: FailedSend): string => {
  const [first, ...others] = recipients
  return pathTo.adminScreen("suppressions", first === undefined || others.length > 0 ? {} : { email: first })
}

/** The alert about a failed send, with links to its pages. */
export const alertMail = (failed: FailedSend, baseUrl: string): MailTemplate => ({
  kind: "alert",
  what: WORDS.get(failed.event) ?? `ended in "${failed.event}"`,
  recipients: failed.recipients,
  subject: failed.subject,
  reason: failed.reason,
  category: failed.category,
  source: failed.source,
  provider: failed.provider,
  messageId: failed.providerMessageId,
  sendId: failed.sendId,
  at: failed.occurredAt,
  url: `${baseUrl}${pathTo.mail(failed.sendId)}`,
  suppressionsUrl: SUPPRESSES.has(failed.event) ? `${baseUrl}${suppressionsOf(failed)}` : undefined
})
