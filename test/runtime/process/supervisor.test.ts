import { assert, describe, it } from "@effect/vitest"
import {
  Clock,
  Context,
  Deferred,
  Effect,
  Exit,
  Layer,
  Logger,
  Metric,
  Random,
  References,
  Schema,
  Scope
} from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"

import { type WaitForBell, WorkBell } from "../../../src/application/work-bell.ts"
import { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import {
  background,
  supervise,
  Supervisors,
  superviseTicks,
  ticking,
  workers
} from "../../../src/runtime/process/supervisor.ts"

const supervised = (name: string) =>
  Effect.gen(function* () {
    const found = (yield* (yield* Supervisors).snapshot).find((one) => one.name === name)
    return found ?? assert.fail(`no supervised fiber ${name}`)
  })

/** Chance takes nothing off the delays, so that they are exact. */
const noJitter = Effect.provideService(Random.Random, {
  nextDoubleUnsafe: () => 0,
  nextIntUnsafe: () => 0
})

const startsOf = (run: Effect.Effect<unknown, unknown>) => {
  const starts: Array<number> = []
  return {
    starts,
    run: Effect.andThen(
      Effect.map(Clock.currentTimeMillis, (now) => starts.push(now)),
      run
    )
  }
}

const silent = Logger.layer([])

const test = <E>(name: string, body: Effect.Effect<void, E, Supervisors | Scope.Scope>) =>
  it.effect(name, () => body.pipe(noJitter, Effect.provide(Layer.merge(Supervisors.layer, silent))))

describe("a supervised fiber", () => {
  test(
    "comes back after 200 ms, then after twice as long each time, up to 5 s",
    Effect.gen(function* () {
      const { run, starts } = startsOf(Effect.die(new Error("boom")))
      yield* supervise("x", run)
      yield* TestClock.adjust("22 seconds")
      const delays = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
      assert.deepStrictEqual(delays, [200, 400, 800, 1600, 3200, 5000, 5000, 5000])
      assert.strictEqual((yield* supervised("x")).restarts, 9)
    })
  )

  test(
    "begins its backoff anew after a healthy minute, and not after a shorter run",
    Effect.gen(function* () {
      const lengths = [0, 0, 59, 60, 0]
      const { run, starts } = startsOf(
        Effect.suspend(() => Effect.sleep(`${lengths[starts.length - 1] ?? 0} seconds`)).pipe(
          Effect.andThen(Effect.fail("no luck"))
        )
      )
      yield* supervise("x", run)
      yield* TestClock.adjust("3 minutes")
      const delays = starts
        .slice(1, 6)
        .map((at, index) => at - (starts[index] ?? 0) - (lengths[index] ?? 0) * 1000)
      assert.deepStrictEqual(delays, [200, 400, 800, 200, 400])
    })
  )

  test(
    "comes back after a failure, a defect, a return and an interruption from inside",
    Effect.gen(function* () {
      const ends = [Effect.fail("no luck"), Effect.die("boom"), Effect.void, Effect.interrupt]
      const { run, starts } = startsOf(
        Effect.suspend((): Effect.Effect<unknown, unknown> => ends[starts.length - 1] ?? Effect.never)
      )
      yield* supervise("x", run)
      yield* TestClock.adjust("10 seconds")
      const { lastRunAt, restarts, state } = yield* supervised("x")
      assert.deepStrictEqual(
        { lastRunAt, restarts, state },
        { lastRunAt: 3000, restarts: 4, state: "running" }
      )
    })
  )

  test(
    "takes no other along when it crashes",
    Effect.gen(function* () {
      const { run, starts } = startsOf(Effect.never)
      yield* supervise("good", run)
      yield* supervise("bad", Effect.die(new Error("boom")))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(starts, [0])
      assert.strictEqual((yield* supervised("good")).state, "running")
      assert.isAbove((yield* supervised("bad")).restarts, 10)
    })
  )

  test(
    "shows its state: starting, running, restarting with the error, running again, stopped",
    Effect.gen(function* () {
      const crash = yield* Deferred.make<never, Error>()
      const scope = yield* Scope.make()
      let runs = 0
      const run = Effect.suspend(() => (runs++ === 0 ? Deferred.await(crash) : Effect.never))
      yield* Scope.provide(supervise("x", run), scope)
      assert.strictEqual((yield* supervised("x")).state, "starting")
      yield* TestClock.adjust(0)
      assert.strictEqual((yield* supervised("x")).state, "running")
      yield* Deferred.fail(crash, new TypeError("no luck"))
      yield* TestClock.adjust("100 millis")
      const { lastError, state } = yield* supervised("x")
      assert.deepStrictEqual({ lastError, state }, { lastError: "TypeError: no luck", state: "restarting" })
      yield* TestClock.adjust("100 millis")
      assert.strictEqual((yield* supervised("x")).state, "running")
      assert.strictEqual((yield* supervised("x")).lastError, "TypeError: no luck")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* supervised("x")).state, "stopped")
    })
  )

  test(
    "gives every run a scope of its own",
    Effect.gen(function* () {
      let open = 0
      const resource = Effect.acquireRelease(
        Effect.sync(() => void open++),
        () => Effect.sync(() => void open--)
      )
      yield* supervise("x", Effect.andThen(resource, Effect.fail("no luck")))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(open, 0)
    })
  )

  test(
    "has a name of its own while it runs, and frees it when it stops",
    Effect.gen(function* () {
      yield* Effect.scoped(supervise("x", Effect.never))
      yield* supervise("x", Effect.never)
      const second = yield* Effect.exit(Effect.scoped(supervise("x", Effect.never)))
      assert.isTrue(Exit.hasDies(second))
    })
  )

  test(
    "counts its restarts in a metric",
    Effect.gen(function* () {
      yield* supervise("counted", Effect.die(new Error("boom")))
      yield* TestClock.adjust("1 second")
      const metric = (yield* Metric.snapshot).find(
        ({ attributes, id }) =>
          id === "postlane_supervisor_restarts_total" && attributes?.["name"] === "counted"
      )
      assert.strictEqual(metric?.type === "Counter" ? metric.state.count : undefined, 3)
    })
  )
})

