import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"

import { makeDiskObjects } from "../../../src/adapters/disk/object-store.ts"
import { objectStoreContract } from "../../contracts/conversion/object-store.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-objects-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

objectStoreContract(
  "a folder on disk",
  Effect.map(folder, (path) => makeDiskObjects(join(path, "not", "there", "yet"))),
  { large: 20_000_003 }
)

it.live("a folder that empties and fills at once loses nothing", () =>
  Effect.gen(function* () {
    const store = makeDiskObjects(yield* folder)
    const put = (key: string) =>
      store.put(key, Stream.make(new Uint8Array(1)), { contentType: "application/octet-stream" })
    for (let round = 0; round < 30; round++) {
      yield* put("a/b/old")
      yield* Effect.all([store.remove(["a/b/old"]), put("a/b/new"), put("a/c/new")], { concurrency: 3 })
      assert.lengthOf(yield* Stream.runCollect(store.list("a/")), 2)
      yield* store.remove(["a/b/new", "a/c/new"])
    }
  }).pipe(Effect.scoped)
)

it.live("is not ready where nothing can be written, though its folder is there", () =>
  Effect.gen(function* () {
    const path = yield* folder
    const store = makeDiskObjects(path)
    yield* store.check
    assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(path, ".unfinished"))), [])
    yield* Effect.promise(() => rm(join(path, ".unfinished"), { recursive: true }))
    yield* Effect.promise(() => writeFile(join(path, ".unfinished"), ""))
    assert.strictEqual((yield* Effect.flip(store.check))._tag, "ObjectStoreError")
  }).pipe(Effect.scoped)
)

it.effect("drafts that a process left when it died go after a day, those under way stay", () =>
  Effect.gen(function* () {
    const path = yield* folder
    const drafts = join(path, ".unfinished")
    const [old, young] = [join(drafts, "old"), join(drafts, "young")]
    const put = (key: string, body: Stream.Stream<Uint8Array>) =>
      makeDiskObjects(path).put(key, body, { contentType: "application/octet-stream" })
    const aged = (draft: string, hours: number) =>
      Effect.promise(() => {
        const at = Date.now() / 1000 - hours * 60 * 60
        return utimes(draft, at, at)
      })
    const namesIn = Effect.promise(() => readdir(drafts))
    yield* Effect.promise(async () => {
      await mkdir(drafts)
      for (const draft of [old, young]) await writeFile(draft, "half")
    })
    yield* aged(old, 25)
    yield* aged(young, 23)
    yield* TestClock.setTime(Date.now())
    yield* put("a", Stream.make(new Uint8Array(1)))
    assert.deepStrictEqual(yield* namesIn, ["young"])

    // A machine that slept for a day in the middle of an object.
    const store = makeDiskObjects(path)
    const slept = Stream.fromEffectDrain(
      Effect.gen(function* () {
        const own = (yield* namesIn).filter((name) => name !== "young")
        yield* Effect.forEach(own, (name) => aged(join(drafts, name), 25))
        yield* TestClock.setTime(Date.now() + 2 * 60 * 60 * 1000)
        yield* store.put("c", Stream.make(new Uint8Array(1)), { contentType: "text/plain" })
      })
    )
    const body = Stream.concat(Stream.make(new Uint8Array(1)), slept)
    yield* store.put("b", body, { contentType: "text/plain" })
    assert.sameMembers(
      (yield* Stream.runCollect(store.list(""))).map(({ key }) => key),
      ["a", "b", "c"]
    )
  }).pipe(Effect.scoped)
)
