import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Result, type Scope } from "effect"
import { TestClock } from "effect/testing"

import { layerAlways } from "../../../../src/adapters/memory/leadership.ts"
import { EventPoll, PollFailure } from "../../../../src/application/delivery/poll.ts"
import { RecentPoll } from "../../../../src/application/delivery/recent-poll.ts"
import { ListFailure } from "../../../../src/ports/delivery/event-poll.ts"
import { Leadership } from "../../../../src/ports/leadership.ts"
import { ticks } from "../../../../src/runtime/compose/delivery/event-poll.ts"
import { Supervisors } from "../../../../src/runtime/process/supervisor.ts"
import { decodeSettings } from "../../../../src/runtime/settings/settings.ts"

const settings = (env: Readonly<Record<string, string>>) =>
  Result.getOrThrow(decodeSettings({ EVENTS_POLL_SECONDS: "60", ...env }, { embedded: true }))
const counts = { pages: 0, seen: 0, recorded: 0, backfilled: 0, alerts: 0, alertsFailed: 0 }

const supervised = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string>>,
  leadership: Layer.Layer<Leadership> = layerAlways
) {
  let runs = 0
  const failure = new PollFailure({
    cause: new ListFailure({ kind: "refused", message: "no" }),
    counts
  })
  const poll = Layer.succeed(
    EventPoll,
    EventPoll.of({
      run: Effect.suspend(() => {
        runs += 1
        return runs === 2 ? Effect.fail(failure) : Effect.succeed({ ...counts, truncated: runs === 3 })
      })
    })
  )
  const recent = Layer.succeed(
    RecentPoll,
    RecentPoll.of({
      run: Effect.suspend(() => {
        runs += 1
        return runs === 2
          ? Effect.fail(new ListFailure({ kind: "refused", message: "no" }))
          : Effect.succeed({ seen: 1, recorded: 1 })
      })
    })
  )
  const context = yield* Layer.build(
    ticks(settings(env)).pipe(
      Layer.provide([poll, recent, leadership]),
      Layer.provideMerge(Supervisors.layer)
    )
  )
  yield* TestClock.adjust("190 seconds")
  const fibers = yield* Effect.provideContext(
    Supervisors.use(({ snapshot }) => snapshot),
    context
  )
  return { runs, fibers: fibers.map(({ name, restarts }) => [name, restarts]) }
})

const test = <E>(name: string, body: Effect.Effect<void, E, Scope.Scope>) =>
  it.effect(name, () => Effect.provide(body, Logger.layer([])))

describe("the leader's poll", () => {
  test(
    "runs at once and every EVENTS_POLL_SECONDS, whatever the provider answers",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* supervised({ PROVIDERA_API_KEY: "re_key" }), {
        runs: 4,
        fibers: [["provider-a-events-poll", 0]]
      })
      assert.deepStrictEqual(yield* supervised({ POSTMARK_SERVER_TOKEN: "token" }), {
        runs: 4,
        fibers: [["postmark-events-poll", 0]]
      })
    })
  )

  test(
    "does not run where provider_a is simulated, nor in a process that does not lead",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* supervised({}), { runs: 0, fibers: [] })
      const follower = Layer.succeed(
        Leadership,
        Leadership.of({ term: Effect.succeed(undefined), whileLeading: () => Effect.succeed(false) })
      )
      assert.strictEqual((yield* supervised({ PROVIDERA_API_KEY: "re_key" }, follower)).runs, 0)
    })
  )
})
