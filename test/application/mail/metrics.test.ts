import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"

import {
  countAttempt,
  countDegraded,
  countFailover,
  countRetry,
  countSend
} from "../../../src/application/mail/metrics.ts"
import { ProviderFailure } from "../../../src/ports/mail/mail-provider.ts"

/** The samples of a registry of its own, comments left out. */
const samples = <E>(effect: Effect.Effect<unknown, E>) =>
  effect.pipe(
    Effect.andThen(PrometheusMetrics.format()),
    Effect.map((page) => page.split("\n").filter((line) => line !== "" && !line.startsWith("#"))),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

const failure = (kind: ProviderFailure["kind"]) =>
  new ProviderFailure({ provider: "provider_a", kind, message: "x" })

describe("metrics", () => {
  it.effect("count sends, fail-overs, retries and what the store failed at, by label", () =>
    Effect.gen(function* () {
      const lines = yield* samples(
        Effect.all([
          countSend("provider_a", "sent", "transactional"),
          countSend("provider_a", "sent", "transactional"),
          countSend(null, "suppressed", "marketing"),
          countFailover,
          countRetry("settled"),
          countDegraded("begin")
        ])
      )
      assert.deepStrictEqual([...lines].sort(), [
        "postlane_failovers_total 1",
        'postlane_mail_store_failures_total{operation="begin"} 1',
        'postlane_retries_total{outcome="settled"} 1',
        'postlane_sends_total{provider="none",status="suppressed",category="marketing"} 1',
        'postlane_sends_total{provider="provider_a",status="sent",category="transactional"} 2'
      ])
    })
  )

  it.effect("time an attempt and count how it ended", () =>
    Effect.gen(function* () {
      const lines = yield* samples(
        Effect.gen(function* () {
          const slow = yield* Effect.forkChild(countAttempt("provider_a", Effect.sleep("2 seconds")))
          yield* TestClock.adjust("2 seconds")
          yield* Fiber.join(slow)
          const hung = yield* Effect.forkChild(countAttempt("provider_a", Effect.never), {
            startImmediately: true
          })
          yield* Fiber.interrupt(hung)
          for (const kind of ["rejected", "unavailable", "ambiguous"] as const) {
            yield* Effect.ignore(countAttempt("provider_a", Effect.fail(failure(kind))))
          }
          yield* Effect.exit(countAttempt("provider_a", Effect.die("bug")))
        })
      )
      const count = (outcome: string) =>
        lines.find((line) =>
          line.startsWith(`postlane_send_attempts_total{provider="provider_a",outcome="${outcome}"}`)
        )
      assert.match(count("accepted")!, / 1$/)
      assert.match(count("interrupted")!, / 1$/)
      assert.match(count("rejected")!, / 1$/)
      assert.match(count("unavailable")!, / 1$/)
      assert.match(count("ambiguous")!, / 2$/)
      assert.include(lines, 'postlane_send_attempt_seconds_bucket{provider="provider_a",le="1"} 5')
      assert.include(lines, 'postlane_send_attempt_seconds_bucket{provider="provider_a",le="2.5"} 6')
      assert.include(lines, 'postlane_send_attempt_seconds_sum{provider="provider_a"} 2')
    })
  )
})
