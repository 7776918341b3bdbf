import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"

import { wordsOf } from "../../../src/adapters/mime/compose-message.ts"
import { makeKeyMemories } from "../../../src/adapters/simulated/key-memory.ts"
import { makeOutbox, writeWhole } from "../../../src/adapters/simulated/outbox.ts"
import { MAX_SEARCHED } from "../../../src/ports/mail/simulated-mail.ts"
import { makeFolder } from "../../support/processes/child.ts"

const folder = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => makeFolder()),
    (made) => Effect.promise(() => made.remove())
  ),
  ({ path }) => path
)

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

const mail = (changes: object = {}) => ({
  via: "provider_a",
  from: "News <news@x.test>",
  to: ["Ann <Ann@x.test>"],
  subject: "Hello",
  raw: "Subject: Hello\r\n\r\n1",
  ...changes
})

it.effect("mails and keys are their owner's alone, also in folders that were open before", () =>
  Effect.gen(function* () {
    const root = yield* folder
    for (const [name, open] of [
      ["outbox", (path: string) => Effect.asVoid(makeOutbox(path))],
      ["keys", (path: string) => Effect.promise(() => makeKeyMemories(path))]
    ] as const) {
      const path = join(root, name)
      yield* Effect.promise(() => mkdir(path))
      yield* Effect.promise(() => chmod(path, 0o755))
      yield* open(path)
      assert.strictEqual(yield* Effect.promise(() => modeOf(path)), 0o700)
    }
    const outbox = yield* makeOutbox(join(root, "outbox"))
    const { id } = yield* outbox.put(mail())
    yield* outbox.mark(id, "read")
    yield* Effect.promise(() => writeWhole(join(root, "outbox", "a.eml"), "secret"))
    const keys = yield* Effect.promise(() => makeKeyMemories(join(root, "keys")))
    yield* Effect.promise(() => keys.claim("k", { payloadHash: "h", messageId: "m", outboxId: "o", at: 0 }))
    for (const name of ["outbox", "keys"]) {
      const files = yield* Effect.promise(() => readdir(join(root, name)))
      assert.isNotEmpty(files)
      for (const file of files) {
        assert.strictEqual(yield* Effect.promise(() => modeOf(join(root, name, file))), 0o600)
      }
    }
  })
)

describe("what is looked for", () => {
  it.effect("words of subject, addresses and text, in any case; an address; what is older", () =>
    Effect.gen(function* () {
      const outbox = yield* makeOutbox(yield* folder)
      const ids: Array<string> = []
      for (const changes of [
        { subject: "Your receipt" },
        { to: ["bob@x.test"], bcc: ["ann@x.test"], text: "The CODE is 4711" },
        { to: ["notann@x.test"], subject: "ann@x.test in the subject" }
      ]) {
        ids.push((yield* outbox.put(mail(changes))).id)
        yield* TestClock.adjust("1 second")
      }
      const [one, two, three] = ids
      const found = (filter: object) =>
        Effect.map(outbox.list(filter), (entries) => entries.map(({ id }) => id))
      assert.deepStrictEqual(yield* found({ search: "RECEIPT your" }), [one])
      assert.deepStrictEqual(yield* found({ search: "code 47" }), [two])
      assert.deepStrictEqual(yield* found({ search: "bob@" }), [two])
      assert.deepStrictEqual(yield* found({ search: "receipt 4711" }), [])
      assert.deepStrictEqual(yield* found({ address: "ann@x.test" }), [two, one])
      assert.deepStrictEqual(yield* found({ before: three }), [two, one])
      assert.deepStrictEqual(yield* found({ before: three, limit: 1, search: "hello" }), [two])
      assert.deepStrictEqual(yield* found({ after: one }), [three, two])
      assert.deepStrictEqual(yield* found({ after: one, limit: 1 }), [two])
      assert.deepStrictEqual(yield* found({ after: one, before: three }), [two])
    })
  )

  it.effect("of the newest alone", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const outbox = yield* makeOutbox(path)
      const { id } = yield* outbox.put(mail({ id: "0-oldest", subject: "needle" }))
      const entryOf = (at: number) => JSON.stringify({ ...mail(), id: `1-${at}`, cc: [], bcc: [], at: "" })
      const names = Array.from({ length: MAX_SEARCHED }, (_, at) =>
        writeFile(join(path, `1-${at}.json`), entryOf(at))
      )
      yield* Effect.promise(() => Promise.all(names))
      assert.deepStrictEqual(yield* outbox.list({ search: "needle" }), [])
      yield* outbox.remove("1-0")
      assert.strictEqual((yield* outbox.list({ search: "needle" }))[0]!.id, id)
    })
  )

  it("is the words of a message, of which a bounded part is kept", () => {
    assert.strictEqual(wordsOf({ html: "<p>a\n</p><b x='>'>b", text: null }), " a '>b")
    assert.strictEqual(wordsOf({ html: "<p>no</p>", text: "yes  yes" }), "yes yes")
    assert.strictEqual(wordsOf({ html: "<".repeat(2_000_000), text: null }).length, 8_000)
    assert.strictEqual(wordsOf({ html: null, text: " ".repeat(2_000_000) }), " ")
  })
})

