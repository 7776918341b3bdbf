import { EMAIL_STATUSES, TERMINAL_STATUSES } from "../mail/status.ts"
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

/** Longest part of a field that is shown, UTF-16 units. */
const MAX_FIELD = 500

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"]
])

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES.get(character)!)

/** One line without control characters: a subject or a reason was written by strangers. */
const line = (text: string): string => {
  const plain = text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim()
  return plain.length <= MAX_FIELD ? plain : `${plain.slice(0, MAX_FIELD - 1).toWellFormed()}…`
}

const WORDS: ReadonlyMap<string, string> = new Map(
  TERMINAL_STATUSES.map((status) => [status, EMAIL_STATUSES[status].ended.alert])
)

/** An alert in words: for a mail (subject, text, HTML) and for a chat (the text alone). */
export interface AlertText {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/**
 * The text of the alert about a failed send. Accessible: one heading, a table with row headers, a language, no colour or
 * image.
 */
export const alertText = (failed: FailedSend): AlertText => {
  const what = WORDS.get(failed.event) ?? `ended in "${line(failed.event)}"`
  const rows = (
    [
      ["To", failed.recipients.join(", ")],
      ["Subject", failed.subject],
      ["Reason", failed.reason],
      ["Category", failed.category],
      ["Source", failed.source],
      ["Provider", failed.provider],
      ["Message id", failed.providerMessageId],
      ["Send id", failed.sendId],
      ["When", failed.occurredAt]
    ] as const
  ).flatMap(([name, value]) => {
    const shown = line(value ?? "")
    return shown === "" ? [] : [[name, shown] as const]
  })
  const heading = `A mail ${what}`
  const subject = `[Postlane] ${heading}: ${line(failed.recipients.join(", ")) || "unknown recipient"}`
  const cells = rows
    .map(
      ([name, value]) =>
        `<tr><th scope="row" align="left" valign="top">${name}</th><td>${escapeHtml(value)}</td></tr>`
    )
    .join("\n")
  return {
    subject: subject.length <= 200 ? subject : `${subject.slice(0, 199).toWellFormed()}…`,
    text: `${heading}.\n\n${rows.map(([name, value]) => `${name}: ${value}`).join("\n")}\n`,
    html:
      `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">` +
      `<title>${escapeHtml(heading)}</title></head><body>\n<h1>${escapeHtml(heading)}</h1>\n` +
      `<table cellpadding="4">\n${cells}\n</table>\n</body></html>\n`
  }
}
