import { formattedKey } from "../../../../domain/mail/address.ts"
import { SUPPRESSION_REASONS, type SuppressionReason } from "../../../../domain/mail/suppression/policy.ts"
import { pathTo } from "../../../../domain/pages.ts"
import type { OutboxEntry, SimulatedEventType } from "../../../../ports/mail/simulated-mail.ts"
import { type Html, html } from "../html.ts"
import { option } from "../ui.ts"
import { EVENT_WORDS } from "./mail-list.ts"

const suppressed = (reason: SuppressionReason): string => {
  const lets = SUPPRESSION_REASONS[reason].lets.map((category) => `“${category}”`).join(" and ")
  return `The address is suppressed: only ${lets} mails go to it from then on. An alert goes to the admins.`
}

/** The events that can be tried, in the order in which they come, and what follows from each. */
const TRIED: ReadonlyArray<readonly [Exclude<SimulatedEventType, "suppressed">, follows: string]> = [
  ["delivery_delayed", "The log says so. Nothing else follows: the provider goes on trying."],
  ["delivered", "The log says so. It may still be opened, or reported as spam."],
  ["opened", "The log says so; an opened mail was delivered, too."],
  ["bounced", `The log says so, with the provider’s reason. ${suppressed("hard_bounce")}`],
  ["complained", `The log says so. ${suppressed("complaint")}`]
]

const everyone = ({ bcc, cc, to }: OutboxEntry): ReadonlyArray<string> => [
  ...new Set([...to, ...cc, ...bcc].map(formattedKey))
]

/** Where what follows is seen. */
const places = ({ key }: OutboxEntry, recipients: ReadonlyArray<string>): Html => {
  const [first = ""] = recipients
  const log = pathTo.adminScreen("email-log", key === undefined ? { recipient: first } : { search: key })
  const suppressions = pathTo.adminScreen("suppressions", recipients.length === 1 ? { email: first } : {})
  return html`See what followed: <a href="${log}">the email log</a>, <a href="${suppressions}">the suppressions</a>, <a href="${pathTo.outbox}">the alert in the outbox</a>.`
}

/** The form that has the mail's provider report an event, with a word on what each does. */
export const eventsForm = (entry: OutboxEntry): Html | undefined => {
  if (entry.messageId === undefined) return undefined
  const recipients = everyone(entry)
  return html`<form id="events" class="card events" data-id="${entry.id}" hidden>
<h2>Simulate an event</h2>
<p class="help">The provider reports it as the real one would. A mail that has ended keeps its status, and of several recipients one is suppressed only where the event names it. ${places(entry, recipients)}</p>
${recipients.length < 2 ? undefined : html`<label for="recipient">For</label> <select id="recipient">${option("", "All recipients")}${recipients.map((address) => option(address, address))}</select>`}
<ul>${TRIED.map(
    ([type, follows]) =>
      html`<li><button type="submit" value="${type}" aria-describedby="follows-${type}">${EVENT_WORDS[type]}</button><span class="help" id="follows-${type}">${follows}</span></li>`
  )}</ul>
<p id="reported" class="done" hidden></p>
</form>`
}