describe("the delay's jitter", () => {
  it.effect("shortens a delay by at most a fifth", () =>
    Effect.gen(function* () {
      const { run, starts } = startsOf(Effect.die(new Error("boom")))
      yield* supervise("x", run)
      yield* TestClock.adjust("22 seconds")
      const delays = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
      for (const [index, full] of [200, 400, 800, 1600, 3200, 5000, 5000].entries()) {
        const delay = delays[index] ?? 0
        assert.isTrue(delay >= full * 0.8 && delay < full, `${delay} of ${full}`)
      }
    }).pipe(
      Effect.provideService(Random.Random, { nextDoubleUnsafe: () => 0.999, nextIntUnsafe: () => 0 }),
      Effect.provide(Layer.merge(Supervisors.layer, silent))
    )
  )
})

describe("a ticking fiber", () => {
  test(
    "ticks at once and then at the interval",
    Effect.gen(function* () {
      const { run, starts } = startsOf(Effect.sleep("1 second"))
      yield* superviseTicks("x", "10 seconds", run)
      yield* TestClock.adjust("35 seconds")
      assert.deepStrictEqual(starts, [0, 10_000, 20_000, 30_000])
      assert.strictEqual((yield* supervised("x")).lastRunAt, 30_000)
    })
  )

  test(
    "never overlaps itself, and leaves out the ticks it missed",
    Effect.gen(function* () {
      let under = 0
      let most = 0
      const { run, starts } = startsOf(
        Effect.acquireUseRelease(
          Effect.sync(() => (most = Math.max(most, ++under))),
          () => Effect.sleep(starts.length === 1 ? "25 seconds" : "1 second"),
          () => Effect.sync(() => void under--)
        )
      )
      yield* superviseTicks("x", "10 seconds", run)
      yield* TestClock.adjust("46 seconds")
      assert.strictEqual(most, 1)
      assert.deepStrictEqual(starts, [0, 25_000, 35_000, 45_000])
    })
  )

  test(
    "tries a tick that crashed again after the backoff, and counts a restart",
    Effect.gen(function* () {
      const { run, starts } = startsOf(
        Effect.suspend(() => (starts.length === 2 ? Effect.die(new Error("boom")) : Effect.void))
      )
      yield* superviseTicks("x", "10 seconds", run)
      yield* TestClock.adjust("25 seconds")
      assert.deepStrictEqual(starts, [0, 10_000, 10_200, 20_200])
      assert.strictEqual((yield* supervised("x")).restarts, 1)
    })
  )

  test(
    "ticks at once where something wakes it, and at the interval from then on",
    Effect.gen(function* () {
      const bell = yield* WorkBell
      const { run, starts } = startsOf(Effect.void)
      yield* superviseTicks("x", "10 seconds", run, bell.listen("conversions"))
      yield* TestClock.adjust("14 seconds")
      yield* bell.ring("conversions")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(starts, [0, 10_000, 14_000, 24_000])
    })
  )
})

