import { Clock, Effect } from "effect"

import { ConfiguredProviders } from "../../../../application/configured-providers.ts"
import type { EmailStat } from "../../../../domain/delivery/email-log-row.ts"
import { bucketsOf, isWanted } from "../../../../domain/delivery/health.ts"
import { hasEvents, summarize } from "../../../../domain/delivery/stats.ts"
import { Provider } from "../../../../domain/mail/provider.ts"
import { Category, UNKNOWN_CATEGORY } from "../../../../domain/mail/suppression/policy.ts"
import { ADMIN_SCREENS, pathTo } from "../../../../domain/pages.ts"
import { EmailStats, MAX_STATS_DAYS } from "../../../../ports/delivery/email-log-query.ts"
import { type Html, html } from "../html.ts"
import {
  banner,
  empty,
  NOTHING,
  number,
  option,
  pageHead,
  percent,
  providerNamed,
  table,
  usd,
  words
} from "../ui.ts"
import { mailChart } from "./chart.ts"
import { mailFigures } from "./figures.ts"

const DAYS = [7, 30, 90, 365]
const USUAL_DAYS = 30
const CATEGORIES = [...Category.literals, UNKNOWN_CATEGORY]

/** What the page's address asks for. */
interface Asked {
  readonly days: number
  readonly provider: Provider | undefined
  readonly category: string | undefined
}

/** Anything that is no choice of the page counts as missing. */
const askedIn = (url: string): Asked => {
  const query = new URLSearchParams(url.split("?", 2)[1] ?? "")
  return {
    days: DAYS.find((days) => String(days) === query.get("days")) ?? USUAL_DAYS,
    provider: Provider.literals.find((name) => name === query.get("provider")),
    category: CATEGORIES.find((name) => name === query.get("category"))
  }
}

const filters = ({ category, days, provider }: Asked, providers: ReadonlyArray<Provider>): Html =>
  html`<form class="toolbar" method="get" action="${pathTo.adminScreen("statistics")}">
<select name="days" aria-label="Period">${DAYS.map((value) => option(String(value), `Last ${value} days`, value === days))}</select>
<select name="category" aria-label="Category">${option("", "Any category")}${CATEGORIES.map((name) => option(name, words(name), name === category))}</select>
<select name="provider" aria-label="Provider">${option("", "Any provider")}${[...new Set([...providers, ...(provider === undefined ? [] : [provider])])].map((name) => option(name, providerNamed(name), name === provider))}</select>
<button type="submit">Show</button>
</form>`

const csvPath = ({ category, days, provider }: Asked): string =>
  `/api/admin/email-stats.csv?${new URLSearchParams({
    days: String(days),
    ...(category === undefined ? {} : { category }),
    ...(provider === undefined ? {} : { provider })
  }).toString()}`

/** The sums of each category and provider. */
const sums = (stats: ReadonlyArray<EmailStat>): Html => {
  const groups = [
    ...Map.groupBy(stats, ({ category, provider }) => JSON.stringify([category, provider])).values()
  ]
  const rows = groups
    .map((group) => ({ category: group[0]!.category, provider: group[0]!.provider, ...summarize(group) }))
    .sort((one, other) => other.total - one.total)
  type Row = (typeof rows)[number]
  const share = (row: Row, rate: number | null) =>
    rate === null || !hasEvents(row) ? NOTHING : percent(rate)
  return table<Row>(
    { id: "sums", caption: "By category and provider", isOfFigures: true },
    [
      ["Category", ({ category }) => words(category)],
      ["Sent by", ({ provider }) => providerNamed(provider)],
      ["Mails", ({ total }) => number(total)],
      ["Delivered", (row) => share(row, row.rates.delivered)],
      ["Not delivered", ({ undelivered }) => number(undelivered)],
      ["Bounced", (row) => share(row, row.rates.bounced)],
      ["Reported as spam", (row) => share(row, row.rates.complained)],
      ["Failed", ({ byStatus }) => number(byStatus.failed)],
      ["Failed over", ({ failedOver }) => number(failedOver)],
      ["Cost", ({ costUsd }) => usd(costUsd)]
    ],
    rows
  )
}

/** Makes the page of what became of the mail, complete as it is served. */
export const makeStatisticsPage = Effect.gen(function* () {
  const stats = yield* EmailStats
  const providers = yield* ConfiguredProviders
  return Effect.fnUntraced(function* (url: string) {
    const asked = askedIn(url)
    const { days } = asked
    const hasBefore = 2 * days <= MAX_STATS_DAYS
    const found = yield* stats.since(hasBefore ? 2 * days : days).pipe(
      Effect.map(({ stats: counted }) => counted.filter((stat) => isWanted(stat, asked))),
      Effect.catch((error) =>
        Effect.as(Effect.logWarning("the send log cannot be counted", error), undefined)
      )
    )
    const buckets = bucketsOf(days, yield* Clock.currentTimeMillis)
    const isNow = new Set(buckets)
    const [now, before] = [
      found?.filter(({ day }) => isNow.has(day)) ?? [],
      found?.filter(({ day }) => !isNow.has(day)) ?? []
    ]
    const shown =
      found === undefined
        ? banner("problem", "The send log cannot be counted now. Reload the page in a minute.")
        : html`${mailFigures(
            { now, before: hasBefore ? before : undefined },
            { ...asked, since: buckets[0] ?? "" },
            [{ name: "Cost", value: usd(summarize(now).costUsd) }]
          )}
${mailChart("mails", "Mails a day", now, buckets)}
${now.length === 0 ? empty("No mail in this period.") : sums(now)}`
    return {
      title: ADMIN_SCREENS.statistics,
      main: html`${pageHead(ADMIN_SCREENS.statistics, {
        facts: "Days in UTC",
        actions: html`${filters(asked, providers)}<a class="button" href="${csvPath(asked)}" download>Export CSV</a>`
      })}
${shown}`
    }
  })
})
