import { EMAIL_STATUSES, TERMINAL_STATUSES } from "../mail/status.ts"
import type { MailTemplate } from "../mail/templates/template.ts"
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

/** One value for each channel. */
export type PerChannel<A> = Readonly<Record<AlertChannel, A>>

/** How one alert is handled. */
type AlertPlan =
  /** Switched off: nothing is sent. */
  | { readonly _tag: "Disabled" }
  /** Nothing that is wanted is configured. */
  | { readonly _tag: "Unconfigured"; readonly escalation: boolean }
  /** The alert goes to these channels, at least one; an escalation goes to the chat alone. */
  | { readonly _tag: "Send"; readonly channels: ReadonlyArray<AlertChannel>; readonly escalation: boolean }

/** The outcome of one dispatch, and whether the chat accepted an escalation. */
export interface AlertEnd {
  readonly delivery: "delivered" | "disabled" | "unconfigured" | "failed"
  readonly escalated: (typeof ALERT_CHANNELS)[typeof ESCALATION]["escalates"] | undefined
}

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
}): AlertPlan => {
  const { aboutAlertInbox, configured, wanted } = given
  const asked: ReadonlyArray<AlertChannel> = aboutAlertInbox
    ? [ESCALATION]
    : CHANNEL_NAMES.filter((channel) => wanted[channel])
  if (asked.length === 0) return { _tag: "Disabled" }
  const channels = asked.filter((channel) => configured[channel])
  return channels.length === 0
    ? { _tag: "Unconfigured", escalation: aboutAlertInbox }
    : { _tag: "Send", channels, escalation: aboutAlertInbox }
}

/** The outcome of a plan; `succeeded` holds the channels that accepted the alert. */
export const endOf = (plan: AlertPlan, succeeded: ReadonlyArray<AlertChannel>): AlertEnd => {
  switch (plan._tag) {
    case "Disabled":
      return { delivery: "disabled", escalated: undefined }
    case "Unconfigured":
      return { delivery: "unconfigured", escalated: undefined }
    case "Send":
      return succeeded.length === 0
        ? { delivery: "failed", escalated: undefined }
        : {
            delivery: "delivered",
            escalated: plan.escalation ? ALERT_CHANNELS[ESCALATION].escalates : undefined
          }
  }
}

const WORDS: ReadonlyMap<string, string> = new Map(
  TERMINAL_STATUSES.map((status) => [status, EMAIL_STATUSES[status].ended.alert])
)

/** The alert about a failed send. */
export const alertMail = (failed: FailedSend): MailTemplate => ({
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
  at: failed.occurredAt
})
