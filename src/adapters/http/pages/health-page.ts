import {
  type AlarmName,
  isOfSilence,
  type SilenceAlarm,
  silentProvider
} from "../../../domain/delivery/alarm-rules.ts"
import { alarmMeaning } from "../../../domain/delivery/alarm-texts.ts"
import type { EmailStat } from "../../../domain/delivery/email-log-row.ts"
import { type Period, PERIODS } from "../../../domain/delivery/health.ts"
import { type Provider, providerName, REVIEWING_PROVIDER } from "../../../domain/mail/provider.ts"
import { pathTo } from "../../../domain/pages.ts"
import { type HealthFacts, MOST_WAITING, type QueueName } from "../../../ports/delivery/health-board.ts"
import type { ReadinessReport } from "../../../ports/readiness.ts"
import { processes, processTroubles } from "./health/processes.ts"
import { type Html, html, lines, type Piece } from "./html.ts"
import { mailChart } from "./mail/chart.ts"
import { mailFigures } from "./mail/figures.ts"
import { banner, moment, NOTHING, number, option, table, usd } from "./ui.ts"

/** What the page's address asks for. */
export interface HealthQuery {
  readonly days: Period
  readonly provider: Provider | undefined
}

/** What the page shows; undefined is what does not answer now. */
interface Health {
  readonly query: HealthQuery
  /** The providers of the settings. */
  readonly providers: ReadonlyArray<Provider>
  readonly buckets: ReadonlyArray<string>
  /** The mails of the period, and of the one before it. */
  readonly stats:
    | { readonly now: ReadonlyArray<EmailStat>; readonly before: ReadonlyArray<EmailStat> }
    | undefined
  readonly facts: HealthFacts | undefined
  readonly report: ReadinessReport
  /** Changes with what the page shows. */
  readonly version: string
}

const away = (what: string): Html =>
  banner("problem", `${what} cannot be read now. Reload the page in a minute.`)

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
  html`<form class="toolbar" method="get" action="${pathTo.admin}">
<select id="f-days" name="days" aria-label="Period">${PERIODS.map((period) =>
    option(String(period), PERIOD_NAMES[period], period === days)
  )}</select>
<select id="f-provider" name="provider" aria-label="Provider">${option("", "Any provider", provider === undefined)}${namedOr(
    providers,
    provider
  ).map((name) => option(name, providerName(name), name === provider))}</select>
<button type="submit">Show</button>
</form>`

const mail = (health: Health): Html => {
  const { buckets, query, stats } = health
  if (stats === undefined) return away("The send log")
  return html`${mailFigures(stats, { days: query.days, since: buckets[0]?.slice(0, 10) ?? "", provider: query.provider })}
${mailChart("mails", query.days === 1 ? "Mails an hour" : "Mails a day", stats.now, buckets)}`
}

const log = (status: string, text: string) => [pathTo.adminScreen("email-log", { status }), text] as const

/** Where to look into an alarm. */
const LOOK: Readonly<Record<Exclude<AlarmName, SilenceAlarm>, readonly [path: string, text: string]>> = {
  failovers: [pathTo.adminScreen("email-log"), "Open the log"],
  provider_b_bounces: [
    pathTo.adminScreen("email-log", { status: "bounced", provider: REVIEWING_PROVIDER }),
    "Show the bounced mails"
  ],
  provider_b_complaints: [
    pathTo.adminScreen("email-log", { status: "complained", provider: REVIEWING_PROVIDER }),
    "Show the mails"
  ],
  dead_letters: [pathTo.adminScreen("dead-letters"), "Show the dead letters"],
  fallback_only: [pathTo.adminScreen("email-log"), "Open the log"],
  deferred_sends: log("deferred", "Show the deferred mails"),
  retries_overdue: log("deferred", "Show the deferred mails"),
  failed_sends: log("failed", "Show the failed mails"),
  unclaimed_sends: [pathTo.adminScreen("email-log"), "Open the log"],
  queue_overdue: [pathTo.adminScreen("queue"), "Open the send queue"],
  queue_set_aside: log("failed", "Show the failed mails"),
  queue_given_up: log("failed", "Show the failed mails"),
  failed_conversions: [pathTo.adminScreen("jobs", { status: "failed" }), "Show the failed jobs"],
  waiting_conversions: [pathTo.adminScreen("jobs", { status: "pending" }), "Show the jobs that wait"],
  batch_fallback: [pathTo.adminScreen("jobs"), "Show the jobs"],
  unverified_mails: [pathTo.adminScreen("incoming", { outcome: "unverified" }), "Show these mails"],
  waiting_mails: [pathTo.adminScreen("incoming"), "Show the mails"],
  event_hooks: [pathTo.adminScreen("event-hooks"), "Show the event hooks"],
  no_model: [pathTo.adminScreen("jobs"), "Show the jobs"],
  clocks: ["#process", "Show the processes"]
}

