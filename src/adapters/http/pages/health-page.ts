import { type AlarmName } from "../../../domain/delivery/alarm-rules.ts"
import { alarmMeaning } from "../../../domain/delivery/alarm-texts.ts"
import { type Measure, type Period, PERIODS, type Series } from "../../../domain/delivery/health.ts"
import { type Provider } from "../../../domain/mail/provider.ts"
import type { Mood } from "../../../domain/mood.ts"
import { pathTo } from "../../../domain/pages.ts"
import { type HealthFacts, MOST_WAITING, type QueueName } from "../../../ports/delivery/health-board.ts"
import type { ReadinessReport } from "../../../ports/readiness.ts"
import { chart } from "./charts.ts"
import { type Html, html, lines, type Piece } from "./html.ts"
import { moment, NOTHING, number, option, table, usd } from "./ui.ts"

/** What the page's address asks for. */
export interface HealthQuery {
  readonly days: Period
  readonly provider: Provider | undefined
}

/** What the page shows; undefined is what does not answer now. */
interface Health {
  readonly query: HealthQuery
  /** Those that the settings name. */
  readonly providers: ReadonlyArray<Provider>
  readonly buckets: ReadonlyArray<string>
  readonly series: ReadonlyArray<Series> | undefined
  readonly facts: HealthFacts | undefined
  readonly report: ReadinessReport
  /** Changes with what the page shows. */
  readonly version: string
}

const CHARTS: Readonly<
  Record<Measure, { readonly title: string; readonly mood: Mood; readonly status?: string }>
> = {
  accepted: { title: "Sent", mood: "" },
  delivered: { title: "Delivered", mood: "good", status: "delivered" },
  deferred: { title: "Deferred", mood: "wait", status: "deferred" },
  failed: { title: "Failed", mood: "bad", status: "failed" },
  bounced: { title: "Bounced", mood: "bad", status: "bounced" },
  complained: { title: "Complained", mood: "bad", status: "complained" },
  failedOver: { title: "Failed over", mood: "wait" }
}

const label = (bucket: string): string =>
  bucket.length === 13 ? `${bucket.slice(0, 10)} ${bucket.slice(11)}:00` : bucket

const away = (what: string): Html =>
  html`<p class="problem">${what} cannot be read now. Reload the page in a minute.</p>`

const PERIOD_NAMES: Readonly<Record<Period, string>> = {
  1: "Last 24 hours",
  7: "Last 7 days",
  30: "Last 30 days",
  90: "Last 90 days"
}

/** Mail of a provider that the settings no longer name can still be asked for by address. */
const namedOr = (providers: ReadonlyArray<Provider>, asked: Provider | undefined): ReadonlyArray<Provider> =>
  asked === undefined || providers.includes(asked) ? providers : [...providers, asked]

const filters = ({ days, provider }: HealthQuery, providers: ReadonlyArray<Provider>): Html =>
  html`<form class="filters" method="get" action="${pathTo.admin}">
<div class="field"><label for="f-days">Period</label><select id="f-days" name="days">${PERIODS.map((period) =>
    option(String(period), PERIOD_NAMES[period], period === days)
  )}</select></div>
<div class="field"><label for="f-provider">Provider</label><select id="f-provider" name="provider">${option("", "Any", provider === undefined)}${namedOr(
    providers,
    provider
  ).map((name) => option(name, name, name === provider))}</select></div>
<div class="buttons"><button type="submit" class="primary">Show</button></div>
</form>`

const mail = ({ buckets, query, series }: Health): Html => {
  if (series === undefined) return away("The send log")
  const labels = buckets.map(label)
  const asked = {
    ...(query.provider === undefined ? {} : { provider: query.provider }),
    since: buckets[0]?.slice(0, 10) ?? ""
  }
  return html`<div class="charts">
${lines(
  series.map(({ counts, measure, total }) => {
    const { mood, status, title } = CHARTS[measure]
    const href = status === undefined ? undefined : pathTo.adminScreen("email-log", { status, ...asked })
    return chart({ id: measure, title, mood, total, counts, labels, href })
  })
)}
</div>`
}

