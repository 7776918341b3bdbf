import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Metric, Ref } from "effect"
import { TestClock } from "effect/testing"

import { countRefusal } from "../../../src/adapters/http/routes/delivery/webhook-refusals.ts"
import { ConfiguredProviders } from "../../../src/application/configured-providers.ts"
import { countRetry } from "../../../src/application/mail/metrics.ts"
import { type Figures, HealthBoard, OPEN, QUEUES } from "../../../src/ports/delivery/health-board.ts"
import { MetricsPage } from "../../../src/ports/metrics-page.ts"
import { Readiness, type ReadinessReport } from "../../../src/ports/readiness.ts"
import { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { layer } from "../../../src/runtime/process/metrics-page.ts"

const FIGURES: Figures = {
  queues: QUEUES.map((name) => ({ name, waiting: name === "retries" ? 7 : 0, oldestSeconds: 12.5 })),
  overdueRetries: 3,
  jobs: OPEN.jobs.map((state) => ({ state, count: 2 })),
  chunks: OPEN.chunks.map((state) => ({ state, count: 4 })),
  batchJobs: OPEN.batchJobs.map((state) => ({ state, count: 1 })),
  newestEvents: [{ provider: "provider_a", ageSeconds: 90 }]
}

const REPORT: ReadinessReport = {
  ready: false,
  checks: [
    { name: "database", ok: true, lastError: null },
    { name: "queue", ok: false, lastError: "x" }
  ],
  supervisors: [{ name: "retry", state: "backing-off", restarts: 1, lastRunAt: null, lastError: null }]
}

const away = new StoreUnavailable({ operation: "figures", reason: "gone", isRetryable: true })

/** The samples of a page, by name and labels. */
const samples = Effect.map(
  MetricsPage.use((page) => page.text),
  (text) =>
    new Map(
      text
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => {
          const at = line.lastIndexOf(" ")
          return [line.slice(0, at), Number(line.slice(at + 1))] as const
        })
    )
)