const lookInto = (name: AlarmName): readonly [path: string, text: string] =>
  isOfSilence(name)
    ? [pathTo.adminScreen("email-log", { provider: silentProvider(name) }), "Show its mails"]
    : LOOK[name]

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const alarms = ({ facts }: Health): Html => {
  if (facts === undefined) return away("The alarms")
  const open = facts.alarms.map(({ detail, name, since }) => {
    const { remedy, title } = alarmMeaning(name)
    const [path, text] = lookInto(name)
    return html`<li class="alarm"><h3>${title}</h3>
<p>${sentence(detail)} Since ${moment(since)}.</p>
<p>${remedy} <a href="${path}">${text}</a></p></li>`
  })
  const past = lines(
    facts.past.map(
      ({ alarm, begunAt, detail, endedAt }) =>
        html`<li>${moment(begunAt)} to ${moment(endedAt)}<div><p><strong>${alarmMeaning(alarm).title}</strong></p><p class="said">${sentence(detail)}</p></div></li>`
    )
  )
  const ill = processTroubles(facts)
  return html`${facts.alarms.length === 0 ? banner("done", ill.length === 0 && facts.processes.length > 0 ? "No alarm is firing, and every process is well." : "No alarm is firing.") : undefined}
${facts.alarms.length + ill.length === 0 ? undefined : html`<ul class="alarms">${lines([...open, ...ill])}</ul>`}
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
  chunks: ["Chunks that wait for a worker", pathTo.adminScreen("jobs", { status: "pending" })],
  batch: ["Conversions that wait for the batch", pathTo.adminScreen("jobs", { status: "waiting_batch" })],
  mails: ["Mails that are being converted", undefined],
  replies: ["Replies with results that wait", undefined]
}

const work = ({ facts }: Health): Html => {
  if (facts === undefined) return away("What waits")
  const waiting = facts.queues.filter((one) => one.waiting > 0)
  if (waiting.length === 0) return html`<p class="help">Nothing waits: no mail, no event, no document.</p>`
  return table(
    { id: "waiting", caption: "What waits, and since when", heard: true },
    [
      [
        "Work",
        ({ name }) => {
          const [text, path] = QUEUE_NAMES[name]
          return path === undefined ? text : html`<a href="${path}">${text}</a>`
        }
      ],
      ["Waiting", ({ waiting: count }) => `${count >= MOST_WAITING ? "at least " : ""}${number(count)}`],
      ["Oldest since", ({ oldestAt }) => (oldestAt === null ? NOTHING : moment(oldestAt))]
    ],
    waiting
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

const section = (id: string, title: string, content: Piece): Html =>
  html`<section id="${id}" data-part aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${content}
</section>`

/** The overview. Complete without a script; its script replaces the parts that changed. */
export const healthPage = (health: Health): Html =>
  html`<div id="health" data-version="${health.version}">
<div class="head"><h1>Overview</h1><div class="buttons">${filters(health.query, health.providers)}</div></div>
<p id="live" class="problem" hidden></p>
${section("alarms", "What is wrong", alarms(health))}
${section("mail", `Mail, ${PERIOD_NAMES[health.query.days].toLowerCase()}`, mail(health))}
${section("work", "Work that waits", [work(health), models(health)])}
${section("process", "Processes", processes(health.facts, health.report))}
</div>`
