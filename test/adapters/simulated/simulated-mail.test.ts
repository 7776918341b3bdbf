import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { text } from "node:stream/consumers"

import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"

import { layer } from "../../../src/adapters/simulated/simulated-mail.ts"
import { type SimulatedEvent, SimulatedMail } from "../../../src/ports/mail/simulated-mail.ts"
import { box, keyOf, mail } from "../../support/files/mail-message.ts"
import { programOf } from "../../support/processes/child.ts"
import { killAfterFirstLine } from "../../support/processes/killed-process.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-simulated-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

const open = Effect.fnUntraced(function* (
  dataDir: string,
  onEvent?: (event: SimulatedEvent) => Effect.Effect<void>
) {
  const context = yield* Layer.build(layer(onEvent === undefined ? { dataDir } : { dataDir, onEvent }))
  return Context.get(context, SimulatedMail)
})

const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

describe("outbox", () => {
  it.effect("lists whole messages, newest first, and gives them back byte for byte", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const { outbox } = yield* open(dataDir)
      const alert = {
        via: "alert",
        from: "a@x.test",
        to: ["b@x.test"],
        subject: "One",
        raw: "Subject: One\r\n\r\n1"
      }
      const one = yield* outbox.put(alert)
      yield* TestClock.adjust("1 minute")
      const two = yield* outbox.put({ ...alert, subject: "Two", raw: Uint8Array.of(0, 255, 13, 10) })
      // What a killed process leaves: a message without its entry, and unfinished files.
      yield* Effect.promise(() => writeFile(join(dataDir, "outbox", "zz.eml"), "half"))
      yield* Effect.promise(() => writeFile(join(dataDir, "outbox", "zz.json.1.tmp"), "{"))

      assert.deepStrictEqual(yield* outbox.list(), [two, one])
      assert.deepStrictEqual(yield* outbox.list({ limit: 1 }), [two])
      assert.deepStrictEqual(
        [one.at, two.at, one.cc, one.bcc],
        ["1970-01-01T00:00:00.000Z", "1970-01-01T00:01:00.000Z", [], []]
      )
      assert.strictEqual(decode(yield* outbox.get(one.id)), alert.raw)
      assert.deepStrictEqual([...(yield* outbox.get(two.id))!], [0, 255, 13, 10])
      assert.deepStrictEqual([yield* outbox.has(one.id), yield* outbox.has("none")], [true, false])
      assert.deepStrictEqual(yield* (yield* open(dataDir)).outbox.list(), [two, one])
    })
  )

  it.effect("no id leads out of its folder", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      yield* Effect.promise(() => writeFile(join(dataDir, "secret.eml"), "secret"))
      const { outbox } = yield* open(dataDir)
      for (const id of ["../secret", "..%2fsecret", "", "/etc/passwd", "a\0"]) {
        assert.isUndefined(yield* outbox.get(id))
        assert.isFalse(yield* outbox.has(id))
      }
      const message = { via: "x", from: "", to: [], subject: "", raw: "" }
      assert.strictEqual((yield* Effect.flip(outbox.put({ ...message, id: "../x" }))).operation, "put")
    })
  )
})

