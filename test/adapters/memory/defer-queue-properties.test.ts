import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"

import { type DeferProcess, makeDeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { type DeferredSend, MAX_RECEIVES } from "../../../src/domain/mail/deferred-send.ts"
import { deferredSend } from "../../contracts/mail/defer-queue.ts"
import { anyId } from "../../support/any-id.ts"

const VISIBILITY_SECONDS = 6
const ROWS = 4
const PROCESSES = 2

const row = fc.nat({ max: ROWS - 1 }).map((index) => `row-${index}`)
const member = fc.nat({ max: PROCESSES - 1 })

/** How the handler ends, by the order of calls; from there on it succeeds. */
const ending = fc.constantFrom("succeed", "fail", "crash", "slow", "hang")

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant("enqueue" as const), row, delay: fc.nat({ max: 10 }) })
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constant("wait" as const), seconds: fc.nat({ max: 15 }) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("kill" as const), member }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("stop" as const), member }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("duplicate" as const), row }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("redrive" as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("outage" as const), seconds: fc.nat({ max: 15 }) }) }
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Time passes second by second, and every fiber acts on a second before the next one: the clock alone waits for those it woke. */
const pass = (seconds: number) => {
  const settle = Effect.repeat(Effect.yieldNow, { times: 50 })
  return Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), settle), { times: seconds - 1 }).pipe(
    Effect.when(Effect.succeed(seconds > 0))
  )
}

const play = (steps: ReadonlyArray<Step>, endings: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const broker = makeDeferBroker({ visibilitySeconds: VISIBILITY_SECONDS })
    const hadOutage = steps.some(({ act }) => act === "outage")
    const dueAt = new Map<string, number>()
    const copies = new Map<string, number>()
    const holders = new Map<string, number>()
    const succeeded = new Set<string>()
    let calls = 0
    let calm = false

    const handle = ({ rowId }: DeferredSend) =>
      Effect.gen(function* () {
        assert.isAtLeast(
          yield* Clock.currentTimeMillis,
          dueAt.get(rowId) ?? Infinity,
          "before its delay (D2)"
        )
        const holding = (holders.get(rowId) ?? 0) + 1
        holders.set(rowId, holding)
        if (!hadOutage) assert.isAtMost(holding, copies.get(rowId) ?? 0, "more holders than messages")
        const how = calm ? "succeed" : (endings[calls++] ?? "succeed")
        if (how === "fail") return yield* Effect.fail("failed")
        if (how === "crash") return yield* Effect.die("crashed")
        if (how === "slow") yield* Effect.sleep(VISIBILITY_SECONDS * 2_500)
        if (how === "hang") return yield* Effect.never
        succeeded.add(rowId)
      }).pipe(Effect.ensuring(Effect.sync(() => holders.set(rowId, (holders.get(rowId) ?? 0) - 1))))

    const failures: Array<unknown> = []
    const checked = (message: DeferredSend) =>
      Effect.catchDefect(handle(message), (defect) => {
        if (defect instanceof Error) failures.push(defect)
        return Effect.die(defect)
      })
    const consume = ({ queue }: DeferProcess) =>
      queue.consume(checked, { concurrency: 2 }).pipe(
        Effect.tapError(() => Effect.sleep("1 second")),
        Effect.retry({ while: () => true }),
        Effect.forkScoped
      )
    const startProcess = Effect.gen(function* () {
      const process = broker.attach()
      return { process, fiber: yield* consume(process) }
    })

    const running = yield* Effect.forEach(Array.from({ length: PROCESSES }), () => startProcess)
    const client = broker.attach().queue
    const replace = (index: number, end: (member: (typeof running)[number]) => Effect.Effect<unknown>) =>
      Effect.gen(function* () {
        yield* end(running[index]!)
        running[index] = yield* startProcess
      })

    for (const one of steps) {
      if (one.act === "enqueue") {
        const now = yield* Clock.currentTimeMillis
        dueAt.set(one.row, Math.min(dueAt.get(one.row) ?? Infinity, now + one.delay * 1000))
        copies.set(one.row, (copies.get(one.row) ?? 0) + 1)
        yield* client.enqueue(deferredSend(one.row), one.delay)
      } else if (one.act === "wait") yield* pass(one.seconds)
      else if (one.act === "kill") {
        yield* replace(one.member, ({ process, fiber }) =>
          Effect.andThen(process.kill, Fiber.interrupt(fiber))
        )
      } else if (one.act === "stop") yield* replace(one.member, ({ fiber }) => Fiber.interrupt(fiber))
      else if (one.act === "duplicate") {
        // Noted first: a waiting process may take a copy at once.
        const more = (yield* broker.pending).filter(({ body }) => body.includes(`"${one.row}"`)).length
        if (more > 0) {
          copies.set(one.row, copies.get(one.row)! + more)
          dueAt.set(one.row, Math.min(dueAt.get(one.row)!, yield* Clock.currentTimeMillis))
        }
        assert.strictEqual(yield* broker.duplicate(anyId(one.row)), more)
      } else if (one.act === "redrive") {
        for (const { id } of yield* client.deadLetters({ limit: 100 }))
          assert.isTrue(yield* client.redrive(id))
      } else {
        yield* broker.setAnswering(false)
        yield* pass(one.seconds)
        yield* broker.setAnswering(true)
      }
    }

    // From here on nothing fails: what is left must come to its end.
    calm = true
    for (let index = 0; index < PROCESSES; index++) {
      yield* replace(index, ({ process, fiber }) => Effect.andThen(process.kill, Fiber.interrupt(fiber)))
    }
    yield* pass(10 + VISIBILITY_SECONDS * 4)

    assert.deepStrictEqual(failures, [])
    assert.deepStrictEqual(yield* broker.pending, [])
    const dead = yield* client.deadLetters({ limit: 1_000 })
    const buried = new Set(dead.map(({ message }) => message?.rowId))
    for (const { receives } of dead) assert.strictEqual(receives, MAX_RECEIVES)
    for (const rowId of copies.keys()) {
      assert.isTrue(succeeded.has(rowId) || buried.has(anyId(rowId)), `${rowId} vanished (D3)`)
    }
  }).pipe(Effect.scoped, Effect.provide([TestClock.layer(), Logger.layer([])]))

it("conserves messages under kills, stops, failures, duplicates and outages (D2, D3)", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 25 }),
      fc.array(ending, { maxLength: 20 }),
      (steps, endings) => Effect.runPromise(play(steps, endings))
    ),
    { numRuns: 200 }
  ))
