import { EMAIL_STATUSES } from "../mail/status.ts"
import type { DigestCount, DigestEvent, MailTemplate, TemplateLink } from "../mail/templates/template.ts"
import { ADMIN_SCREENS, pathTo } from "../pages.ts"
import type { DigestPeriod } from "./audit-digest-period.ts"
import type { DigestActivity, DigestEntry, MailCounts } from "./digest-activity.ts"

/** Most entries that one digest lists. */
export const MAX_DIGEST_EVENTS = 50

const LABELS: ReadonlyArray<readonly [count: keyof MailCounts, label: string, failure?: true]> = [
  ["sent", "Sent"],
  ["delivered", "Delivered"],
  ["bounced", "Bounced", true],
  ["complained", "Complained", true],
  ["failed", "Failed", true],
  ["suppressed", "Suppressed", true]
]

/** What admins do, as `admin_audit_log.action` names it, in words; the target follows. */
const ACTIONS: ReadonlyMap<string, string> = new Map([
  ["email_suppress", "Suppressed"],
  ["mail_link", "Made a link to the mail of"],
  ["email_unsuppress", "Removed the suppression of"],
  ["email_unsubscribe", "Unsubscribed"],
  ["email_resubscribe", "Unsubscribed no longer:"]
])

const eventOf = (entry: DigestEntry): DigestEvent => {
  const at = new Date(entry.at).toISOString()
  switch (entry._tag) {
    case "Admin": {
      const words = ACTIONS.get(entry.action) ?? entry.action
      return {
        at,
        actor: entry.actor,
        what: entry.target === null ? words : `${words} ${entry.target}`,
        failed: false
      }
    }
    case "Mail": {
      const what = `Mail to ${entry.recipients.join(", ") || "an unknown recipient"} ${EMAIL_STATUSES[entry.status].ended.digest}`
      return {
        at,
        actor: entry.source ?? "outside the library",
        what: entry.error === null ? what : `${what}: ${entry.error}`,
        failed: true
      }
    }
  }
}

const linksOf = (baseUrl: string, forAdmins: boolean): ReadonlyArray<TemplateLink> =>
  forAdmins
    ? (["email-log", "suppressions", "notifications"] as const).map((screen) => ({
        text: ADMIN_SCREENS[screen],
        url: `${baseUrl}${pathTo.adminScreen(screen)}`
      }))
    : [{ text: "Dashboard", url: baseUrl }]

/** The digest of a period, as data. */
export const digestContent = (options: {
  readonly period: DigestPeriod
  readonly activity: DigestActivity
  /** Without a slash at its end. */
  readonly baseUrl: string
  /** False: a customer's own, without links into the admin pages. */
  readonly forAdmins: boolean
}): Extract<MailTemplate, { readonly kind: "audit-digest" }> => {
  const { activity, period } = options
  const counts = LABELS.map(([name, label, failure]): DigestCount => {
    const count = activity.counts[name]
    return { label, count, failures: failure ? count : 0 }
  })
  const events = activity.entries.slice(0, MAX_DIGEST_EVENTS).map(eventOf)
  return {
    kind: "audit-digest",
    cadence: period.cadence,
    from: new Date(period.from).toISOString(),
    to: new Date(period.to).toISOString(),
    counts,
    events,
    more: Math.max(0, activity.total - events.length),
    links: linksOf(options.baseUrl, options.forAdmins)
  }
}
