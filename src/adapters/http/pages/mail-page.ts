import { Effect } from "effect"

import { makeStoryReader } from "../../../application/delivery/mail-story.ts"
import { adviceOn, standingRow, type Step } from "../../../domain/delivery/mail-advice.ts"
import type { LoggedEvent, MailStory, StoryRow } from "../../../domain/delivery/mail-story.ts"
import type { Attempt } from "../../../domain/mail/logged-attempt.ts"
import { isUuid } from "../server/endpoint.ts"
import { confirmDialog } from "./dashboard.ts"
import { escape } from "./html-page.ts"

/** Longest body of an event that is shown, characters. */
const MAX_RAW = 20_000

/** A time in UTC, with seconds; its page's script shows it in the reader's zone. */
export const moment = (iso: string): string =>
  `<time datetime="${escape(iso.replace(/(\.\d{3})\d+/, "$1"))}">${escape(iso.slice(0, 19).replace("T", " "))} UTC</time>`

export const tag = (text: string, mood: string): string =>
  `<span class="tag ${mood}">${escape(text.replaceAll("_", " "))}</span>`

/** A line of the story: when, and what happened. */
interface Line {
  readonly at: string
  readonly html: string
}

const duration = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

const OUTCOMES: Readonly<Record<Attempt["outcome"], readonly [mood: string, text: string]>> = {
  accepted: ["good", "accepted it"],
  rejected: ["bad", "refused this mail"],
  unavailable: ["bad", "did not take it; nothing left"],
  ambiguous: ["wait", "gave no clear answer: it may be out"]
}

