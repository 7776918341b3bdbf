import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"

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
