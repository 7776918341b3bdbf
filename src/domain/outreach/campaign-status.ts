import { EmailStatus } from "../mail/status.ts"

/**
 * Status of an outreach send; of two, the later in this list wins, in whatever order they come. Equals
 * `campaign_send_rank()`.
 */
export const CAMPAIGN_SEND_STATUSES = ["queued", ...EmailStatus.literals] as const
export type CampaignSendStatus = (typeof CAMPAIGN_SEND_STATUSES)[number]

/** The same of a prospect. Equals `prospect_rank()`. */
export const PROSPECT_STATUSES = ["active", "bounced", "unsubscribed", "complained"] as const
export type ProspectStatus = (typeof PROSPECT_STATUSES)[number]

/** Delivery events that change a campaign send; any other leaves its rows unchanged. */
export const CAMPAIGN_EVENTS = [
  "sent",
  "delivery_delayed",
  "delivered",
  "opened",
  "clicked",
  "failed",
  "bounced",
  "complained"
] as const satisfies ReadonlyArray<CampaignSendStatus>
export type CampaignEventName = (typeof CAMPAIGN_EVENTS)[number]

/** The further of two. */
export const furtherSend = (a: CampaignSendStatus, b: CampaignSendStatus): CampaignSendStatus =>
  CAMPAIGN_SEND_STATUSES.indexOf(b) > CAMPAIGN_SEND_STATUSES.indexOf(a) ? b : a

/** The further of two. */
export const furtherProspect = (a: ProspectStatus, b: ProspectStatus): ProspectStatus =>
  PROSPECT_STATUSES.indexOf(b) > PROSPECT_STATUSES.indexOf(a) ? b : a

/** Whether outreach to a prospect is out of the question; a bounce is left to the suppression list. */
export const isOffLimits = (status: ProspectStatus): boolean =>
  status === "unsubscribed" || status === "complained"