describe("workers", () => {
  const started = (listen?: Effect.Effect<WaitForBell>) =>
    Effect.gen(function* () {
      const looks: Array<string> = []
      let waiting = 3
      const next = (slot: number) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          looks.push(`${slot} at ${now}`)
          return waiting-- > 0
        })
      const options = { count: 2, idle: "10 seconds", ...(listen === undefined ? {} : { listen }) } as const
      const context = yield* Effect.context<Supervisors>()
      yield* Layer.build(Layer.provide(workers("x", options, next), Layer.succeedContext(context)))
      for (let turn = 0; turn < 10; turn++) yield* TestClock.adjust("100 millis")
      return looks
    })

  test(
    "do one piece after the other, and look again after a while where there is none",
    Effect.gen(function* () {
      const looks = yield* started()
      assert.lengthOf(looks, 5)
      yield* TestClock.adjust("8 seconds")
      assert.lengthOf(looks, 5)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(
        looks.slice(5).map((look) => look[0]),
        ["2", "1"]
      )
    })
  )

  test(
    "look at once where something wakes them: each of them",
    Effect.gen(function* () {
      const bell = yield* WorkBell
      const looks = yield* started(bell.listen("conversions"))
      yield* TestClock.adjust("4 seconds")
      yield* bell.ring("conversions")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(looks.slice(5).toSorted(), ["1 at 5000", "2 at 5000"])
    })
  )
})

describe("stopping", () => {
  test(
    "waits until the fiber has handed back what it claimed",
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      let handedBack = false
      const handBack = Effect.andThen(
        Effect.sleep("9 seconds"),
        Effect.sync(() => void (handedBack = true))
      )
      yield* Scope.provide(
        supervise(
          "x",
          Effect.onInterrupt(Effect.never, () => handBack)
        ),
        scope
      )
      yield* TestClock.adjust(0)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("8 seconds")
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.isTrue(handedBack)
      assert.isDefined(closing.pollUnsafe())
    })
  )

  test(
    "leaves a fiber behind that does not stop within ten seconds",
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Scope.provide(supervise("x", Effect.uninterruptible(Effect.never)), scope)
      yield* TestClock.adjust(0)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isDefined(closing.pollUnsafe())
      assert.strictEqual((yield* supervised("x")).state, "stopped")
    })
  )

  test(
    "ends a restart that is waiting, and nothing runs afterwards",
    Effect.gen(function* () {
      const { run, starts } = startsOf(Effect.fail("no luck"))
      yield* Effect.scoped(Effect.andThen(supervise("x", run), TestClock.adjust("1 second")))
      const runs = starts.length
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(starts.length, runs)
    })
  )

  class Database extends Context.Service<Database, { readonly isOpen: () => boolean }>()("test/Database") {}

  test(
    "as a layer, ends before the layers that it uses",
    Effect.gen(function* () {
      const seen: Array<boolean> = []
      let open = true
      const database = Layer.effect(
        Database,
        Effect.acquireRelease(Effect.succeed({ isOpen: () => open }), () =>
          Effect.sync(() => void (open = false))
        )
      )
      const look = Effect.map(Database, ({ isOpen }) => void seen.push(isOpen()))
      const fibers = Layer.mergeAll(
        background(
          "background",
          Effect.onInterrupt(Effect.never, () => Effect.orDie(look))
        ),
        ticking("ticking", "1 minute", Effect.void)
      )
      const context = yield* Effect.context<Supervisors>()
      yield* Effect.scoped(
        Effect.andThen(
          Layer.build(fibers.pipe(Layer.provide(database), Layer.provide(Layer.succeedContext(context)))),
          TestClock.adjust(0)
        )
      )
      assert.deepStrictEqual(seen, [true])
      assert.isFalse(open)
    })
  )
})

