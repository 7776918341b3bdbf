/**
 * The object stores (`FileObjects`, `BatchObjects`): an object is whole or not there, its bytes come back as they came, and no
 * key leads out of the store.
 *
 * Adapters: cloudflare, disk, s3. Rules: H1.
 */
import { readFile } from "node:fs/promises"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Option, type Scope, Stream } from "effect"
import * as fc from "fast-check"

import type { ObjectStoreError, ObjectStoreService } from "../../../src/ports/object-store.ts"

const text = (words: string) => new TextEncoder().encode(words)

const contentType = "application/octet-stream"

const readAll = (store: ObjectStoreService, key: string, from?: number) =>
  Effect.map(Stream.runCollect(store.get(key, { from })), (parts) => Buffer.concat([...parts]))

const keysOf = (store: ObjectStoreService, prefix: string) =>
  Effect.map(Stream.runCollect(store.list(prefix)), (found) => [...found].map(({ key }) => key).sort())

/** Bytes that tell their place, in chunks of an odd size. */
const pattern = (size: number) =>
  Stream.paginate(0, (at) => {
    const chunk = new Uint8Array(Math.min(70_001, size - at)).map((_, i) => (at + i) % 251)
    const next = at + chunk.length
    return Effect.succeed([[chunk], next < size ? Option.some(next) : Option.none<number>()] as const)
  })

