/** Alerts that admins can switch (document 1, "Alert preference"). */
export type AlertType = "email_delivery_failure"

/** Where an alert can go. */
export type AlertChannel = "email" | "chat"

/** One answer for each channel. */
export type PerChannel<A> = Readonly<Record<AlertChannel, A>>

/** What is done about one alert. */
export type AlertPlan =
  /** Switched off: nothing is sent. */
  | { readonly _tag: "Disabled" }
  /** Nothing that is wanted is configured. */
  | { readonly _tag: "Unconfigured"; readonly escalation: boolean }
  /** The alert goes to these channels, one at least; an escalation goes to the chat alone. */
  | { readonly _tag: "Send"; readonly channels: ReadonlyArray<AlertChannel>; readonly escalation: boolean }

/** What one dispatch ended in, and whether the chat took an escalation. */
export interface AlertEnd {
  readonly delivery: "delivered" | "disabled" | "unconfigured" | "failed"
  readonly escalated: "telegram" | undefined
}

const CHANNELS: ReadonlyArray<AlertChannel> = ["email", "chat"]

/**
 * Which channels an alert goes to (document 1, "/internal/email-alert responses"; contract, "Delivery events and alerts").
 * An alert about the alert inbox itself never goes by email, which would loop: it goes to the chat whatever the
 * preferences say (A2).
 */
export const planAlert = (given: {
  readonly wanted: PerChannel<boolean>
  readonly configured: PerChannel<boolean>
  readonly aboutAlertInbox: boolean
}): AlertPlan => {
  const { aboutAlertInbox, configured, wanted } = given
  const asked = aboutAlertInbox ? (["chat"] as const) : CHANNELS.filter((channel) => wanted[channel])
  if (asked.length === 0) return { _tag: "Disabled" }
  const channels = asked.filter((channel) => configured[channel])
  return channels.length === 0
    ? { _tag: "Unconfigured", escalation: aboutAlertInbox }
    : { _tag: "Send", channels, escalation: aboutAlertInbox }
}

/** What a plan ended in; `succeeded` holds the channels that took the alert. */
export const endOf = (plan: AlertPlan, succeeded: ReadonlyArray<AlertChannel>): AlertEnd => {
  switch (plan._tag) {
    case "Disabled":
      return { delivery: "disabled", escalated: undefined }
    case "Unconfigured":
      return { delivery: "unconfigured", escalated: undefined }
    case "Send":
      return succeeded.length === 0
        ? { delivery: "failed", escalated: undefined }
        : { delivery: "delivered", escalated: plan.escalation ? "telegram" : undefined }
  }
}