describe("the crashes of a supervised fiber", () => {
  test(
    "are counted from 0, which is shown before there is one",
    Effect.gen(function* () {
      const page = Effect.map(PrometheusMetrics.format(), (text) =>
        text.split("\n").filter((line) => line.startsWith("postlane_supervisor_restarts_total"))
      )
      let isBroken = false
      yield* superviseTicks(
        "counted",
        "1 second",
        Effect.suspend(() => (isBroken ? Effect.die(new Error("boom")) : Effect.void))
      )
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(yield* page, ['postlane_supervisor_restarts_total{name="counted"} 0'])
      isBroken = true
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* page, ['postlane_supervisor_restarts_total{name="counted"} 1'])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})

describe("the log lines of a crash", () => {
  test(
    "a store that is away is one line, one a minute with a count, and one when all get on again",
    Effect.gen(function* () {
      const lines: Array<readonly [string, unknown]> = []
      const collect = Logger.make(({ fiber, message }) => {
        const { sinceLastLine, crashes } = fiber.getRef(References.CurrentLogAnnotations)
        lines.push([String(message), sinceLastLine ?? crashes])
      })
      let isAway = true
      const ask = (operation: string) =>
        Effect.suspend(() =>
          isAway
            ? Effect.fail(
                new StoreUnavailable({ operation, reason: "connection refused", isRetryable: true })
              )
            : Effect.void
        )
      yield* Effect.gen(function* () {
        for (let at = 0; at < 20; at += 1) yield* superviseTicks(`tick-${at}`, "1 second", ask(`${at}`))
        yield* supervise("consumer", Effect.andThen(ask("take"), Effect.never))
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(
          lines.map(([, count]) => count),
          [undefined]
        )
        assert.match(lines[0]![0], /^a store does not answer.*0: connection refused$/)
        yield* TestClock.adjust("5 seconds")
        const crashes = (yield* (yield* Supervisors).snapshot).reduce(
          (sum, { restarts }) => sum + restarts,
          0
        )
        assert.isAbove(crashes, 200)
        assert.lengthOf(lines, 2)
        assert.isAbove(Number(lines[1]![1]), 200)
        isAway = false
        yield* TestClock.adjust("15 seconds")
        assert.deepStrictEqual(lines.slice(2), [["what needs the store that was away runs again", crashes]])
        isAway = true
        yield* TestClock.adjust("1 second")
        assert.lengthOf(lines, 4)
      }).pipe(Effect.provide(Logger.layer([collect])))
    })
  )

  test(
    "a part that crashes by itself has lines of its own",
    Effect.gen(function* () {
      const lines: Array<string> = []
      const collect = Logger.make(({ message }) => void lines.push(String(message)))
      let isBroken = true
      yield* Effect.gen(function* () {
        yield* superviseTicks(
          "one",
          "1 second",
          Effect.suspend(() => (isBroken ? Effect.die(new Error("a")) : Effect.void))
        )
        yield* supervise("two", Effect.die(new Error("b")))
        yield* TestClock.adjust("30 seconds")
        isBroken = false
        yield* TestClock.adjust("15 seconds")
      }).pipe(Effect.provide(Logger.layer([collect])))
      assert.deepStrictEqual(lines, [
        "one crashed: Error: a. It runs again in 200ms",
        "two crashed: Error: b. It runs again in 200ms",
        "one runs again"
      ])
    })
  )

  test(
    "holds neither what a schema refused nor what an error carries along",
    Effect.gen(function* () {
      const lines: Array<string> = []
      const collect = Logger.make(({ fiber, message }) => {
        lines.push(JSON.stringify([message, fiber.getRef(References.CurrentLogAnnotations)]))
      })
      const refused = Schema.decodeUnknownEffect(Schema.Struct({ body: Schema.Int }))({ body: "dear anna" })
      const carrying = Effect.die(new Error("the row was refused", { cause: "dear anna" }))
      const parses = Effect.sync(() => JSON.parse("dear anna"))
      yield* Effect.all([
        supervise("decodes", refused),
        supervise("dies", carrying),
        supervise("parses", parses)
      ]).pipe(Effect.andThen(TestClock.adjust(0)), Effect.provide(Logger.layer([collect])))
      assert.strictEqual((yield* supervised("decodes")).lastError, "SchemaError")
      assert.strictEqual((yield* supervised("dies")).lastError, "Error: the row was refused")
      assert.strictEqual((yield* supervised("parses")).lastError, "SyntaxError")
      assert.isAtLeast(lines.length, 3)
      assert.notInclude(lines.join("\n"), "anna")
      assert.include(lines.join("\n"), "supervisor.test.ts")
    })
  )
})
