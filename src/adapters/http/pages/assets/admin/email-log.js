import { el } from "../dom.js"
import { NOTHING, showList, tag, time, usd } from "./list.js"

/**
 * @typedef {{
 *   readonly id: string, readonly created_at: string, readonly category: string, readonly source: string | null,
 *   readonly from_address: string | null, readonly to_addresses: ReadonlyArray<string>,
 *   readonly other_addresses: ReadonlyArray<string>, readonly dropped_addresses: ReadonlyArray<string>,
 *   readonly subject: string | null, readonly status: string,
 *   readonly last_event: string | null, readonly error: string | null, readonly error_kind: string | null,
 *   readonly failed_over: boolean, readonly cost_usd: number | null, readonly idempotency_key: string | null,
 *   readonly provider: string | null, readonly provider_message_id: string | null, readonly alerted_at: string | null,
 *   readonly raw: unknown
 * }} Mail
 */

/** @param {string} status */
const mood = (status) => {
  if (["delivered", "opened", "clicked"].includes(status)) return "good"
  if (["bounced", "complained", "failed", "suppressed"].includes(status)) return "bad"
  return ["deferred", "delivery_delayed"].includes(status) ? "wait" : ""
}

/** @param {string} name @param {string | null} value */
const line = (name, value) =>
  value === null ? undefined : el("p", {}, `${name}: `, el("span", { class: "id" }, value))

/** All that the other columns leave out. @param {Mail} mail */
const details = (mail) =>
  el(
    "details",
    {},
    el("summary", {}, "Details"),
    line("From", mail.from_address),
    line("Cc and bcc", mail.other_addresses.length === 0 ? null : mail.other_addresses.join(", ")),
    line(
      "Left out, since suppressed",
      mail.dropped_addresses.length === 0 ? null : mail.dropped_addresses.join(", ")
    ),
    line("Source", mail.source),
    line("Error kind", mail.error_kind),
    line("Cost", usd(mail.cost_usd)),
    line("Idempotency key", mail.idempotency_key),
    line("Provider’s id", mail.provider_message_id),
    line("Alert raised", mail.alerted_at),
    line("Send", mail.id),
    mail.raw === null ? undefined : el("pre", {}, JSON.stringify(mail.raw, null, 2))
  )

showList({
  path: "/api/admin/email-log",
  names: ["status", "category", "provider", "recipient", "subject"],
  none: "No mail matches.",
  /** @type {ReadonlyArray<import("./list.js").Column<Mail>>} */
  columns: [
    {
      head: "Subject",
      kind: "free",
      cell: (mail) => el("div", {}, mail.subject ?? "(no subject)", details(mail))
    },
    {
      head: "To",
      kind: "free",
      cell: ({ to_addresses: to }) => el("div", {}, ...to.map((address) => el("p", {}, address)))
    },
    { head: "Status", cell: ({ status }) => tag(status, mood(status)) },
    { head: "Last event", kind: "short", cell: ({ last_event: event }) => event ?? NOTHING },
    {
      head: "Sent by",
      kind: "short",
      cell: ({ failed_over: over, provider }) => `${provider ?? NOTHING}${over ? ", failed over" : ""}`
    },
    { head: "Category", kind: "short", cell: ({ category }) => category },
    { head: "Error", kind: "free", cell: ({ error }) => error ?? NOTHING },
    { head: "Written", kind: "short", cell: ({ created_at: at }) => time(at) }
  ]
})
