import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { makeS3Objects } from "../../../src/adapters/s3/object-store.ts"
import { TEMPORARY } from "../../support/temporary.ts"

const LIMIT_MS = 500
const MORE_THAN_BUFFERS_HOLD = Buffer.alloc(16 * 1024 * 1024)

/** A bucket on a service that takes every request and does this with it, perhaps nothing. */
const bucketOn = (answer: (response: ServerResponse) => void) =>
  Effect.gen(function* () {
    const server = createServer((request, response) => request.resume().on("end", () => answer(response)))
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    return yield* makeS3Objects({
      bucket: "files",
      region: "us-east-1",
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      cacheDir: join(TEMPORARY, "postlane-silence"),
      timeLimitMs: LIMIT_MS
    })
  })

describe("H2: a service that falls silent", () => {
  it.live("before it answers is given up", () =>
    Effect.gen(function* () {
      const objects = yield* bucketOn(() => undefined)
      const asked = [
        Effect.asVoid(objects.stat("a")),
        Effect.asVoid(Stream.runDrain(objects.list("a"))),
        objects.remove(["a"]),
        Stream.runDrain(objects.get("a")),
        Effect.asVoid(objects.create("a", new Uint8Array(1), { contentType: "text/plain" })),
        Effect.asVoid(objects.put("a", Stream.make(new Uint8Array(1)), { contentType: "text/plain" })),
        objects.check
      ]
      const errors = yield* Effect.forEach(asked, Effect.flip, { concurrency: "unbounded" })
      for (const { reason } of errors) assert.strictEqual(reason, "unavailable")
    }).pipe(Effect.scoped)
  )

  it.live("within an object is given up, for a local copy as well", () =>
    Effect.gen(function* () {
      const objects = yield* bucketOn((response) => {
        response.setHeader("content-length", 1_000_000)
        response.write(Buffer.alloc(1000))
      })
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(objects.get("a")))).reason, "unavailable")
      assert.strictEqual((yield* Effect.flip(objects.localPath("a"))).reason, "unavailable")
    }).pipe(Effect.scoped)
  )

  it.live("is not taken for one whose reader is slow", () =>
    Effect.gen(function* () {
      const objects = yield* bucketOn((response) => response.end(MORE_THAN_BUFFERS_HOLD))
      let read = 0
      yield* Stream.runForEachArray(objects.get("a"), (parts) => {
        const isFirst = read === 0
        for (const { length } of parts) read += length
        return isFirst ? Effect.sleep(3 * LIMIT_MS) : Effect.void
      })
      assert.strictEqual(read, MORE_THAN_BUFFERS_HOLD.length)
    }).pipe(Effect.scoped)
  )
})