const attemptLine = ({ code, durationMs, outcome, provider, reason, startedAt }: Attempt): Line => {
  const [mood, text] = OUTCOMES[outcome]
  return {
    at: new Date(startedAt).toISOString(),
    html:
      `<p>${tag(outcome, mood)} <strong>${escape(provider)}</strong> ${text}, after ${duration(durationMs)}.</p>` +
      (reason === null
        ? ""
        : `<p class="said">${escape(reason)}${code === null ? "" : ` <span class="id">${escape(code)}</span>`}</p>`)
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
        html:
          `<p>${escape(ENDS.get(row.outcome) ?? row.outcome)}${row.failed_over ? " It went to the fallback." : ""}</p>` +
          (row.error === null || row.outcome === "sent" ? "" : `<p class="said">${escape(row.error)}</p>`)
      }

/** An event's body, pretty, and cut where it is long. */
const rawBody = (raw: unknown): string => {
  const text = JSON.stringify(raw, null, 2)
  const shown =
    text.length > MAX_RAW ? `${text.slice(0, MAX_RAW)}\n… ${text.length - MAX_RAW} more characters` : text
  return `<details><summary>Body as it came</summary><pre tabindex="0" role="region" aria-label="Body of the event">${escape(shown)}</pre></details>`
}

const MOODS: ReadonlyMap<string, string> = new Map([
  ["delivered", "good"],
  ["opened", "good"],
  ["clicked", "good"],
  ["delivery_delayed", "wait"],
  ["bounce_transient", "bad"],
  ["bounced", "bad"],
  ["complained", "bad"],
  ["failed", "bad"],
  ["suppressed", "bad"]
])

const bodyOf = ({ bytes, raw }: LoggedEvent): string => {
  if (raw !== null) return rawBody(raw)
  return bytes === 0 ? "" : `<p class="help">Its body (${bytes.toLocaleString("en")} bytes) is not shown.</p>`
}

/** An event, after a line on those before it that were not kept. */
const eventLines = ({ events, provider }: StoryRow): ReadonlyArray<Line> =>
  events.flatMap((one, index) => {
    const { at, by, event, number } = one
    const leftOut = number - 1 - (events[index - 1]?.number ?? 0)
    const gap = `<p class="help">${leftOut.toLocaleString("en")} more events, which are not kept.</p>`
    const html =
      `<p>${tag(event, MOODS.get(event) ?? "")} reported by <strong>${escape(provider ?? "the provider")}</strong>` +
      `${by === "poll" ? ", found in its list" : ""}.</p>${bodyOf(one)}`
    return [...(leftOut > 0 ? [{ at, html: gap }] : []), { at, html }]
  })

const markLines = ({ last_event_at, suppression_marks }: StoryRow): ReadonlyArray<Line> =>
  suppression_marks.flatMap((mark) => {
    const [reason, address] = [mark.slice(0, mark.indexOf(":")), mark.slice(mark.indexOf(":") + 1)]
    return address === "" || last_event_at === null
      ? []
      : [
          {
            at: last_event_at,
            html: `<p>${escape(address)} went onto the suppression list: ${escape(reason.replaceAll("_", " "))}.</p>`
          }
        ]
  })

const alertLines = ({ alerts, rows }: MailStory): ReadonlyArray<Line> => [
  ...alerts.flatMap(({ attempts, claimedAt, confirmedAt, dueAt }): ReadonlyArray<Line> =>
    confirmedAt === null
      ? [
          {
            at: claimedAt,
            html: `<p>The alert about it did not go out yet (tried ${attempts} times); next ${dueAt === null ? "soon" : moment(dueAt)}.</p>`
          }
        ]
      : [{ at: confirmedAt, html: "<p>The alert about it went out.</p>" }]
  ),
  ...rows.flatMap(({ alerted_at, id }) =>
    alerted_at === null || alerts.some(({ sendId }) => sendId === id)
      ? []
      : [
          {
            at: alerted_at,
            html: "<p>Recorded late, from the provider’s list: no alert goes out about it.</p>"
          }
        ]
  )
]

/** The story in the order in which it happened. */
const timeline = (story: MailStory): string => {
  const lines = [
    ...story.rows.flatMap((row) => [
      ...row.attempts.map(attemptLine),
      ...[rowLine(row)].filter((line) => line !== undefined),
      ...eventLines(row),
      ...markLines(row)
    ]),
    ...alertLines(story)
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  return `<section aria-labelledby="story"><h2 id="story">What happened</h2>
<ol class="timeline">
${lines.map(({ at, html }) => `<li>${moment(at)}<div>${html}</div></li>`).join("\n")}
</ol></section>`
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

const list = (addresses: ReadonlyArray<string>): string =>
  `<ul>${addresses.map((address) => `<li>${escape(address)}</li>`).join("")}</ul>`

export const fact = (name: string, html: string | undefined): string =>
  html === undefined ? "" : `<div><dt>${name}</dt><dd>${html}</dd></div>`

const text = (value: string | null): string | undefined => (value === null ? undefined : escape(value))

const mono = (value: string | null): string | undefined =>
  value === null ? undefined : `<span class="id">${escape(value)}</span>`

/** Who was left out, and why: the reasons that stand on the list now. */
const dropped = ({ suppressions }: MailStory, addresses: ReadonlyArray<string>): string | undefined =>
  addresses.length === 0
    ? undefined
    : `<ul>${addresses
        .map((address) => {
          const reasons = suppressions.filter(({ email }) => email === address)
          const why =
            reasons.length === 0
              ? "suppressed then, not any more"
              : reasons
                  .map(
                    ({ note, reason, since }) =>
                      `${escape(reason.replaceAll("_", " "))} since ${moment(since)}${note === null ? "" : ` (${escape(note)})`}`
                  )
                  .join(", ")
          return `<li>${escape(address)} <span class="help">${why}</span></li>`
        })
        .join("")}</ul>`

const cost = (rows: ReadonlyArray<StoryRow>): string | undefined => {
  const known = rows.flatMap(({ cost_usd: usd }) => (usd === null ? [] : [usd]))
  if (known.length === 0) return undefined
  const sum = known.reduce((one, other) => one + other, 0)
  return `$${sum.toFixed(sum !== 0 && sum < 0.01 ? 6 : 2)}`
}

const facts = (story: MailStory, row: StoryRow, mood: string): string => {
  const { claim } = story
  return `<section aria-labelledby="facts"><h2 id="facts">The mail</h2>
<dl class="facts-list">
${fact("To", row.to_addresses.length === 0 ? undefined : list(row.to_addresses))}
${fact("Cc and Bcc", row.other_addresses.length === 0 ? undefined : list(row.other_addresses))}
${fact("Left out, since suppressed", dropped(story, row.dropped_addresses))}
${fact("From", text(row.from_address))}
${fact("Status in the log", tag(row.status, mood))}
${fact("Category", text(row.category))}
${fact("Source", text(row.source))}
${fact("Cost", cost(story.rows))}
${fact("Idempotency key", mono(row.idempotency_key))}
${fact(
  "The key now",
  claim === undefined
    ? undefined
    : `${escape(CLAIMS.get(claim.state) ?? claim.state)} First attempt ${moment(claim.firstAttemptAt)}, at ${escape(claim.provider)}.`
)}
${fact("Provider’s id", mono(row.provider_message_id))}
${fact("Row of the log", mono(row.id))}
</dl></section>`
}

const stepHtml = (step: Step): string => {
  const command =
    step._tag === "Say" && step.command === undefined
      ? ""
      : `<p><code>${escape(step.command ?? "")}</code></p>`
  const action =
    step._tag === "Say"
      ? ""
      : step._tag === "Unsuppress"
        ? `<p class="write" hidden><button type="button" data-unsuppress="${escape(step.email)}">Remove the suppression</button></p>`
        : `<p class="write" hidden><button type="button" class="primary" data-redrive="${escape(step.id)}">Redrive</button></p>`
  return `<li><p>${escape(step.text)}</p>${action}${command}</li>`
}

/** The page of one mail: where it stands, what to do, what happened, and its facts. Complete without a script. */
const mailPage = (
  story: MailStory,
  known: { readonly deadLetter: string | undefined; readonly now: number }
): { readonly title: string; readonly main: string } => {
  const row = standingRow(story.rows)
  const subject = row.subject ?? "(no subject)"
  const { mood, steps, title, why } = adviceOn(story, known)
  const waits = row.status === "deferred" && row.retry_at !== null && known.deadLetter === undefined
  const due =
    waits && row.retry_at !== null
      ? `<p>Next retry: ${moment(row.retry_at)} <span id="countdown" data-due="${escape(row.retry_at)}"></span></p>`
      : ""
  return {
    title: `Mail: ${subject}`,
    main: `<p><a href="/admin/email-log" id="back">Email log</a></p>
<h1 class="subject">${escape(subject)}</h1>
<p id="problem" class="problem" hidden></p>
<section class="card standing ${mood}" aria-labelledby="standing">
<h2 id="standing">${escape(title)}</h2>
<p>${escape(why)}</p>
${due}
<h3>What to do</h3>
<ul class="steps">
${steps.map(stepHtml).join("\n")}
</ul>
</section>
${facts(story, row, mood)}
${timeline(story)}
${confirmDialog}`
  }
}

const noMail = {
  title: "No such mail",
  main: `<h1>There is no such mail</h1>
<p>The log has no row of this id. <a href="/admin/email-log">Go to the email log</a></p>`,
  status: 404
}

const away = {
  title: "Not available",
  main: `<h1>The send log does not answer now</h1>
<p>Reload the page in a minute. <a href="/admin/email-log">Go to the email log</a></p>`,
  status: 503
}

/** Makes the page of the mail that the row of an id is part of. */
export const makeMailPages = Effect.gen(function* () {
  const read = yield* makeStoryReader
  return Effect.fnUntraced(
    function* (id: string) {
      const found = isUuid(id) ? yield* read(id) : undefined
      return found === undefined ? noMail : { ...mailPage(found.story, found.known), script: "admin/mail.js" }
    },
    Effect.catch((error) => Effect.as(Effect.logWarning("a mail's page cannot be made", error), away))
  )
})