describe("simulated providers", () => {
  it.effect("a script holds for the next requests, then for those after it", () =>
    Effect.gen(function* () {
      const simulated = yield* open(yield* folder)
      const send = (provider: "provider_a" | "provider_b", key: string) => {
        const adapter = simulated.provider(provider)
        return Effect.result(adapter.send(adapter.prepare(mail(), keyOf(key)))).pipe(
          Effect.map((result) => (result._tag === "Success" ? "ok" : result.failure.kind))
        )
      }
      yield* simulated.script("provider_a", [
        "unavailable",
        "rejected",
        "ambiguous-lost",
        "ambiguous-accepted"
      ])
      const kinds = yield* Effect.forEach(["1", "2", "3", "4", "5"], (key) => send("provider_a", key))
      assert.deepStrictEqual(kinds, ["unavailable", "rejected", "ambiguous", "ambiguous", "ok"])
      assert.strictEqual(yield* send("provider_b", "6"), "ok")
      assert.strictEqual((yield* simulated.outbox.list()).length, 3)

      yield* simulated.script("provider_b", ["ok"], "unavailable")
      const later = yield* Effect.forEach(["7", "8", "9"], (key) => send("provider_b", key))
      assert.deepStrictEqual(later, ["ok", "unavailable", "unavailable"])
    })
  )

  it.live("a script holds for all processes on the folder: each outcome goes to one request", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const fleet = [yield* open(dataDir), yield* open(dataDir), yield* open(dataDir)]
      yield* fleet[0]!.script(
        "provider_b",
        Array.from({ length: 10 }, () => "rejected" as const)
      )
      const send = (at: number) => {
        const provider = fleet[at % 3]!.provider("provider_b")
        return Effect.exit(provider.send(provider.prepare(mail(), keyOf(`k${at}`))))
      }
      const exits = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, at) => at),
        send,
        {
          concurrency: "unbounded"
        }
      )
      assert.lengthOf(exits.filter(Exit.isFailure), 10)
      yield* fleet[1]!.script("provider_b", ["rejected"], "unavailable")
      yield* fleet[2]!.script("provider_b", [])
      assert.isTrue(Exit.isSuccess(yield* send(0)))
    })
  )

  it.effect(
    "a script for a category outlives a restart, and a mail that loses a recipient is still of it",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* folder
        yield* (yield* open(dataDir)).script("provider_a", [], "rejected", { category: "transactional" })
        const provider = (yield* open(dataDir)).provider("provider_a")
        const request = provider.prepare(mail({ to: [box("a@x.test"), box("b@x.test")] }), keyOf("k"))
        const left = provider.withoutRecipients(request, new Set(["b@x.test"]))!
        assert.strictEqual((yield* Effect.flip(provider.send(left))).kind, "rejected")
        const other = provider.prepare({ ...mail(), category: "marketing" }, keyOf("m"))
        assert.isNotEmpty((yield* provider.send(other)).messageId)
      })
  )

  it.live("hang-accepted delivers and never answers; hang-lost does neither", () =>
    Effect.gen(function* () {
      const delivered = yield* Deferred.make<void>()
      const simulated = yield* open(yield* folder, () => Deferred.succeed(delivered, undefined))
      const provider = simulated.provider("provider_a")
      yield* simulated.script("provider_a", ["hang-lost", "hang-accepted"])
      const request = provider.prepare(mail({ to: [box("delivered@resend.dev")] }), keyOf("k"))
      const lost = yield* Effect.forkChild(provider.send(request), { startImmediately: true })
      const accepted = yield* Effect.forkChild(provider.send(request), { startImmediately: true })
      yield* Deferred.await(delivered)
      assert.strictEqual((yield* simulated.outbox.list()).length, 1)
      assert.isUndefined(lost.pollUnsafe())
      assert.isUndefined(accepted.pollUnsafe())
      yield* Fiber.interruptAll([lost, accepted])
    })
  )

  it.effect(
    "provider_a remembers a key for 24 hours: same payload, same id; another payload is refused (S1)",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* folder
        const provider = (yield* open(dataDir)).provider("provider_a")
        const request = provider.prepare(mail(), keyOf("k"))
        const first = yield* provider.send(request)
        yield* TestClock.adjust(Duration.millis(24 * 3_600_000 - 1))
        const later = yield* open(dataDir)
        assert.deepStrictEqual(yield* later.provider("provider_a").send(request), first)
        const other = provider.prepare(mail({ subject: "Other" }), keyOf("k"))
        const refused = yield* Effect.flip(later.provider("provider_a").send(other))
        assert.deepStrictEqual([refused.kind, refused.code], ["rejected", "invalid_idempotent_request"])
        assert.strictEqual((yield* later.outbox.list()).length, 1)

        yield* TestClock.adjust(Duration.millis(1))
        assert.notStrictEqual((yield* provider.send(other)).messageId, first.messageId)
        assert.strictEqual((yield* provider.send(other)).messageId, (yield* provider.send(other)).messageId)
        assert.strictEqual((yield* later.outbox.list()).length, 2)
      })
  )

  it.effect("the entry has every recipient, Bcc too; the message does not", () =>
    Effect.gen(function* () {
      const simulated = yield* open(yield* folder)
      const provider = simulated.provider("provider_b")
      const { messageId } = yield* provider.send(
        provider.prepare(
          mail({
            to: [box("ann@example.test", "Ann, A.")],
            bcc: [box("hidden@example.test")],
            tags: { campaign: "c 1" }
          }),
          keyOf("k")
        )
      )
      const [entry] = yield* simulated.outbox.list()
      assert.deepStrictEqual(
        [entry!.via, entry!.to, entry!.bcc, entry!.messageId, entry!.tags!["campaign"], entry!.marks],
        ["provider_b", ['"Ann, A." <ann@example.test>'], ["hidden@example.test"], messageId, "c 1", []]
      )
      assert.notInclude(decode(yield* simulated.outbox.get(entry!.id)), "hidden@")
    })
  )

  it.effect("the vendors' test addresses are delivered, marked, and reported", () =>
    Effect.gen(function* () {
      const events = yield* Queue.unbounded<SimulatedEvent>()
      const dataDir = yield* folder
      const report = (event: SimulatedEvent) => Effect.asVoid(Queue.offer(events, event))
      yield* Effect.gen(function* () {
        const simulated = yield* SimulatedMail
        const send = (name: "provider_a" | "provider_b", to: string, cc: ReadonlyArray<string> = []) => {
          const provider = simulated.provider(name)
          const message = mail({
            to: [box(to)],
            cc: cc.map((address) => box(address)),
            tags: { campaign: "c1" }
          })
          return provider.send(provider.prepare(message, keyOf(to)))
        }
        const cases = [
          ["provider_a", "delivered@resend.dev", "delivered"],
          ["provider_a", "Bounced+label@resend.dev", "bounced"],
          ["provider_a", "complained@resend.dev", "complained"],
          ["provider_a", "suppressed@resend.dev", "suppressed"],
          ["provider_b", "success@simulator.amazonses.com", "delivered"],
          ["provider_b", "bounce+7@simulator.amazonses.com", "bounced"],
          ["provider_b", "complaint@simulator.amazonses.com", "complained"],
          ["provider_b", "suppressionlist@simulator.amazonses.com", "suppressed"]
        ] as const
        for (const [provider, to, type] of cases) {
          const { messageId } = yield* send(provider, to, ["ann@example.test"])
          const event = yield* Queue.take(events)
          assert.deepStrictEqual(
            [event.provider, event.type, event.messageId, event.recipients, event.allRecipients],
            [provider, type, messageId, [to.toLowerCase()], [to.toLowerCase(), "ann@example.test"]]
          )
          assert.deepStrictEqual(
            [event.tags["campaign"], event.tags["postlane_key"], event.subject, event.from],
            ["c1", keyOf(to).tag, "Hello", "noreply@postlane.test"]
          )
          const entry = (yield* simulated.outbox.list()).find((one) => one.messageId === messageId)
          assert.deepStrictEqual(entry!.marks, [type])
        }
        // Each vendor's addresses are ordinary ones for the other, and a repeated key reports nothing.
        yield* send("provider_b", "bounced@resend.dev")
        yield* send("provider_a", "bounce@simulator.amazonses.com")
        yield* send("provider_a", "delivered@resend.dev", ["ann@example.test"])
      }).pipe(Effect.provide(layer({ dataDir, onEvent: report })))
      assert.strictEqual(yield* Queue.size(events), 0)
    })
  )

  it.effect("a removed message is not delivered anew by its key", () =>
    Effect.gen(function* () {
      const { outbox, provider } = yield* open(yield* folder)
      const request = provider("provider_a").prepare(mail(), keyOf("k"))
      const first = yield* provider("provider_a").send(request)
      yield* outbox.clear("~")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* provider("provider_a").send(request), first)
      assert.isEmpty(yield* outbox.list())
    })
  )

  it.effect("an event that is asked for is reported about all recipients or some, and noted", () =>
    Effect.gen(function* () {
      const reported: Array<SimulatedEvent> = []
      const simulated = yield* open(yield* folder, (event) => Effect.sync(() => void reported.push(event)))
      const provider = simulated.provider("provider_b")
      const { messageId } = yield* provider.send(
        provider.prepare(
          mail({
            to: [box("Ann@example.test", "Ann")],
            bcc: [box("hidden@example.test")],
            configurationSet: "outreach"
          }),
          keyOf("k")
        )
      )
      const [entry] = yield* simulated.outbox.list()
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* simulated.report(entry!, "opened"))
      assert.isTrue(yield* simulated.report(entry!, "delivery_delayed", ["hidden@example.test"]))
      assert.deepStrictEqual(
        reported.map(({ recipients, type }) => [type, recipients]),
        [
          ["opened", ["ann@example.test", "hidden@example.test"]],
          ["delivery_delayed", ["hidden@example.test"]]
        ]
      )
      for (const { allRecipients, at, configurationSet, from, messageId: of } of reported) {
        assert.deepStrictEqual(
          [of, from, configurationSet, at],
          [messageId, "noreply@postlane.test", "outreach", "1970-01-01T00:01:00.000Z"]
        )
        assert.deepStrictEqual(allRecipients, ["ann@example.test", "hidden@example.test"])
      }
      assert.deepStrictEqual((yield* simulated.outbox.entry(entry!.id))!.marks, [
        "delivery_delayed",
        "opened"
      ])
      const alert = yield* simulated.outbox.put({
        via: "telegram",
        from: "a@x.test",
        to: [],
        subject: "",
        raw: ""
      })
      assert.isFalse(yield* simulated.report(alert, "bounced"))
      assert.strictEqual(reported.length, 2)
    })
  )

  it.effect("an event that cannot be delivered does not change the send", () =>
    Effect.gen(function* () {
      const simulated = yield* open(yield* folder, () => Effect.die("no intake"))
      const provider = simulated.provider("provider_a")
      const request = provider.prepare(mail({ to: [box("bounced@resend.dev")] }), keyOf("k"))
      assert.isNotEmpty((yield* provider.send(request)).messageId)
    })
  )
})