/** A page of a registry of its own. */
const onPage = <A, E>(
  read: Effect.Effect<Figures, StoreUnavailable>,
  use: Effect.Effect<A, E, MetricsPage>,
  report: Effect.Effect<ReadinessReport> = Effect.succeed(REPORT)
) =>
  use.pipe(
    Effect.provide(
      Layer.provide(layer({ version: "1.2.3", figures: true }), [
        Layer.succeed(Readiness, Readiness.of({ report })),
        Layer.mock(HealthBoard, { figures: read })
      ])
    ),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

describe("the page of metrics", () => {
  it.effect("names the providers of the settings alone, and another one once it is counted", () =>
    Effect.gen(function* () {
      const named = (page: ReadonlyMap<string, number>) =>
        new Set([...page.keys()].flatMap((key) => /(?:provider|source)="(\w+)"/.exec(key)?.[1] ?? []))
      const [before, after] = yield* onPage(
        Effect.succeed({ ...FIGURES, newestEvents: [] }),
        Effect.gen(function* () {
          const first = yield* samples
          yield* countRefusal("provider_b", "secret", "wrong")
          return [first, yield* samples] as const
        })
      ).pipe(Effect.provideService(ConfiguredProviders, ["smtp", "postmark"]))
      assert.deepStrictEqual(named(before), new Set(["smtp", "postmark", "none"]))
      assert.isFalse(before.has('postlane_webhook_refused_total{source="smtp",reason="secret"}'))
      assert.deepStrictEqual(named(after), new Set(["smtp", "postmark", "none", "provider_b"]))
    })
  )

  it.effect("shows every counter with its known labels as 0 before anything is counted", () =>
    Effect.gen(function* () {
      const [before, after] = yield* onPage(
        Effect.succeed(FIGURES),
        Effect.gen(function* () {
          const first = yield* samples
          yield* countRetry("sent")
          return [first, yield* samples] as const
        })
      )
      for (const name of [
        "postlane_failovers_total",
        "postlane_unclaimed_sends_total",
        'postlane_retries_total{outcome="sent"}',
        'postlane_retries_total{outcome="put_back"}',
        'postlane_sends_total{provider="provider_a",status="sent",category="transactional"}',
        'postlane_send_attempts_total{provider="provider_b",outcome="ambiguous"}',
        'postlane_send_attempt_seconds_count{provider="provider_b"}',
        'postlane_mail_store_failures_total{operation="begin"}',
        'postlane_intake_refusals_total{reason="rate"}',
        'postlane_intake_mails_ended_total{outcome="unverified"}',
        'postlane_intake_replies_total{kind="success",result="failed"}',
        'postlane_model_unanswered_total{reason="throttled"}',
        'postlane_webhook_refused_total{source="provider_a",reason="secret_unset"}',
        "postlane_http_connections_refused_total"
      ]) {
        assert.strictEqual(before.get(name), 0, name)
      }
      assert.strictEqual(after.get('postlane_retries_total{outcome="sent"}'), 1)
    })
  )

  it.effect("shows readiness, the installation, the process and its version", () =>
    Effect.gen(function* () {
      const page = yield* onPage(Effect.succeed(FIGURES), samples)
      assert.deepStrictEqual(
        [
          "postlane_ready",
          'postlane_check_ok{check="database"}',
          'postlane_check_ok{check="queue"}',
          'postlane_supervisor_running{name="retry"}',
          'postlane_waiting{queue="retries"}',
          'postlane_oldest_waiting_seconds{queue="mails"}',
          "postlane_retries_overdue",
          'postlane_conversion_jobs{status="waiting_batch"}',
          'postlane_conversion_chunks{status="pending"}',
          'postlane_batch_jobs{state="submitted"}',
          'postlane_newest_event_age_seconds{provider="provider_a"}',
          'postlane_newest_event_age_seconds{provider="provider_b"}',
          'postlane_build_info{version="1.2.3"}',
          `nodejs_version_info{version="${process.version}"}`
        ].map((name) => page.get(name)),
        [0, 1, 0, 0, 7, 12.5, 3, 2, 4, 1, 90, undefined, 1, 1]
      )
      for (const name of [
        "process_cpu_seconds_total",
        "process_start_time_seconds",
        "process_resident_memory_bytes",
        "nodejs_heap_size_used_bytes"
      ]) {
        assert.isAbove(page.get(name) ?? 0, 0, name)
      }
      assert.isAtLeast(page.get("nodejs_eventloop_lag_p99_seconds") ?? -1, 0)
    })
  )

  it.effect("reads at most once in ten seconds, and is without the figures of a database that is away", () =>
    Effect.gen(function* () {
      const reads = yield* Ref.make(0)
      const read = Effect.flatMap(
        Ref.updateAndGet(reads, (count) => count + 1),
        (count) => (count === 2 ? away : Effect.succeed(FIGURES))
      )
      yield* onPage(
        read,
        Effect.gen(function* () {
          const name = "postlane_retries_overdue"
          assert.strictEqual((yield* samples).get(name), 3)
          yield* TestClock.adjust("9 seconds")
          assert.strictEqual((yield* samples).get(name), 3)
          assert.strictEqual(yield* Ref.get(reads), 1)
          yield* TestClock.adjust("1 second")
          const without = yield* samples
          assert.isUndefined(without.get(name))
          assert.isUndefined(without.get('postlane_waiting{queue="retries"}'))
          assert.strictEqual(without.get("postlane_failovers_total"), 0)
          yield* TestClock.adjust("10 seconds")
          assert.strictEqual((yield* samples).get(name), 3)
        })
      )
    })
  )

  it.effect("waits no longer than a second for what is read, and shows it once it is there", () =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<Figures>()
      yield* onPage(
        Deferred.await(answer),
        Effect.gen(function* () {
          const asked = yield* Effect.forkChild(samples, { startImmediately: true })
          yield* TestClock.adjust("1 second")
          const page = yield* Fiber.join(asked)
          assert.strictEqual(page.get("postlane_ready"), 0)
          assert.isUndefined(page.get("postlane_retries_overdue"))
          yield* Deferred.succeed(answer, FIGURES)
          assert.strictEqual((yield* samples).get("postlane_retries_overdue"), 3)
        })
      )
    })
  )
})
