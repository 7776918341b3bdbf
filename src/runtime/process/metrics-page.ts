import { Effect, Fiber, Layer, Metric, Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"

import { webhookMetrics } from "../../adapters/http/routes/delivery/webhook-refusals.ts"
import { refusedConnections } from "../../adapters/http/server/node-server.ts"
import { modelMetrics } from "../../application/cascade/watched-model.ts"
import { ConfiguredProviders } from "../../application/configured-providers.ts"
import { perLabel, showFromStart } from "../../application/counters.ts"
import { withDeadline } from "../../application/deadline.ts"
import { intakeMetrics } from "../../application/inbound/metrics.ts"
import { mailMetrics } from "../../application/mail/metrics.ts"
import { makeSparseLines } from "../../application/sparse-lines.ts"
import { uptime } from "../../application/uptime.ts"
import { Provider } from "../../domain/mail/provider.ts"
import { type Figures, HealthBoard, OPEN, QUEUES } from "../../ports/delivery/health-board.ts"
import { MetricsPage } from "../../ports/metrics-page.ts"
import { Readiness } from "../../ports/readiness.ts"
import { showProcess } from "./process-metrics.ts"

/** What can be counted here, shown as 0 before it is. */
const countedOf = (providers: ReadonlyArray<Provider>) => [
  ...mailMetrics(providers),
  ...intakeMetrics,
  ...modelMetrics,
  ...webhookMetrics(providers),
  refusedConnections
]

/** What is read for the page holds so long, milliseconds: scrapers may come as often as they like. */
const READ_HOLDS_MS = 10_000

/** Time limit of a page's reads; beyond it, the page shows the earlier values. */
const WAITS_FOR_READS = "1 second"

const gauge = (name: string, description: string, attributes?: Readonly<Record<string, string>>) =>
  Metric.gauge(name, { description, attributes })

const waiting = perLabel(QUEUES, (queue) =>
  gauge("postlane_waiting", "Work that waits, by what waits; at most 10,000 are counted.", { queue })
)
const oldest = perLabel(QUEUES, (queue) =>
  gauge("postlane_oldest_waiting_seconds", "Since when the oldest waits; 0 where none does.", { queue })
)
const overdue = gauge("postlane_retries_overdue", "Deferred mails whose retry was due and left no row.")
const jobs = perLabel(OPEN.jobs, (status) =>
  gauge("postlane_conversion_jobs", "Jobs that are not over, by status.", { status })
)
const chunks = perLabel(OPEN.chunks, (status) =>
  gauge("postlane_conversion_chunks", "Chunks that wait or are worked on.", { status })
)
const batchJobs = perLabel(OPEN.batchJobs, (state) =>
  gauge("postlane_batch_jobs", "Batch jobs that are not over, by state.", { state })
)
const newestEvent = perLabel(Provider.literals, (provider) =>
  gauge("postlane_newest_event_age_seconds", "Since when no webhook has brought an event of the provider.", {
    provider
  })
)

const ofDatabase = [
  ...[waiting, oldest, jobs, chunks, batchJobs, newestEvent].flatMap((byLabel) => Object.values(byLabel)),
  overdue
]

const showFigures = Effect.fnUntraced(function* (figures: Figures) {
  for (const { name, oldestSeconds, waiting: count } of figures.queues) {
    yield* Metric.update(waiting[name], count)
    yield* Metric.update(oldest[name], oldestSeconds)
  }
  yield* Metric.update(overdue, figures.overdueRetries)
  for (const { count, state } of figures.jobs) yield* Metric.update(jobs[state], count)
  for (const { count, state } of figures.chunks) yield* Metric.update(chunks[state], count)
  for (const { count, state } of figures.batchJobs) yield* Metric.update(batchJobs[state], count)
  for (const { ageSeconds, provider } of figures.newestEvents)
    yield* Metric.update(newestEvent[provider], ageSeconds)
})

/** Removes the figures when the database does not answer, since old ones would say that all is well. */
const hideFigures = Effect.forEach(ofDatabase, (metric) => Metric.remove(metric), { discard: true })

const ready = gauge("postlane_ready", "1 while this process can do its work, as /ready says.")

const showReadiness = Effect.fnUntraced(function* (readiness: Readiness["Service"]) {
  const report = yield* readiness.report
  yield* Metric.update(ready, report.ready ? 1 : 0)
  for (const { name, ok } of report.checks) {
    const check = gauge("postlane_check_ok", "1 while what this process needs answers.", { check: name })
    yield* Metric.update(check, ok ? 1 : 0)
  }
  for (const { name, state } of report.supervisors) {
    const running = gauge("postlane_supervisor_running", "1 while the supervised part runs.", { name })
    yield* Metric.update(running, state === "running" ? 1 : 0)
  }
})

/**
 * The metrics of this process. `figures`: with those of the whole installation, which one process shows as well as another.
 */
export const layer = (options: {
  readonly version: string
  readonly figures: boolean
}): Layer.Layer<MetricsPage, never, Readiness | HealthBoard> =>
  Layer.effect(
    MetricsPage,
    Effect.gen(function* () {
      const readiness = yield* Readiness
      const board = yield* HealthBoard
      const scope = yield* Scope.Scope
      yield* showFromStart(countedOf(yield* ConfiguredProviders))
      yield* showProcess(options.version)
      const sparsely = makeSparseLines()
      const figures = board.figures.pipe(
        Effect.flatMap(showFigures),
        Effect.catch((error) =>
          Effect.andThen(
            hideFigures,
            sparsely("figures", Effect.logWarning("the metrics are without the figures of the database"), {
              reason: error.message
            })
          )
        )
      )
      const read = Effect.all([showReadiness(readiness), options.figures ? figures : Effect.void], {
        concurrency: 2,
        discard: true
      })
      let readAt = Number.NEGATIVE_INFINITY
      let reading: Fiber.Fiber<void> | undefined
      const fresh = Effect.gen(function* () {
        const now = yield* uptime
        const idle = reading === undefined || reading.pollUnsafe() !== undefined
        if (idle && now - readAt >= READ_HOLDS_MS) {
          readAt = now
          reading = yield* Effect.forkIn(read, scope)
        }
        if (reading !== undefined)
          yield* withDeadline(Fiber.await(reading), {
            duration: WAITS_FOR_READS,
            onTimeout: () => Effect.void
          })
      })
      return MetricsPage.of({ text: Effect.andThen(fresh, PrometheusMetrics.format()) })
    })
  )
