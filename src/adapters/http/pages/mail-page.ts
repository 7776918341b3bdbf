import { Effect } from "effect"

import { makeStoryReader } from "../../../application/delivery/mail-story.ts"
import { adviceOn, standingRow, type Step } from "../../../domain/delivery/mail-advice.ts"
import type { LoggedEvent, MailStory, StoryRow } from "../../../domain/delivery/mail-story.ts"
import type { Attempt } from "../../../domain/mail/logged-attempt.ts"
import { writeTerm } from "../../../domain/mail/outbox-search.ts"
import type { Mood } from "../../../domain/mood.ts"
import { pathTo } from "../../../domain/pages.ts"
import { isUuid } from "../server/endpoint.ts"
import { confirmDialog } from "./dashboard.ts"
import { type Html, html, joined, lines, type Piece } from "./html.ts"
import { fact, moment, mono, moodOf, providerNamed, tag, timeline as timelineOf, usd } from "./ui.ts"

/** Longest body of an event that is shown, characters. */
const MAX_RAW = 20_000

/** A line of the story: when, and what happened. */
interface Line {
  readonly at: string
  readonly said: Piece
}

const duration = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

const OUTCOMES: Readonly<Record<Attempt["outcome"], readonly [mood: Mood, text: string]>> = {
  accepted: ["good", "accepted it"],
  rejected: ["bad", "refused this mail"],
  unavailable: ["bad", "did not take it; nothing left"],
  ambiguous: ["wait", "gave no clear answer: it may be out"]
}

const attemptLine = ({ code, durationMs, outcome, provider, reason, startedAt }: Attempt): Line => {
  const [mood, text] = OUTCOMES[outcome]
  return {
    at: new Date(startedAt).toISOString(),
    said: html`<p>${tag(outcome, mood)} <strong>${providerNamed(provider)}</strong> ${text}, after ${duration(durationMs)}.</p>${
      reason === null
        ? undefined
        : html`<p class="said">${reason}${code === null ? undefined : html` ${mono(code)}`}</p>`
    }`
  }
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ["sent", "Recorded as sent."],
  ["deferred", "Put off to a retry on the same key."],
  ["suppressed", "Not sent: nobody is left to get it."],
  ["failed", "Ended without being sent."]
])

const rowLine = (row: StoryRow): Line | undefined =>
  row.outcome === null
    ? undefined
    : {
        at: row.created_at,
        said: html`<p>${ENDS.get(row.outcome) ?? row.outcome}${row.failed_over ? " It went to the fallback." : ""}</p>${
          row.error === null || row.outcome === "sent" ? undefined : html`<p class="said">${row.error}</p>`
        }`
      }

/** How long it waited for its turn, of a mail of the send queue that a provider was asked for. */
const waited = ({ attempts, queued }: StoryRow): number | undefined => {
  const [first] = attempts
  if (queued === null || first === undefined) return undefined
  return Math.max(0, first.startedAt - Math.max(Date.parse(queued.queuedAt), Date.parse(queued.sendAt)))
}

const queuedLines = ({ queued }: StoryRow): ReadonlyArray<Line> => {
  if (queued === null) return []
  const isLater = Date.parse(queued.sendAt) > Date.parse(queued.queuedAt)
  return [
    {
      at: queued.queuedAt,
      said: html`<p>Queued${isLater ? html`, to be sent ${moment(queued.sendAt)}` : undefined}.</p>`
    }
  ]
}

/** An event's body, pretty, and cut where it is long. */
const rawBody = (raw: unknown): Html => {
  const text = JSON.stringify(raw, null, 2)
  const shown =
    text.length > MAX_RAW ? `${text.slice(0, MAX_RAW)}\n… ${text.length - MAX_RAW} more characters` : text
  return html`<details><summary>Raw event</summary><pre tabindex="0" role="region" aria-label="Raw event">${shown}</pre></details>`
}

const bodyOf = ({ bytes, raw }: LoggedEvent): Html | undefined => {
  if (raw !== null) return rawBody(raw)
  return bytes === 0
    ? undefined
    : html`<p class="help">Its body (${bytes.toLocaleString("en")} bytes) is not shown.</p>`
}

/** An event, after a line on those before it that were not kept. */
const eventLines = ({ events, provider }: StoryRow): ReadonlyArray<Line> =>
  events.flatMap((one, index) => {
    const { at, by, event, number } = one
    const leftOut = number - 1 - (events[index - 1]?.number ?? 0)
    const gap = html`<p class="help">${leftOut.toLocaleString("en")} more events, which are not kept.</p>`
    const said = html`<p>${tag(event, moodOf(event))} reported by <strong>${provider === null ? "the provider" : providerNamed(provider)}</strong>${
      by === "poll" ? ", found in its list" : ""
    }.</p>${bodyOf(one)}`
    return [...(leftOut > 0 ? [{ at, said: gap }] : []), { at, said }]
  })

const markLines = ({ last_event_at, suppression_marks }: StoryRow): ReadonlyArray<Line> =>
  suppression_marks.flatMap((mark) => {
    const [reason, address] = [mark.slice(0, mark.indexOf(":")), mark.slice(mark.indexOf(":") + 1)]
    return address === "" || last_event_at === null
      ? []
      : [
          {
            at: last_event_at,
            said: html`<p>${address} went onto the suppression list: ${reason.replaceAll("_", " ")}.</p>`
          }
        ]
  })

