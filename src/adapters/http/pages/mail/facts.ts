import type { MailStory, StoryRow } from "../../../../domain/delivery/mail-story.ts"
import type { Mood } from "../../../../domain/mood.ts"
import { pathTo } from "../../../../domain/pages.ts"
import { type Html, html, joined } from "../html.ts"
import { fact, moment, mono, providerNamed, tag, usd } from "../ui.ts"

/** A time in words. */
export const duration = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

/** How long it waited for its turn, of a mail of the send queue that a provider was asked for. */
const waited = ({ attempts, queued }: StoryRow): number | undefined => {
  const [first] = attempts
  if (queued === null || first === undefined) return undefined
  return Math.max(0, first.startedAt - Math.max(Date.parse(queued.queuedAt), Date.parse(queued.sendAt)))
}

const CLAIMS: ReadonlyMap<string, string> = new Map([
  ["held", "A call works on it."],
  ["accepted", "Taken: the same call gets the first result again, and sends nothing."],
  ["deferred", "Taken: the same call gets the first result again, and sends nothing."],
  ["refused", "Free: the same call is tried afresh."],
  [
    "ambiguous",
    "Doubtful: the same call is tried at the same provider only, and only where that one delivers one copy a key."
  ],
  [
    "ended",
    "Over: a copy may be out, and a later attempt was refused. The same call gets that answer, and sends nothing."
  ]
])

/** Addresses, each a link to all mails that it was sent. */
const list = (addresses: ReadonlyArray<string>): Html =>
  html`<ul>${addresses.map(
    (address) =>
      html`<li><a href="${pathTo.adminScreen("email-log", { recipient: address })}" title="All mails to this address">${address}</a></li>`
  )}</ul>`

/** The suppressions of its recipients, each a link to the list. */
const suppressed = ({ suppressions }: MailStory): Html | undefined => {
  const addresses = [...new Set(suppressions.map(({ email }) => email))]
  return addresses.length === 0
    ? undefined
    : html`<ul>${addresses.map(
        (email) => html`<li><a href="${pathTo.adminScreen("suppressions", { email })}">${email}</a></li>`
      )}</ul>`
}

/** Who was left out, and why: the reasons that stand on the list now. */
const dropped = ({ suppressions }: MailStory, addresses: ReadonlyArray<string>): Html | undefined =>
  addresses.length === 0
    ? undefined
    : html`<ul>${addresses.map((address) => {
        const reasons = suppressions.filter(({ email }) => email === address)
        const why =
          reasons.length === 0
            ? "suppressed then, not any more"
            : joined(
                reasons.map(
                  ({ note, reason, since }) =>
                    html`${reason.replaceAll("_", " ")} since ${moment(since)}${note === null ? "" : ` (${note})`}`
                ),
                ", "
              )
        return html`<li>${address} <span class="help">${why}</span></li>`
      })}</ul>`

const cost = (rows: ReadonlyArray<StoryRow>): string | undefined => {
  const known = rows.flatMap(({ cost_usd: amount }) => (amount === null ? [] : [amount]))
  if (known.length === 0) return undefined
  return usd(known.reduce((one, other) => one + other, 0))
}

const tagList = (tags: StoryRow["tags"]): Html | undefined => {
  const all = Object.entries(tags)
  return all.length === 0
    ? undefined
    : html`<ul>${all.map(([name, value]) => html`<li>${name}: ${value}</li>`)}</ul>`
}

/** A copy in the outbox of simulated providers. */
export interface Copy {
  readonly id: string
}

/** What is known of a mail: whom it went to, what it was, and where else it is. */
export const mailFacts = (story: MailStory, row: StoryRow, mood: Mood, copy: Copy | undefined): Html => {
  const { claim } = story
  const wait = waited(row)
  return html`<section aria-labelledby="facts"><h2 id="facts">The mail</h2>
<dl class="facts-list">
${fact("To", row.to_addresses.length === 0 ? undefined : list(row.to_addresses))}
${fact("Cc and Bcc", row.other_addresses.length === 0 ? undefined : list(row.other_addresses))}
${fact("Left out, since suppressed", dropped(story, row.dropped_addresses))}
${fact("Suppressed now", suppressed(story))}
${fact("From", row.from_address ?? undefined)}
${fact("Status in the log", tag(row.status, mood))}
${fact("Category", row.category ?? undefined)}
${fact("Source", row.source ?? undefined)}
${fact("Tags", tagList(row.tags))}
${fact("Copy", copy === undefined ? undefined : html`<a href="${pathTo.outboxMail(copy.id)}">Open it in the outbox</a>`)}
${fact("Waited in the send queue", wait === undefined ? undefined : duration(wait))}
${fact("Cost", cost(story.rows))}
${fact("Idempotency key", row.idempotency_key === null ? undefined : mono(row.idempotency_key))}
${fact(
  "State of the key",
  claim === undefined
    ? undefined
    : html`${CLAIMS.get(claim.state) ?? claim.state} First attempt ${moment(claim.firstAttemptAt)}, at ${providerNamed(claim.provider)}.`
)}
${fact("Provider’s id", row.provider_message_id === null ? undefined : mono(row.provider_message_id))}
${fact("Log id", mono(row.id))}
</dl></section>`
}