/** What every object store does. `large` is a size that takes several parts. */
export const objectStoreContract = (
  name: string,
  make: Effect.Effect<ObjectStoreService, never, Scope.Scope>,
  options: {
    readonly large: number
    /** False where the store runs without a disk. */
    readonly localFiles?: boolean
  }
) =>
  describe(`ObjectStore: ${name}`, () => {
    const test = (
      title: string,
      use: (store: ObjectStoreService) => Effect.Effect<void, unknown, Scope.Scope>
    ) => it.live(title, () => Effect.scoped(Effect.flatMap(make, use)))

    test("returns what was put, whole and from an offset; the last writer wins", (store) =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* store.put("a/b.txt", Stream.make(text("he"), text("llo")), { contentType }),
          5
        )
        assert.strictEqual((yield* readAll(store, "a/b.txt")).toString(), "hello")
        assert.strictEqual((yield* readAll(store, "a/b.txt", 3)).toString(), "lo")
        assert.deepStrictEqual(yield* store.stat("a/b.txt"), { key: "a/b.txt", size: 5 })
        yield* store.put("a/b.txt", Stream.make(text("again")), { contentType })
        assert.strictEqual((yield* readAll(store, "a/b.txt")).toString(), "again")
        yield* store.check
      }))

    test("creates what is not there, once, however many ask at the same time, and changes nothing that is", (store) =>
      Effect.gen(function* () {
        assert.isTrue(yield* store.create("first", text("one"), { contentType }))
        assert.strictEqual((yield* readAll(store, "first")).toString(), "one")
        yield* store.remove(["first"])
        const writers = Array.from({ length: 8 }, (_, at) => text(`writer ${at}`))
        const won = yield* Effect.forEach(
          writers,
          (bytes) => store.create("a/once", bytes, { contentType }),
          {
            concurrency: "unbounded"
          }
        )
        assert.lengthOf(
          won.filter((mine) => mine),
          1
        )
        assert.strictEqual((yield* readAll(store, "a/once")).toString(), `writer ${won.indexOf(true)}`)
        assert.isFalse(yield* store.create("a/once", text("late"), { contentType }))
        assert.strictEqual((yield* readAll(store, "a/once")).toString(), `writer ${won.indexOf(true)}`)
        yield* store.remove(["a/once"])
        assert.isTrue(yield* store.create("a/once", text("anew"), { contentType }))
        assert.deepStrictEqual(yield* keysOf(store, ""), ["a/once"])
        assert.strictEqual(
          (yield* Effect.flip(store.create("../a", text("x"), { contentType }))).reason,
          "missing"
        )
      }))

    test("takes an empty object and one of several parts", (store) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* store.put("empty", Stream.empty, { contentType }), 0)
        assert.strictEqual((yield* readAll(store, "empty")).length, 0)
        assert.strictEqual(yield* store.put("large", pattern(options.large), { contentType }), options.large)
        let at = 0
        yield* Stream.runForEach(store.get("large"), (bytes) =>
          Effect.sync(() => {
            for (const byte of bytes) if (byte !== at++ % 251) assert.fail(`wrong byte at ${at - 1}`)
          })
        )
        assert.strictEqual(at, options.large)
      }))

    test("a piece may be written over once the next one is asked for", (store) =>
      Effect.gen(function* () {
        const [pieces, piece] = [options.large / 5_000, new Uint8Array(5_000)]
        const body = Stream.range(1, Math.ceil(pieces)).pipe(
          Stream.mapEffect((at) => Effect.sync(() => piece.fill(at % 251)))
        )
        yield* store.put("written-over", body, { contentType })
        const found = yield* readAll(store, "written-over")
        assert.strictEqual(found.length, Math.ceil(pieces) * piece.length)
        for (let at = 0; at < found.length; at += 1_000)
          if (found[at] !== (Math.floor(at / 5_000) + 1) % 251) assert.fail(`wrong byte at ${at}`)
      }))

    test("gives the same bytes where each piece is done with before the next one is asked for", (store) =>
      Effect.gen(function* () {
        yield* store.put("passing", pattern(options.large), { contentType })
        const from = 1_000_003
        let at = from
        yield* Stream.runForEach(store.get("passing", { from, passing: true }), (bytes) =>
          Effect.sync(() => {
            for (let i = 0; i < bytes.length; i += 97)
              if (bytes[i] !== (at + i) % 251) assert.fail(`wrong byte at ${at + i}`)
            at += bytes.length
          })
        )
        assert.strictEqual(at, options.large)
        const some = yield* Stream.runHead(store.get("passing", { passing: true }))
        assert.isTrue(Option.isSome(some))
        const missing = Stream.runDrain(store.get("none", { passing: true }))
        assert.strictEqual((yield* Effect.flip(missing)).reason, "missing")
      }))

    test("says of what is not there that it is missing; removing it is no error", (store) =>
      Effect.gen(function* () {
        const reasonOf = <A>(effect: Effect.Effect<A, ObjectStoreError, Scope.Scope>) =>
          Effect.map(Effect.flip(effect), ({ reason }) => reason)
        assert.strictEqual(yield* reasonOf(readAll(store, "none")), "missing")
        assert.strictEqual(yield* reasonOf(store.stat("none")), "missing")
        assert.strictEqual(yield* reasonOf(store.localPath("none")), "missing")
        yield* store.remove(["none", "none/at/all"])
        assert.deepStrictEqual(yield* keysOf(store, "none"), [])
      }))

    test("lists by prefix, and removes", (store) =>
      Effect.gen(function* () {
        for (const key of ["job-1/a", "job-1/b/c", "job-10/a"]) {
          yield* store.put(key, Stream.make(text(key)), { contentType })
        }
        assert.deepStrictEqual(yield* keysOf(store, "job-1/"), ["job-1/a", "job-1/b/c"])
        assert.deepStrictEqual(yield* keysOf(store, "job-1"), ["job-1/a", "job-1/b/c", "job-10/a"])
        yield* store.remove(["job-1/a", "job-1/b/c"])
        assert.deepStrictEqual(yield* keysOf(store, "job-1"), ["job-10/a"])
      }))

    test("a body that breaks off, or a writer that is stopped, leaves what was there before", (store) =>
      Effect.gen(function* () {
        yield* store.put("kept", Stream.make(text("old")), { contentType })
        const broken = Stream.concat(Stream.make(text("new")), Stream.fail("broken" as const))
        assert.strictEqual(yield* Effect.flip(store.put("kept", broken, { contentType })), "broken")
        const reached = yield* Latch.make()
        const stuck = Stream.concat(
          Stream.make(text("new")),
          Stream.fromEffect(Effect.andThen(reached.open, Effect.never))
        )
        const writer = yield* Effect.forkChild(store.put("kept", stuck, { contentType }))
        yield* reached.await
        yield* Fiber.interrupt(writer)
        assert.strictEqual((yield* readAll(store, "kept")).toString(), "old")
        assert.deepStrictEqual(yield* keysOf(store, ""), ["kept"])
      }))

    test("no key leads out of the store", (store) =>
      Effect.gen(function* () {
        const bad = [
          "../a",
          "a/../b",
          "/a",
          "a//b",
          ".",
          "a/.hidden",
          "",
          "a b",
          "ä",
          "a\0b",
          "a\\b",
          "x".repeat(1000)
        ]
        for (const key of bad) {
          const error = yield* Effect.flip(store.put(key, Stream.make(text("x")), { contentType }))
          assert.strictEqual(error.reason, "missing", key)
        }
      }))

    test("hands out a file that holds the object; several readers may share it", (store) =>
      Effect.gen(function* () {
        yield* store.put("doc", Stream.make(text("content")), { contentType })
        if (options.localFiles === false) {
          assert.strictEqual((yield* Effect.flip(store.localPath("doc"))).reason, "unavailable")
          return
        }
        const paths = yield* Effect.all([store.localPath("doc"), store.localPath("doc")], { concurrency: 2 })
        for (const path of paths) {
          assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), "content")
        }
        assert.strictEqual((yield* Effect.flip(store.localPath("late"))).reason, "missing")
        yield* store.put("late", Stream.make(text("there")), { contentType })
        const late = yield* store.localPath("late")
        assert.strictEqual(yield* Effect.promise(() => readFile(late, "utf8")), "there")
      }))

    test("whatever the bytes and however they come, they come back", (store) =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), async (parts) => {
            await Effect.runPromise(store.put("any", Stream.fromIterable(parts), { contentType }))
            const back = await Effect.runPromise(readAll(store, "any"))
            assert.deepStrictEqual(back, Buffer.concat(parts))
          }),
          { numRuns: 25 }
        )
      ))
  })
