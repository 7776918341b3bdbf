import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Stream } from "effect"
import { afterAll, beforeAll } from "vitest"

import type { Bucket } from "../../../src/adapters/cloudflare/bindings.ts"
import { makeR2Objects } from "../../../src/adapters/cloudflare/r2-objects.ts"
import { objectStoreContract } from "../../contracts/conversion/object-store.ts"
import { startBuckets, type TestBuckets } from "../../support/processes/edge-worker.ts"

let buckets: TestBuckets
beforeAll(async () => {
  buckets = await startBuckets()
})
afterAll(() => buckets.dispose())

/** A bucket of the vendor's own simulator; empty. */
const emptyBucket = Effect.promise(() => buckets.empty())

objectStoreContract("an R2 bucket", Effect.map(emptyBucket, makeR2Objects), {
  large: 12_000_003,
  localFiles: false
})

const contentType = "application/pdf"

describe("an R2 bucket", () => {
  it.live("takes an object in parts of one size, and holds no more than two of them", () =>
    Effect.gen(function* () {
      const bucket = yield* emptyBucket
      const sizes: Array<number> = []
      const watched: Bucket = {
        head: (key) => bucket.head(key),
        get: (key, options) => bucket.get(key, options),
        put: (key, bytes, options) => bucket.put(key, bytes, options),
        list: (options) => bucket.list(options),
        delete: (keys) => bucket.delete(keys),
        createMultipartUpload: async (key, options) => {
          const upload = await bucket.createMultipartUpload(key, options)
          return {
            uploadPart: (number, bytes) => {
              sizes.push(bytes.length)
              return upload.uploadPart(number, bytes)
            },
            complete: (parts) => upload.complete(parts),
            abort: () => upload.abort()
          }
        }
      }
      const part = 5 * 1024 * 1024
      const whole = new Uint8Array(2 * part + 7).map((_, at) => at % 249)
      for (const pieces of [[whole], [whole.subarray(0, part), whole.subarray(part)]]) {
        sizes.length = 0
        const objects = makeR2Objects(watched)
        yield* objects.put("a.pdf", Stream.fromIterable(pieces), { contentType })
        assert.deepStrictEqual(sizes, [part, part, 7])
        const back = yield* Stream.runCollect(objects.get("a.pdf"))
        assert.isTrue(Buffer.concat([...back]).equals(whole))
      }
    })
  )

  it.live("gives an upload up whose body breaks off after a part", () =>
    Effect.gen(function* () {
      const bucket = yield* emptyBucket
      let aborted = 0
      const objects = makeR2Objects({
        head: (key) => bucket.head(key),
        get: (key, options) => bucket.get(key, options),
        put: (key, bytes, options) => bucket.put(key, bytes, options),
        list: (options) => bucket.list(options),
        delete: (keys) => bucket.delete(keys),
        createMultipartUpload: async (key, options) => {
          const upload = await bucket.createMultipartUpload(key, options)
          return {
            uploadPart: (number, bytes) => upload.uploadPart(number, bytes),
            complete: (parts) => upload.complete(parts),
            abort: () => {
              aborted += 1
              return upload.abort()
            }
          }
        }
      })
      const large = Stream.make(new Uint8Array(6 * 1024 * 1024))
      const broken = Stream.concat(large, Stream.fail("broken" as const))
      assert.strictEqual(yield* Effect.flip(objects.put("a", broken, { contentType })), "broken")
      const reached = yield* Latch.make()
      const stuck = Stream.concat(large, Stream.fromEffect(Effect.andThen(reached.open, Effect.never)))
      const writer = yield* Effect.forkChild(objects.put("a", stuck, { contentType }))
      yield* reached.await
      yield* Fiber.interrupt(writer)
      assert.strictEqual(aborted, 2)
      assert.strictEqual((yield* Effect.flip(objects.stat("a"))).reason, "missing")
    })
  )

  it.live("says that it is unavailable where the binding fails", () =>
    Effect.gen(function* () {
      const down = () => Promise.reject(new Error("R2 is down (10001)"))
      const objects = makeR2Objects({
        head: down,
        get: down,
        put: down,
        list: down,
        delete: down,
        createMultipartUpload: down
      })
      const calls: ReadonlyArray<Effect.Effect<unknown, { readonly reason: string }>> = [
        objects.put("a", Stream.make(new Uint8Array(1)), { contentType }),
        Stream.runDrain(objects.get("a")),
        objects.stat("a"),
        Stream.runDrain(objects.list("a")),
        objects.remove(["a"]),
        objects.check
      ]
      for (const one of calls) assert.strictEqual((yield* Effect.flip(one)).reason, "unavailable")
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(objects.remove([]))))
    })
  )
})
