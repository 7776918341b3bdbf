import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"

import * as MailTemplates from "../../../src/adapters/mail-templates/mail-templates.ts"
import { makeAlarmBoard, NOTHING } from "../../../src/adapters/memory/delivery/alarm-board.ts"
import * as MemoryDeferrals from "../../../src/adapters/memory/mail/deferrals.ts"
import { ConfiguredProviders } from "../../../src/application/configured-providers.ts"
import { layer as layerNotices, watchAlarms } from "../../../src/application/delivery/alarms.ts"
import { AlertConfig } from "../../../src/application/delivery/alert-ways.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import { AlarmBoard } from "../../../src/ports/delivery/alarm-board.ts"
import { ChatFailure, Chats } from "../../../src/ports/delivery/alert-channels.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { storeDown } from "../../support/worlds/store-down.ts"
import { makeHarness } from "../mail/harness.ts"

/** Leaders on alarms in memory, the mailer in memory and a chat, all in the test's hands. */
const makeWorld = Effect.fnUntraced(function* (
  options: { readonly email?: string | undefined; readonly chat?: boolean } = {}
) {
  const mail = yield* makeHarness()
  const posts: Array<string> = []
  const world = {
    measures: { now: NOTHING },
    posts,
    mail,
    chat: "ok" as "ok" | "down" | "dies",
    board: "ok" as "ok" | "down",
    dead: false,
    /** Subjects of the mails that left. */
    subjects: Effect.map(mail.providers.provider_a.copies, (copies) =>
      copies.map((copy) => /\[Postlane\][^"]*/.exec(JSON.stringify(copy))?.[0])
    ),
    tick: Effect.void as Effect.Effect<unknown, StoreUnavailable>
  }
  const board = makeAlarmBoard(world.measures)
  const services = layerNotices.pipe(
    Layer.provide([
      Layer.succeed(AlertConfig, {
        email: "email" in options ? options.email : "ops@x.test",
        baseUrl: "https://postlane.test"
      }),
      Layer.succeed(Mailer, Mailer.of({ send: mail.send })),
      MemoryDeferrals.layer(mail.database),
      MailTemplates.layer,
      Layer.succeed(
        Chats,
        Chats.of({
          chat: {
            configured: options.chat !== false,
            post: (text) =>
              world.chat === "dies"
                ? Effect.andThen(
                    Effect.sync(() => void posts.push(text)),
                    Effect.die("killed")
                  )
                : world.chat === "down"
                  ? Effect.fail(new ChatFailure({ message: "telegram: 502" }))
                  : Effect.sync(() => void posts.push(text))
          }
        })
      )
    ]),
    Layer.merge(
      Layer.succeed(
        AlarmBoard,
        AlarmBoard.of({
          ...board,
          measure: Effect.suspend(() => (world.board === "down" ? Effect.fail(storeDown()) : board.measure))
        })
      )
    ),
    Layer.merge(
      Layer.mock(DeferQueue, {
        configured: true,
        deadLetters: () =>
          Effect.succeed(
            world.dead ? [{ id: "d", diedAt: null, receives: 3, reason: null, message: null }] : []
          )
      })
    )
  )
  world.tick = Effect.provide(watchAlarms, services)
  return world
})

const passMinutes = (tick: Effect.Effect<unknown, StoreUnavailable>, minutes: number) =>
  Effect.forEach(Array.from({ length: minutes }), () => Effect.andThen(TestClock.adjust("1 minute"), tick), {
    discard: true
  })

const firing = Effect.map(Metric.snapshot, (all) =>
  Object.fromEntries(
    all.flatMap((metric) =>
      metric.id === "postlane_alarm_firing" && metric.type === "Gauge"
        ? [[metric.attributes?.["alarm"], Number(metric.state.value)]]
        : []
    )
  )
)

/** Alarms with a figure on the page of metrics. */
const shown = Effect.map(firing, (all) =>
  Object.keys(all).filter((name) => /^(?:silence|provider)_/.test(name))
)

const FAILING = { ...NOTHING, failovers: 3 }

describe("alarms", () => {
  it.effect("about a provider that the settings do not name are judged, and shown while they fire", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      const tick = Effect.provideService(world.tick, ConfiguredProviders, ["smtp", "postmark"])
      yield* tick
      assert.deepStrictEqual(yield* shown, ["silence_postmark"])
      world.measures.now = { ...NOTHING, silent: { ...NOTHING.silent, provider_b: 1_000 } }
      yield* passMinutes(tick, 2)
      assert.sameMembers(yield* shown, ["silence_postmark", "silence_provider_b"])
      assert.lengthOf(yield* world.subjects, 1)
      world.measures.now = NOTHING
      yield* passMinutes(tick, 90)
      assert.deepStrictEqual(yield* shown, ["silence_postmark"])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect(
    "report the begin and the end of an episode once, on both channels, across changes of the leader",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        const leaders = Effect.all([world.tick, world.tick, world.tick], { concurrency: "unbounded" })
        yield* leaders
        assert.deepStrictEqual([world.posts, yield* world.subjects], [[], []])
        world.measures.now = FAILING
        yield* passMinutes(leaders, 5)
        assert.lengthOf(world.posts, 1)
        assert.include(world.posts[0], "Alarm: Sends fail over\n")
        assert.include(world.posts[0], "3 sends failed over in 15 minutes")
        assert.deepStrictEqual(yield* world.subjects, ["[Postlane] Alarm: Sends fail over"])
        assert.deepInclude(yield* firing, { failovers: 1, dead_letters: 0 })
        world.measures.now = NOTHING
        yield* passMinutes(leaders, 14)
        world.measures.now = FAILING
        yield* passMinutes(leaders, 3)
        world.measures.now = NOTHING
        yield* passMinutes(leaders, 15)
        assert.lengthOf(world.posts, 1, "a break in the calm begins it anew")
        yield* passMinutes(leaders, 5)
        assert.lengthOf(world.posts, 2)
        assert.include(world.posts[1], "Alarm over: Sends fail over\n")
        assert.deepInclude(yield* firing, { failovers: 0 })
        const rows = world.mail.database.rows()
        assert.deepStrictEqual(
          rows.map(({ category, source, to }) => [category, source, ...to]),
          [0, 1].map(() => ["alert", "api:email-alarm", "ops@x.test"])
        )
      })
  )

  it.effect("a dead letter", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ email: undefined })
      world.dead = true
      yield* passMinutes(world.tick, 3)
      assert.lengthOf(world.posts, 1)
      assert.include(world.posts[0], "the retry queue has dead letters".slice(1))
      const letters = (yield* Metric.snapshot).find(({ id }) => id === "postlane_dead_letters")
      assert.deepStrictEqual(letters?.state, { value: 1 })
    })
  )

  it.effect("a notice that no channel takes is tried again, the beginning before the end", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ email: undefined })
      world.chat = "down"
      world.measures.now = FAILING
      yield* passMinutes(world.tick, 2)
      world.measures.now = NOTHING
      yield* passMinutes(world.tick, 20)
      assert.lengthOf(world.posts, 0)
      world.chat = "ok"
      yield* passMinutes(world.tick, 70)
      assert.deepStrictEqual(
        world.posts.map((text) => text.split("\n\n")[1]),
        ["Alarm: Sends fail over", "Alarm over: Sends fail over"]
      )
    })
  )

  it.effect(
    "an outage's alarm that the chat took reaches the mailbox once mail goes out again, and the chat once",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        const { provider_a } = world.mail.scripts
        provider_a.push("unavailable", "unavailable", "unavailable")
        world.measures.now = FAILING
        yield* passMinutes(world.tick, 2)
        assert.lengthOf(world.posts, 1)
        assert.lengthOf(yield* world.subjects, 0)
        yield* passMinutes(world.tick, 8)
        assert.lengthOf(world.posts, 1)
        assert.deepStrictEqual(yield* world.subjects, ["[Postlane] Alarm: Sends fail over"])
      })
  )

  it.effect(
    "a mailbox that is dead holds back no end in the chat, and gets no end before its beginning",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld()
        const { provider_a } = world.mail.scripts
        provider_a.push(...Array.from({ length: 40 }, () => "unavailable" as const))
        world.measures.now = FAILING
        yield* passMinutes(world.tick, 2)
        world.measures.now = NOTHING
        yield* passMinutes(world.tick, 20)
        assert.deepStrictEqual(
          world.posts.map((text) => text.split("\n\n")[1]),
          ["Alarm: Sends fail over", "Alarm over: Sends fail over"]
        )
        provider_a.splice(0)
        yield* passMinutes(world.tick, 130)
        assert.deepStrictEqual(yield* world.subjects, [
          "[Postlane] Alarm: Sends fail over",
          "[Postlane] Alarm over: Sends fail over"
        ])
        assert.lengthOf(world.posts, 2)
      })
  )

  it.effect("one channel is enough, and a mail to an inbox that is blocked feeds nothing", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.mail.database.suppress({ email: "ops@x.test", reason: "manual" })
      world.measures.now = FAILING
      yield* passMinutes(world.tick, 10)
      assert.lengthOf(world.posts, 1)
      assert.lengthOf(world.mail.database.rows(), 1)
      assert.strictEqual((yield* world.mail.received).provider_a, 0)
    })
  )

  it.effect("a process that dies while it sends leaves the notice to the next, by mail once", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.chat = "dies"
      world.measures.now = FAILING
      assert.isTrue(Exit.isFailure(yield* Effect.exit(world.tick)))
      world.chat = "ok"
      yield* passMinutes(world.tick, 2)
      assert.lengthOf(world.posts, 1)
      yield* passMinutes(world.tick, 10)
      assert.lengthOf(world.posts, 2)
      assert.lengthOf(yield* world.subjects, 1)
    })
  )

  it.effect("without a channel nothing is confirmed, and the tick goes on", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ email: undefined, chat: false })
      world.measures.now = FAILING
      yield* passMinutes(world.tick, 3)
      assert.deepInclude(yield* firing, { failovers: 1 })
    })
  )

  it.effect("a log that cannot be measured fails the tick, and holds back no notice", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      world.chat = "down"
      world.mail.scripts.provider_a.push("rejected")
      world.measures.now = FAILING
      yield* world.tick
      assert.lengthOf(world.posts, 0)
      world.chat = "ok"
      world.board = "down"
      yield* TestClock.adjust("2 minutes")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(world.tick)))
      assert.lengthOf(world.posts, 1)
    })
  )
})
