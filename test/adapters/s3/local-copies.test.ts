import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"

import { makeLocalCopies } from "../../../src/adapters/s3/local-copies.ts"
import { ObjectStoreError, type ObjectStoreService } from "../../../src/ports/object-store.ts"
import { until } from "../../support/until.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-copies-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const copiesIn = (path: string) => Effect.promise(() => readdir(path))

it.effect("a copy is one however many read it, and is removed once nobody has for a while", () =>
  Effect.gen(function* () {
    const path = yield* folder
    let reads = 0
    const get: ObjectStoreService["get"] = () =>
      Stream.suspend(() => {
        reads += 1
        return Stream.make(Buffer.from("content"))
      })
    const localPath = yield* makeLocalCopies(path, get)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const [one, other] = yield* Effect.all([localPath("doc"), localPath("doc")], { concurrency: 2 })
        assert.strictEqual(one, other)
        assert.strictEqual(yield* Effect.promise(() => readFile(one, "utf8")), "content")
        yield* TestClock.adjust("1 hour")
        assert.lengthOf(yield* copiesIn(path), 1)
      })
    )
    assert.strictEqual(yield* Effect.scoped(Effect.as(localPath("doc"), reads)), 1)
    yield* TestClock.adjust("1 minute")
    yield* Effect.promise(() => until("the copy is removed", async () => (await readdir(path)).length === 0))
  })
)

it.effect("nothing is left of a copy that breaks off, or when the program stops", () =>
  Effect.gen(function* () {
    const path = yield* folder
    const scope = yield* Scope.make()
    const away = new ObjectStoreError({ reason: "unavailable", key: "bad" })
    const localPath = yield* makeLocalCopies(path, (key) =>
      Stream.concat(Stream.make(Buffer.from("half")), key === "bad" ? Stream.fail(away) : Stream.empty)
    ).pipe(Scope.provide(scope))
    const error = yield* Effect.flip(Effect.scoped(localPath("bad")))
    assert.strictEqual(error.reason, "unavailable")
    assert.deepStrictEqual(yield* copiesIn(path), [])
    yield* Effect.scoped(localPath("good"))
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(yield* copiesIn(path), [])
  })
)

it.effect(
  "a copy that broke off is made again for the next reader, at once; readers of the same time share one",
  () =>
    Effect.gen(function* () {
      const path = yield* folder
      const away = new ObjectStoreError({ reason: "unavailable", key: "doc" })
      let reads = 0
      const localPath = yield* makeLocalCopies(path, () =>
        Stream.suspend(() => {
          reads += 1
          return Stream.concat(
            Stream.make(Buffer.from("content")),
            reads === 1 ? Stream.fail(away) : Stream.empty
          )
        })
      )
      const both = Effect.all([Effect.exit(localPath("doc")), Effect.exit(localPath("doc"))], {
        concurrency: 2
      })
      assert.deepStrictEqual((yield* Effect.scoped(both)).map(Exit.isSuccess), [false, false])
      const [one, other] = yield* Effect.all([localPath("doc"), localPath("doc")], { concurrency: 2 })
      assert.strictEqual(one, other)
      assert.strictEqual(yield* Effect.promise(() => readFile(one, "utf8")), "content")
      assert.strictEqual(reads, 2)
    })
)

it.live("copies that a process left when it died go after a day; one in use stays", () =>
  Effect.gen(function* () {
    const path = yield* folder
    const [old, young] = ["copy-old", "copy-young"]
    const before = (hours: number) => Date.now() / 1000 - hours * 60 * 60
    yield* Effect.promise(async () => {
      for (const [copy, hours] of [
        [old, 25],
        ["not-ours.txt", 25],
        [young, 23]
      ] as const) {
        await writeFile(join(path, copy), "content")
        await utimes(join(path, copy), before(hours), before(hours))
      }
    })
    const get: ObjectStoreService["get"] = () => Stream.make(Buffer.from("content"))
    const localPath = yield* makeLocalCopies(path, get)
    const own = yield* localPath("doc")
    assert.sameMembers(yield* copiesIn(path), [young, "not-ours.txt", basename(own)])
    // Another process on this folder: a copy that was asked for within the day is in use, however old it is.
    yield* Effect.promise(() => utimes(own, before(25), before(25)))
    yield* localPath("doc")
    const others = yield* Effect.flatMap(makeLocalCopies(path, get), (another) => another("other"))
    assert.sameMembers(yield* copiesIn(path), [young, "not-ours.txt", basename(own), basename(others)])
  }).pipe(Effect.scoped)
)
