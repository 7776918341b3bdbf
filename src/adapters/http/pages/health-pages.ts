import { createHash } from "node:crypto"

import { Clock, Effect, Stream } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

import { ConfiguredProviders } from "../../../application/configured-providers.ts"
import { bucketsOf, isWanted, PERIODS } from "../../../domain/delivery/health.ts"
import { Provider } from "../../../domain/mail/provider.ts"
import { EmailStats } from "../../../ports/delivery/email-log-query.ts"
import { HealthBoard, type HealthFacts } from "../../../ports/delivery/health-board.ts"
import { Readiness, type ReadinessReport } from "../../../ports/readiness.ts"
import { eventStream } from "../server/responses.ts"
import { type HealthQuery, healthPage } from "./health-page.ts"

/** How often a live page is compared with what it shows. */
const LOOK_EVERY = "5 seconds"

/** A stream ends after this many looks, about ten minutes; the browser opens the next one, and its session is checked again. */
const LOOKS = 120

/** New mail changes the charts of a day at once, those of longer periods every ten minutes: they take longer to count. */
const CHARTS_EVERY_MS = { day: 10_000, longer: 600_000 }

/** The period and the provider that an address asks for; anything else counts as missing. */
export const healthQueryOf = (url: string): HealthQuery => {
  const query = new URLSearchParams(url.split("?", 2)[1] ?? "")
  return {
    days: PERIODS.find((days) => String(days) === query.get("days")) ?? 1,
    provider: Provider.literals.find((name) => name === query.get("provider"))
  }
}

/** What of a report is shown: when each part ran last is not. */
const stateOf = ({ checks, supervisors }: Pick<ReadinessReport, "checks" | "supervisors">) => [
  checks,
  supervisors.map(({ lastError, name, restarts, state }) => [name, state, restarts, lastError])
]

/** What the page shows, as a short text. */
const versionOf = (
  { days }: HealthQuery,
  facts: HealthFacts | undefined,
  { checks, supervisors }: ReadinessReport
): string => {
  const step = days === 1 ? CHARTS_EVERY_MS.day : CHARTS_EVERY_MS.longer
  const newest = facts?.newestMailAt
  const shown = {
    ...facts,
    newestMailAt: newest === null || newest === undefined ? null : Math.floor(Date.parse(newest) / step),
    // When it came is left out: each process reports twice a minute.
    processes: facts?.processes.map(({ isSilent, process, ...said }) => [process, isSilent, stateOf(said)]),
    own: stateOf({ checks, supervisors })
  }
  return createHash("sha256").update(JSON.stringify(shown)).digest("base64url").slice(0, 16)
}

/** Makes the overview and its stream. */
export const makeHealthPages = Effect.gen(function* () {
  const board = yield* HealthBoard
  const stats = yield* EmailStats
  const readiness = yield* Readiness
  const providers = yield* ConfiguredProviders

  const orMissing = <A, E>(what: string, read: Effect.Effect<A, E>): Effect.Effect<A | undefined> =>
    read.pipe(
      Effect.catch((error) =>
        Effect.as(Effect.logWarning(`${what} cannot be shown on the overview`, error), undefined)
      )
    )

  const now = Effect.all(
    { facts: orMissing("the state of the installation", board.read), report: readiness.report },
    { concurrency: 2 }
  )

  const page = Effect.fnUntraced(function* (query: HealthQuery) {
    const { days } = query
    const counted =
      days === 1 ? stats.lastHours : Effect.map(stats.since(2 * days), ({ stats: found }) => found)
    const [{ facts, report }, found, at] = yield* Effect.all(
      [now, orMissing("the send log", counted), Clock.currentTimeMillis],
      { concurrency: 3 }
    )
    const buckets = bucketsOf(days, at)
    const earlier = bucketsOf(days, at, 2).slice(0, buckets.length)
    const wanted = found?.filter((stat) => isWanted(stat, query))
    const within = (names: ReadonlyArray<string>) => wanted?.filter(({ day }) => names.includes(day)) ?? []
    return healthPage({
      query,
      providers,
      buckets,
      stats: wanted === undefined ? undefined : { now: within(buckets), before: within(earlier) },
      facts,
      report,
      version: versionOf(query, facts, report)
    })
  })

  /** An event with the page's version, at once and whenever it changes. */
  const stream = (
    request: HttpServerRequest.HttpServerRequest,
    query: HealthQuery
  ): HttpServerResponse.HttpServerResponse => {
    const version = Effect.map(now, ({ facts, report }) => versionOf(query, facts, report))
    const later = Stream.fromEffectRepeat(Effect.andThen(Effect.sleep(LOOK_EVERY), version)).pipe(
      Stream.take(LOOKS)
    )
    return eventStream(
      request,
      Stream.concat(Stream.fromEffect(version), later).pipe(
        Stream.changes,
        Stream.map((data) => ({ event: "version", data }))
      )
    )
  }

  return { page, stream }
})
