import { type AlarmName } from "../../../domain/delivery/alarm-rules.ts"
import { alarmMeaning } from "../../../domain/delivery/alarm-texts.ts"
import { type Measure, type Period, PERIODS, type Series } from "../../../domain/delivery/health.ts"
import { Provider } from "../../../domain/mail/failover.ts"
import { type HealthFacts, MOST_WAITING, type QueueName } from "../../../ports/delivery/health-board.ts"
import type { ReadinessReport } from "../../../ports/readiness.ts"
import { chart, number } from "./charts.ts"
import { escape } from "./html-page.ts"
import { moment } from "./mail-page.ts"

/** What the page's address asks for. */
export interface HealthQuery {
  readonly days: Period
  readonly provider: Provider | undefined
}

/** What the page shows; undefined is what does not answer now. */
interface Health {
  readonly query: HealthQuery
  readonly buckets: ReadonlyArray<string>
  readonly series: ReadonlyArray<Series> | undefined
  readonly facts: HealthFacts | undefined
  readonly report: ReadinessReport
  /** Changes with what the page shows. */
  readonly version: string
}

const CHARTS: Readonly<
  Record<
    Measure,
    { readonly title: string; readonly mood: "good" | "bad" | "wait" | ""; readonly status?: string }
  >
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

const away = (what: string): string =>
  `<p class="problem">${what} cannot be read now. Reload the page in a minute.</p>`

const PERIOD_NAMES: Readonly<Record<Period, string>> = {
  1: "Last 24 hours",
  7: "Last 7 days",
  30: "Last 30 days",
  90: "Last 90 days"
}

const option = (value: string, text: string, chosen: boolean): string =>
  `<option value="${value}"${chosen ? " selected" : ""}>${text}</option>`

const filters = ({ days, provider }: HealthQuery): string =>
  `<form class="filters" method="get" action="/admin">
<div class="field"><label for="f-days">Period</label><select id="f-days" name="days">${PERIODS.map((period) =>
    option(String(period), PERIOD_NAMES[period], period === days)
  ).join("")}</select></div>
<div class="field"><label for="f-provider">Provider</label><select id="f-provider" name="provider">${option("", "Any", provider === undefined)}${Provider.literals
    .map((name) => option(name, name, name === provider))
    .join("")}</select></div>
<div class="buttons"><button type="submit" class="primary">Show</button></div>
</form>`

const mail = ({ buckets, query, series }: Health): string => {
  if (series === undefined) return away("The send log")
  const labels = buckets.map(label)
  const provider = query.provider === undefined ? "" : `&provider=${query.provider}`
  const since = `&since=${buckets[0]?.slice(0, 10) ?? ""}`
  return `<div class="charts">
${series
  .map(({ counts, measure, total }) => {
    const { mood, status, title } = CHARTS[measure]
    const href = status === undefined ? undefined : `/admin/email-log?status=${status}${provider}${since}`
    return chart({ id: measure, title, mood, total, counts, labels, href })
  })
  .join("\n")}
</div>`
}

/** Where to look into an alarm. */
const LOOK: Readonly<Partial<Record<AlarmName, readonly [path: string, text: string]>>> = {
  failovers: ["/admin/email-log", "Open the log"],
  provider_b_bounces: ["/admin/email-log?status=bounced&provider=provider_b", "Show the bounced mails"],
  provider_b_complaints: ["/admin/email-log?status=complained&provider=provider_b", "Show the mails"],
  dead_letters: ["/admin/dead-letters", "Show the dead letters"],
  deferred_sends: ["/admin/email-log?status=deferred", "Show the deferred mails"],
  failed_sends: ["/admin/email-log?status=failed", "Show the failed mails"],
  unclaimed_sends: ["/admin/email-log", "Open the log"]
}