const alertLines = ({ alerts, rows }: MailStory): ReadonlyArray<Line> => [
  ...alerts.flatMap(({ attempts, claimedAt, confirmedAt, dueAt }): ReadonlyArray<Line> =>
    confirmedAt === null
      ? [
          {
            at: claimedAt,
            said: html`<p>The alert about it did not go out yet (tried ${attempts} times); next ${dueAt === null ? "soon" : moment(dueAt)}.</p>`
          }
        ]
      : [{ at: confirmedAt, said: html`<p>The alert about it went out.</p>` }]
  ),
  ...rows.flatMap(({ alerted_at, id }) =>
    alerted_at === null || alerts.some(({ sendId }) => sendId === id)
      ? []
      : [
          {
            at: alerted_at,
            said: html`<p>Recorded late, from the provider’s list: no alert goes out about it.</p>`
          }
        ]
  )
]

/** The story in the order in which it happened. */
const timeline = (story: MailStory): Html => {
  const happened = [
    ...story.rows.flatMap((row) => [
      ...queuedLines(row),
      ...row.attempts.map(attemptLine),
      ...[rowLine(row)].filter((line) => line !== undefined),
      ...eventLines(row),
      ...markLines(row)
    ]),
    ...alertLines(story)
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  return html`<section aria-labelledby="story"><h2 id="story">What happened</h2>
${timelineOf(happened)}</section>`
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

/** The copy that a simulated provider delivered. */
const inOutbox = (id: string): Html => {
  const search = writeTerm({ is: "id", text: id.toLowerCase() })
  return html`<a href="${pathTo.outbox}?${new URLSearchParams({ q: search }).toString()}">its copy</a>`
}

const facts = (story: MailStory, row: StoryRow, mood: Mood, outbox: boolean): Html => {
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
${fact("In the outbox", outbox && row.provider_message_id !== null ? inOutbox(row.provider_message_id) : undefined)}
${fact("Log id", mono(row.id))}
</dl></section>`
}

const stepItem = (step: Step): Html => {
  const command =
    step._tag === "Say" && step.command === undefined
      ? undefined
      : html`<p><code>${step.command ?? ""}</code></p>`
  const action =
    step._tag === "Say"
      ? undefined
      : step._tag === "Unsuppress"
        ? html`<p class="write" hidden><button type="button" data-unsuppress="${step.email}">Remove the suppression</button></p>`
        : html`<p class="write" hidden><button type="button" class="primary" data-redrive="${step.id}">Redrive</button></p>`
  return html`<li><p>${step.text}</p>${action}${command}</li>`
}

/** When it was sent, to whom and by whom. */
const sentLine = ({
  created_at: at,
  other_addresses: others,
  provider,
  to_addresses: [first, ...rest]
}: StoryRow): Html | undefined => {
  if (first === undefined) return undefined
  const more = rest.length + others.length
  return html`To <strong>${first}</strong>${more === 0 ? "" : ` and ${more} more`}, ${moment(at)}${provider === null ? "" : ` by ${providerNamed(provider)}`}.`
}

/** The page of one mail: where it stands, what to do, what happened, and its facts. Complete without a script. */
const mailPage = (
  story: MailStory,
  known: { readonly deadLetter: string | undefined; readonly now: number },
  outbox: boolean
): { readonly title: string; readonly main: Html } => {
  const row = standingRow(story.rows)
  const subject = row.subject ?? "(no subject)"
  const { mood, steps, title, why } = adviceOn(story, known)
  // Why, in the words of the provider or the recipient’s server, unless the sentence has them.
  const quoted =
    row.error === null || row.outcome === "suppressed" || why.includes(row.error) ? undefined : row.error
  const waits = row.status === "deferred" && row.retry_at !== null && known.deadLetter === undefined
  const due =
    waits && row.retry_at !== null
      ? html`<p>Next retry: ${moment(row.retry_at)} <span id="countdown" data-due="${row.retry_at}"></span></p>`
      : undefined
  return {
    title: `Mail: ${subject}`,
    main: html`<p class="back"><a href="${pathTo.adminScreen("email-log")}" id="back">Email log</a></p>
<h1 class="subject">${subject}</h1>
<p id="problem" class="problem" hidden></p>
<section class="card standing ${mood}" aria-labelledby="standing">
<h2 id="standing">${title}</h2>
<p>${sentLine(row)} ${why}</p>
${quoted === undefined ? undefined : html`<blockquote>${quoted}</blockquote>`}
${due}
<h3>What to do</h3>
<ul class="steps">
${lines(steps.map(stepItem))}
</ul>
</section>
<div class="beside">
${timeline(story)}
${facts(story, row, mood, outbox)}
</div>
${confirmDialog}`
  }
}

const noMail = {
  title: "No such mail",
  main: html`<h1>There is no such mail</h1>
<p>The log has no row of this id. <a href="${pathTo.adminScreen("email-log")}">Go to the email log</a></p>`,
  status: 404
}

const away = {
  title: "Not available",
  main: html`<h1>The send log does not answer now</h1>
<p>Reload the page in a minute. <a href="${pathTo.adminScreen("email-log")}">Go to the email log</a></p>`,
  status: 503
}

/** Makes the page of the mail that the row of an id is part of. */
export const makeMailPages = Effect.fnUntraced(function* (outbox: boolean) {
  const read = yield* makeStoryReader
  return Effect.fnUntraced(
    function* (id: string) {
      const found = isUuid(id) ? yield* read(id) : undefined
      return found === undefined
        ? noMail
        : { ...mailPage(found.story, found.known, outbox), script: "admin/mail.js" }
    },
    Effect.catch((error) => Effect.as(Effect.logWarning("a mail's page cannot be made", error), away))
  )
})