type Child = ChildProcessByStdio<Writable, Readable, null>

const child = (dataDir: string, keys: number): Child =>
  spawn(process.execPath, [programOf("test/adapters/simulated/race-child.ts")], {
    env: { ...process.env, DATA_DIR: dataDir, KEYS: String(keys) },
    stdio: ["pipe", "pipe", "inherit"]
  })

describe("simulated providers in several processes", () => {
  it.live("processes that send the same keys at once deliver each once, under one id (S1)", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const keys = 60
      const results = yield* Effect.promise(async () => {
        const children = [child(dataDir, keys), child(dataDir, keys), child(dataDir, keys)]
        await Promise.all(children.map((one) => once(one.stdout, "data")))
        for (const one of children) one.stdin.write("go\n")
        const lines = await Promise.all(children.map((one) => text(one.stdout)))
        return lines.map((line) => JSON.parse(line) as ReadonlyArray<string>)
      })
      const { outbox } = yield* open(dataDir)
      const delivered = (yield* outbox.list()).map((entry) => entry.messageId!)
      assert.strictEqual(delivered.length, keys)
      for (let at = 0; at < keys; at++) {
        const answers = new Set(results.map((ids) => ids[at]!))
        answers.delete("ambiguous")
        assert.isAtMost(answers.size, 1)
        for (const id of answers) assert.include(delivered, id)
      }
      const remembered = yield* Effect.promise(() => readdir(join(dataDir, "simulated-keys")))
      assert.strictEqual(remembered.length, keys)
    })
  )

  it.effect(
    "a process killed between remembering a key and delivering it leaves no second copy and no stuck key (S1)",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* folder
        yield* TestClock.setTime(Date.now())
        yield* killAfterFirstLine("test/adapters/simulated/claim-child.ts", { DATA_DIR: dataDir })
        const { outbox, provider } = yield* open(dataDir)
        const simulated = provider("provider_a")
        const request = simulated.prepare(mail(), keyOf("k"))
        assert.strictEqual((yield* outbox.list()).length, 0)

        const early = yield* Effect.flip(simulated.send(request))
        assert.deepStrictEqual([early.kind, early.code], ["ambiguous", "concurrent_idempotent_requests"])
        assert.strictEqual((yield* outbox.list()).length, 0)

        yield* TestClock.adjust("1 hour")
        const first = yield* simulated.send(request)
        const second = yield* simulated.send(request)
        assert.deepStrictEqual(second, first)
        assert.deepStrictEqual(
          (yield* outbox.list()).map((entry) => entry.messageId),
          [first.messageId]
        )
      })
  )
})

describe("a vendor's limit", () => {
  it.effect("two requests a second over all processes of the folder, and an answer that says so", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const opened = Effect.map(Layer.build(layer({ dataDir, vendorLimits: true })), (context) =>
        Context.get(context, SimulatedMail)
      )
      const one = yield* opened
      const two = yield* opened
      const send = (from: typeof one, key: string, provider: "provider_a" | "provider_b" = "provider_a") => {
        const asked = from.provider(provider)
        return asked.send(asked.prepare(mail(), keyOf(key)))
      }
      const first = yield* send(one, "1")
      assert.deepStrictEqual(first.pace, { ratePerSecond: 2 })
      yield* send(two, "2")
      const refused = yield* Effect.flip(send(one, "3"))
      assert.deepInclude(refused, {
        kind: "unavailable",
        code: "rate_limit_exceeded",
        pace: { ratePerSecond: 2, holdMs: 1000, retryAfterMs: 1000 }
      })
      // The other vendor keeps no such limit.
      yield* send(one, "3", "provider_b")
      yield* TestClock.adjust("1 second")
      yield* send(two, "3")
      yield* TestClock.adjust("10 seconds")
      yield* send(one, "4")
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(dataDir, "simulated-pace"))), ["11-0"])
    })
  )
})