describe("notes and removal", () => {
  it.effect("every process sees what was read and what happened", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const [one, other] = [yield* makeOutbox(path), yield* makeOutbox(path)]
      const { id } = yield* one.put(mail({ marks: ["delivered"] }))
      assert.isUndefined((yield* other.entry(id))!.read)
      yield* one.mark(id, "read")
      yield* one.mark(id, "bounced")
      yield* one.mark("none", "bounced")
      yield* one.mark("../x", "bounced")
      const seen = yield* other.entry(id)
      assert.deepStrictEqual([seen!.read, seen!.marks], [true, ["delivered", "bounced"]])
      assert.deepStrictEqual(yield* other.list(), [seen!])
      assert.isUndefined(yield* other.entry("none"))
    })
  )

  it.effect("a removed message leaves nothing but that it was there, until its key is forgotten", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const outbox = yield* makeOutbox(path)
      const files = Effect.promise(() => readdir(path))
      const { id } = yield* outbox.put(mail())
      yield* outbox.mark(id, "read")
      assert.deepStrictEqual([yield* outbox.remove(id), yield* outbox.remove(id)], [true, false])
      assert.isFalse(yield* outbox.remove("../outbox"))
      assert.deepStrictEqual([yield* outbox.list(), yield* outbox.get(id)], [[], undefined])
      assert.isTrue(yield* outbox.has(id))
      assert.deepStrictEqual(yield* files, [`${id}.gone`])
      yield* outbox.clear("~")
      assert.isTrue(yield* outbox.has(id))
      yield* TestClock.adjust(Duration.hours(25))
      yield* outbox.clear("~")
      assert.deepStrictEqual(yield* files, [])
    })
  )

  it.effect("all are removed, but for what came after the last that was seen", () =>
    Effect.gen(function* () {
      const outbox = yield* makeOutbox(yield* folder)
      yield* outbox.put(mail())
      yield* TestClock.adjust("1 second")
      const seen = yield* outbox.put(mail())
      yield* TestClock.adjust("1 second")
      const late = yield* outbox.put(mail())
      assert.strictEqual(yield* outbox.clear(seen.id), 2)
      assert.deepStrictEqual(yield* outbox.list(), [late])
    })
  )
})

it.live("another process's message is a change", () =>
  Effect.gen(function* () {
    const path = yield* folder
    const [watching, writing] = [yield* makeOutbox(path), yield* makeOutbox(path)]
    const changed = yield* Deferred.make<void>()
    yield* Effect.forkChild(
      Stream.runForEach(watching.changes, () => Deferred.succeed(changed, undefined)),
      { startImmediately: true }
    )
    yield* writing.put(mail())
    yield* Deferred.await(changed)
  })
)

it.effect("a look says where it stopped: at its limit, at the newest 2,000, or nowhere", () =>
  Effect.gen(function* () {
    const path = yield* folder
    const outbox = yield* makeOutbox(path)
    const idOf = (at: number) => `m${String(at).padStart(5, "0")}`
    const entry = { via: "provider_a", from: "n@x.test", to: ["a@x.test"], cc: [], bcc: [], at: "" }
    yield* Effect.promise(() =>
      Promise.all(
        Array.from({ length: MAX_SEARCHED + 1 }, (_, at) =>
          writeFile(
            join(path, `${idOf(at)}.json`),
            JSON.stringify({ ...entry, id: idOf(at), subject: at === 0 ? "needle" : "hay" })
          )
        )
      )
    )
    const found = yield* outbox.page({ search: "needle" })
    assert.deepStrictEqual(found, {
      entries: [],
      lookedUntil: idOf(1),
      looked: MAX_SEARCHED,
      total: MAX_SEARCHED + 1
    })
    const beyond = yield* outbox.page({ search: "needle", before: found.lookedUntil })
    assert.deepStrictEqual([beyond.entries.map(({ id }) => id), beyond.lookedUntil], [[idOf(0)], undefined])
    assert.strictEqual((yield* outbox.page({ limit: 3 })).lookedUntil, idOf(MAX_SEARCHED - 2))
    assert.isUndefined((yield* outbox.page({ limit: MAX_SEARCHED + 1 })).lookedUntil)
  })
)