/** Where to look into an alarm. */
const LOOK: Readonly<Partial<Record<AlarmName, readonly [path: string, text: string]>>> = {
  failovers: [pathTo.adminScreen("email-log"), "Open the log"],
  provider_b_bounces: [
    pathTo.adminScreen("email-log", { status: "bounced", provider: "provider_b" }),
    "Show the bounced mails"
  ],
  provider_b_complaints: [
    pathTo.adminScreen("email-log", { status: "complained", provider: "provider_b" }),
    "Show the mails"
  ],
  dead_letters: [pathTo.adminScreen("dead-letters"), "Show the dead letters"],
  deferred_sends: [pathTo.adminScreen("email-log", { status: "deferred" }), "Show the deferred mails"],
  failed_sends: [pathTo.adminScreen("email-log", { status: "failed" }), "Show the failed mails"],
  unclaimed_sends: [pathTo.adminScreen("email-log"), "Open the log"]
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const alarms = ({ facts }: Health): Html => {
  if (facts === undefined) return away("The alarms")
  const open = lines(
    facts.alarms.map(({ detail, name, since }) => {
      const { remedy, title } = alarmMeaning(name)
      const look = LOOK[name]
      return html`<li class="alarm"><h3>${title}</h3>
<p>${sentence(detail)} Since ${moment(since)}.</p>
<p>${remedy}${look === undefined ? undefined : html` <a href="${look[0]}">${look[1]}</a>`}</p></li>`
    })
  )
  const past = lines(
    facts.past.map(
      ({ alarm, begunAt, detail, endedAt }) =>
        html`<li>${moment(begunAt)} to ${moment(endedAt)}<div><p><strong>${alarmMeaning(alarm).title}</strong></p><p class="said">${sentence(detail)}</p></div></li>`
    )
  )
  return html`${facts.alarms.length === 0 ? html`<p class="done calm">No alarm is firing.</p>` : html`<ul class="alarms">${open}</ul>`}
${facts.past.length === 0 ? undefined : html`<details id="past"><summary>Past alarms (${facts.past.length})</summary><ol class="past">${past}</ol></details>`}`
}

const QUEUE_NAMES: Readonly<Record<QueueName, readonly [name: string, path: string | undefined]>> = {
  retries: ["Mails that wait for a retry", pathTo.adminScreen("email-log", { status: "deferred" })],
  send_queue: ["Mails of the send queue that are due", pathTo.adminScreen("queue")],
  event_hooks: ["Events for other systems that are due", pathTo.adminScreen("event-hooks")],
  alerts: ["Alerts that have not gone out", undefined],
  messages: [
    "Messages that wait for their notification",
    pathTo.adminScreen("messages", { state: "waiting" })
  ],
  conversions: ["Conversions that wait for a job", undefined],
  chunks: ["Parts of documents that wait for a worker", pathTo.adminScreen("jobs", { status: "pending" })],
  batch: ["Conversions that wait for the batch", pathTo.adminScreen("jobs", { status: "waiting_batch" })],
  mails: ["Mails that are being converted", undefined],
  replies: ["Replies with results that wait", undefined]
}

const work = ({ facts }: Health): Html => {
  if (facts === undefined) return away("What waits")
  return table(
    { id: "waiting", caption: "Work that waits" },
    [
      [
        "Work",
        ({ name, waiting }) => {
          const [text, path] = QUEUE_NAMES[name]
          return path === undefined || waiting === 0 ? text : html`<a href="${path}">${text}</a>`
        }
      ],
      ["Waiting", ({ waiting }) => `${waiting >= MOST_WAITING ? "at least " : ""}${number(waiting)}`],
      ["Oldest since", ({ oldestAt }) => (oldestAt === null ? NOTHING : moment(oldestAt))]
    ],
    facts.queues
  )
}

const STATES: ReadonlyMap<string, string> = new Map([
  ["preparing", "being prepared"],
  ["submitted", "at the batch service"],
  ["collected", "collected in the last day"],
  ["skipped", "not wanted in the last day"],
  ["failed", "failed in the last day"],
  ["expired", "expired in the last day"]
])

const models = ({ facts }: Health): Html | undefined => {
  if (facts === undefined) return undefined
  const { batch, budgetUsd, spentUsd } = facts
  const jobs =
    batch.length === 0
      ? "none"
      : batch.map(({ count, state }) => `${number(count)} ${STATES.get(state) ?? state}`).join(", ")
  const spent =
    budgetUsd === undefined
      ? `${usd(spentUsd)}; no daily budget is set`
      : html`${usd(spentUsd)} of ${usd(budgetUsd)} <meter min="0" max="${budgetUsd}" value="${Math.min(spentUsd, budgetUsd)}" aria-label="Share of the daily budget">${usd(spentUsd)}</meter>`
  return html`<dl class="facts-list"><div><dt>Models today (UTC)</dt><dd>${spent}</dd></div><div><dt>Batch jobs</dt><dd>${jobs}</dd></div></dl>`
}

const parts = ({ report: { checks, ready, supervisors } }: Health): Html =>
  html`<p class="${ready ? "done calm" : "problem"}">${ready ? "Everything that this process needs answers." : "Not everything is well:"}${
    ready
      ? ""
      : ` ${[...checks.filter(({ ok }) => !ok), ...supervisors.filter(({ state }) => state !== "running")].map(({ name }) => name).join(", ")}`
  }</p>
${
  checks.every(({ ok }) => ok)
    ? undefined
    : table(
        { id: "silent", caption: "What does not answer" },
        [
          ["Part", ({ name }) => name],
          ["Why", ({ lastError }) => lastError ?? NOTHING]
        ],
        checks.filter(({ ok }) => !ok)
      )
}
<details id="supervisors"><summary>Parts of this process (${supervisors.length})</summary>${table(
    { id: "parts", caption: "Parts of this process" },
    [
      ["Part", ({ name }) => name],
      ["State", ({ state }) => state],
      ["Restarts", ({ restarts }) => number(restarts)],
      ["Last error", ({ lastError }) => lastError ?? NOTHING]
    ],
    supervisors
  )}</details>`

const section = (id: string, title: string, content: Piece): Html =>
  html`<section id="${id}" data-part aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${content}
</section>`

/** The overview. Complete without a script; its script replaces the parts that changed. */
export const healthPage = (health: Health): Html =>
  html`<div id="health" data-version="${health.version}">
<h1>Overview</h1>
<p id="live" class="help" hidden></p>
${section("alarms", "Alarms", alarms(health))}
${filters(health.query, health.providers)}
${section("mail", `Mail, ${PERIOD_NAMES[health.query.days].toLowerCase()}`, mail(health))}
${section("work", "Work", [work(health), models(health)])}
${section("process", "This process", parts(health))}
</div>`
