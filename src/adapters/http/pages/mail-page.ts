import { Effect, Option } from "effect"

import { makeStoryReader } from "../../../application/delivery/mail-story.ts"
import { adviceOn, standingRow, type Step } from "../../../domain/delivery/mail-advice.ts"
import type { LoggedEvent, MailStory, StoryRow } from "../../../domain/delivery/mail-story.ts"
import type { Attempt } from "../../../domain/mail/logged-attempt.ts"
import type { Mood } from "../../../domain/mood.ts"
import { pathTo } from "../../../domain/pages.ts"
import { SimulatedMail } from "../../../ports/mail/simulated-mail.ts"
import { isUuid } from "../server/endpoint.ts"
import { confirmDialog } from "./dashboard.ts"
import { type Html, html, lines, type Piece } from "./html.ts"
import { type Copy, duration, mailFacts } from "./mail/facts.ts"
import { moment, mono, moodOf, providerNamed, tag, timeline as timelineOf } from "./ui.ts"

/** Longest body of an event that is shown, characters. */
const MAX_RAW = 20_000

/** A line of the story: when, and what happened. */
interface Line {
  readonly at: string
  readonly said: Piece
}

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
  ["deferred", "Deferred to a retry on the same key."],
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
        : html`<p class="write" hidden><button type="button" class="primary" data-redrive="${step.id}">Send again</button></p>`
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
  copy: Copy | undefined
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
${mailFacts(story, row, mood, copy)}
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
export const makeMailPages = Effect.gen(function* () {
  const read = yield* makeStoryReader
  const simulated = yield* Effect.serviceOption(SimulatedMail)
  /** What a simulated provider made of it; undefined where the providers are real, or it was deleted. */
  const copyOf = Effect.fnUntraced(function* (row: StoryRow): Effect.fn.Return<Copy | undefined> {
    const [address] = [...row.to_addresses, ...row.other_addresses]
    if (Option.isNone(simulated) || row.provider_message_id === null || address === undefined)
      return undefined
    const copies = yield* simulated.value.outbox
      .list({ address: address.toLowerCase() })
      .pipe(Effect.orElseSucceed(() => []))
    return copies.find(({ messageId }) => messageId === row.provider_message_id)
  })
  return Effect.fnUntraced(
    function* (id: string) {
      const found = isUuid(id) ? yield* read(id) : undefined
      if (found === undefined) return noMail
      const copy = yield* copyOf(standingRow(found.story.rows))
      return { ...mailPage(found.story, found.known, copy), script: "admin/mail.js" }
    },
    Effect.catch((error) => Effect.as(Effect.logWarning("a mail's page cannot be made", error), away))
  )
})