const sentence = (text: string): string => escape(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`)

const alarms = ({ facts }: Health): string => {
  if (facts === undefined) return away("The alarms")
  const open = facts.alarms
    .map(({ detail, name, since }) => {
      const { remedy, title } = alarmMeaning(name)
      const look = LOOK[name]
      return `<li class="alarm"><h3>${escape(title)}</h3>
<p>${sentence(detail)} Since ${moment(since)}.</p>
<p>${escape(remedy)}${look === undefined ? "" : ` <a href="${look[0]}">${look[1]}</a>`}</p></li>`
    })
    .join("\n")
  const past = facts.past
    .map(
      ({ alarm, begunAt, detail, endedAt }) =>
        `<li>${moment(begunAt)} to ${moment(endedAt)}<div><p><strong>${escape(alarmMeaning(alarm).title)}</strong></p><p class="said">${sentence(detail)}</p></div></li>`
    )
    .join("\n")
  return `${open === "" ? '<p class="done calm">No alarm is firing.</p>' : `<ul class="alarms">${open}</ul>`}
${past === "" ? "" : `<details id="past"><summary>Past alarms (${facts.past.length})</summary><ol class="past">${past}</ol></details>`}`
}

const QUEUE_NAMES: Readonly<Record<QueueName, readonly [name: string, path: string | undefined]>> = {
  retries: ["Mails that wait for a retry", "/admin/email-log?status=deferred"],
  alerts: ["Alerts that have not gone out", undefined],
  messages: ["Messages that wait for their notification", "/admin/messages?state=waiting"],
  conversions: ["Conversions that wait for a job", undefined],
  chunks: ["Parts of documents that wait for a worker", "/admin/jobs?status=pending"],
  batch: ["Conversions that wait for the batch", "/admin/jobs?status=waiting_batch"],
  mails: ["Mails that are being converted", undefined],
  replies: ["Replies with results that wait", undefined]
}

const table = (
  caption: string,
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): string =>
  `<div class="table" role="region" aria-label="${caption}" tabindex="0"><table><caption>${caption}</caption>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>${rows
    .map(
      ([first = "", ...rest]) =>
        `<tr><th scope="row">${first}</th>${rest
          .map((cell, index) => `<td data-label="${heads[index + 1] ?? ""}"><div>${cell}</div></td>`)
          .join("")}</tr>`
    )
    .join("\n")}</tbody></table></div>`

const work = ({ facts }: Health): string => {
  if (facts === undefined) return away("What waits")
  return table(
    "Work that waits",
    ["Work", "Waiting", "Oldest since"],
    facts.queues.map(({ name, oldestAt, waiting }) => {
      const [text, path] = QUEUE_NAMES[name]
      return [
        path === undefined || waiting === 0 ? text : `<a href="${path}">${text}</a>`,
        `${waiting >= MOST_WAITING ? "at least " : ""}${number(waiting)}`,
        oldestAt === null ? "–" : moment(oldestAt)
      ]
    })
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

const dollars = (usd: number): string => `$${usd.toFixed(2)}`

const models = ({ facts }: Health): string => {
  if (facts === undefined) return ""
  const { batch, budgetUsd, spentUsd } = facts
  const jobs =
    batch.length === 0
      ? "none"
      : batch.map(({ count, state }) => `${number(count)} ${escape(STATES.get(state) ?? state)}`).join(", ")
  const spent =
    budgetUsd === undefined
      ? `${dollars(spentUsd)}; no daily budget is set`
      : `${dollars(spentUsd)} of ${dollars(budgetUsd)} <meter min="0" max="${budgetUsd}" value="${Math.min(spentUsd, budgetUsd)}" aria-label="Share of the daily budget">${dollars(spentUsd)}</meter>`
  return `<dl class="facts-list"><div><dt>Models today (UTC)</dt><dd>${spent}</dd></div><div><dt>Batch jobs</dt><dd>${jobs}</dd></div></dl>`
}

const parts = ({ report: { checks, ready, supervisors } }: Health): string =>
  `<p class="${ready ? "done calm" : "problem"}">${ready ? "Everything that this process needs answers." : "Not everything is well:"}${
    ready
      ? ""
      : ` ${[...checks.filter(({ ok }) => !ok), ...supervisors.filter(({ state }) => state !== "running")].map(({ name }) => escape(name)).join(", ")}`
  }</p>
${
  checks.every(({ ok }) => ok)
    ? ""
    : table(
        "What does not answer",
        ["Part", "Why"],
        checks.filter(({ ok }) => !ok).map(({ lastError, name }) => [escape(name), escape(lastError ?? "–")])
      )
}
<details id="supervisors"><summary>Parts of this process (${supervisors.length})</summary>${table(
    "Parts of this process",
    ["Part", "State", "Restarts", "Last error"],
    supervisors.map(({ lastError, name, restarts, state }) => [
      escape(name),
      escape(state),
      number(restarts),
      escape(lastError ?? "–")
    ])
  )}</details>`

const section = (id: string, title: string, html: string): string =>
  `<section id="${id}" data-part aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${html}
</section>`

/** The overview. Complete without a script; its script replaces the parts that changed. */
export const healthPage = (health: Health): string =>
  `<div id="health" data-version="${escape(health.version)}">
<h1>Overview</h1>
<p id="live" class="help" hidden></p>
${section("alarms", "Alarms", alarms(health))}
${filters(health.query)}
${section("mail", `Mail, ${PERIOD_NAMES[health.query.days].toLowerCase()}`, mail(health))}
${section("work", "Work", work(health) + models(health))}
${section("process", "This process", parts(health))}
</div>`
