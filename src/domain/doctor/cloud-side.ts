/** Names and figures that the cloud side as code (`infra`) makes and that the doctor looks for. */

/** The names of one installation's cloud side: another one in the same account and region has others. */
export interface CloudNames {
  /** Of its stacks, queues, function, API and secret: the name, or what the name begins with. */
  readonly prefix: string
  /** Our own metrics, which filters on log lines count. */
  readonly namespace: string
  /** Where the processes' log lines have to go: those with the role `api` (and the serverless entry), and the anchor. */
  readonly logGroups: { readonly api: string; readonly anchor: string }
}

export const cloudNames = (installation: string | undefined): CloudNames => {
  const prefix = installation === undefined ? "postlane" : `postlane-${installation}`
  return {
    prefix,
    namespace: installation === undefined ? "Postlane" : `Postlane/${installation}`,
    logGroups: { api: `/${prefix}/api`, anchor: `/${prefix}/anchor` }
  }
}

/** The lines that are counted, by their `message`; `*` is any text. */
export const LINES = { Failovers: "EMAIL_FAILOVER", Alarms: "EMAIL_ALARM *" } as const

export type CountedLine = keyof typeof LINES

/** CloudWatch's pattern of a line. */
export const patternOf = (line: CountedLine): string => `{ $.message = "${LINES[line]}" }`

/** What the bus names its events of Amazon SES by. */
export const EVENT_SOURCE = "aws.ses"

export const DETAIL_TYPES = [
  "Email Sent",
  "Email Delivered",
  "Email Delivery Delayed",
  "Email Bounced",
  "Email Complaint Received",
  "Email Rejected",
  "Email Rendering Failed",
  "Email Opened",
  "Email Clicked"
] as const

/** How long and how often the bus tries to deliver: the most that it allows, and its own default (EVENT-12). */
export const DELIVERY = { hours: 24, attempts: 185 } as const

/** Where the bus delivers to. */
export const webhookOf = (baseUrl: string): string =>
  `${baseUrl.replace(/\/$/, "")}/api/webhooks/providerb-events`

/** What to do about whatever the code of the cloud side makes. */
export const APPLY = "npm run infra -- apply in a checkout makes it so, or set it by hand"

/** A part of the account as it was looked at. `Unseen`: these credentials may not look, or the service did not answer. */
export type Found<A> =
  | { readonly _tag: "Seen"; readonly value: A }
  | { readonly _tag: "Unseen"; readonly why: string }
