import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Stream } from "effect"

import { makeS3Objects } from "../../../src/adapters/s3/object-store.ts"

/** Larger than one part, smaller than two. */
const TWO_PARTS = 9 * 1024 * 1024

interface Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage["headers"]
}

const xml = (root: string, inner: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><${root}>${inner}</${root}>`

/** What the service says to a request; keys in two pages of a listing, a delete of which one key is refused. */
const answerTo = ({ method, query }: Request): string => {
  if (query.has("uploads")) {
    return xml("InitiateMultipartUploadResult", "<Bucket>files</Bucket><Key>a</Key><UploadId>u1</UploadId>")
  }
  if (query.has("delete")) {
    return xml("DeleteResult", "<Error><Key>b</Key><Code>AccessDenied</Code></Error>")
  }
  if (query.get("list-type") === "2") {
    return query.has("continuation-token")
      ? xml("ListBucketResult", "<Contents><Key>b</Key><Size>2</Size></Contents>")
      : xml(
          "ListBucketResult",
          "<IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>" +
            "<Contents><Key>a</Key><Size>1</Size></Contents>"
        )
  }
  if (method === "POST") {
    return xml("CompleteMultipartUploadResult", '<Bucket>files</Bucket><Key>a</Key><ETag>"e"</ETag>')
  }
  return ""
}

/** A service that takes all that it is sent, and the requests that it got. */
const startWith = Effect.fnUntraced(function* (encryption?: "AES256" | "aws:kms") {
  const refusals: Array<readonly [status: number, code: string]> = []
  const seen: Array<Request> = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://x")
    const one = {
      method: request.method ?? "",
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers
    }
    seen.push(one)
    request.resume().on("end", () => {
      response.setHeader("etag", '"e"')
      const refusal = refusals.shift()
      response.statusCode = refusal?.[0] ?? 200
      response.end(refusal === undefined ? answerTo(one) : xml("Error", `<Code>${refusal[1]}</Code>`))
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const { port } = server.address() as AddressInfo
  const cacheDir = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-s3-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const objects = yield* makeS3Objects({
    bucket: "files",
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    cacheDir,
    encryption
  })
  return { objects, refusals, seen }
})
const startService = startWith()

const contentType = "application/pdf"

describe("what a bucket is asked", () => {
  it.live("no write asks for an encryption unless that is set: what a bucket does by default holds", () =>
    Effect.gen(function* () {
      const { objects, seen } = yield* startService
      yield* objects.put("a", Stream.make(new Uint8Array(10)), { contentType })
      yield* objects.put("a", Stream.make(new Uint8Array(TWO_PARTS)), { contentType })
      yield* objects.create("b", new Uint8Array(3), { contentType })
      for (const { headers } of seen) assert.notInclude(Object.keys(headers).join(), "server-side-encryption")
      const kms = yield* startWith("aws:kms")
      yield* kms.objects.put("a", Stream.make(new Uint8Array(10)), { contentType })
      assert.strictEqual(kms.seen[0]?.headers["x-amz-server-side-encryption"], "aws:kms")
    }).pipe(Effect.scoped)
  )

  it.live("what the service does not implement is not worth asking again", () =>
    Effect.gen(function* () {
      const { objects, refusals, seen } = yield* startService
      refusals.push([501, "NotImplemented"])
      const error = yield* Effect.flip(objects.create("a", new Uint8Array(3), { contentType }))
      assert.deepStrictEqual([error.reason, seen.length], ["unsupported", 1])
    }).pipe(Effect.scoped)
  )

  it.live("objects are encrypted at rest and carry a checksum, in one request or in parts", () =>
    Effect.gen(function* () {
      const { objects, seen } = yield* startWith("AES256")
      yield* objects.put("a", Stream.make(new Uint8Array(10)), { contentType })
      const [single] = seen
      assert.deepStrictEqual([seen.length, single?.method, single?.path], [1, "PUT", "/files/a"])
      assert.strictEqual(single?.headers["x-amz-server-side-encryption"], "AES256")
      assert.strictEqual(single?.headers["x-amz-sdk-checksum-algorithm"], "CRC32")
      assert.strictEqual(single?.headers["content-type"], contentType)

      seen.length = 0
      yield* objects.put("a", Stream.make(new Uint8Array(TWO_PARTS)), { contentType })
      const begun = seen.find(({ query }) => query.has("uploads"))
      assert.strictEqual(begun?.headers["x-amz-server-side-encryption"], "AES256")
      assert.strictEqual(begun?.headers["x-amz-checksum-algorithm"], "CRC32")
      const parts = seen.filter(({ query }) => query.has("partNumber"))
      assert.sameMembers(
        parts.map(({ query }) => query.get("partNumber")),
        ["1", "2"]
      )
      for (const { headers } of parts) assert.strictEqual(headers["x-amz-sdk-checksum-algorithm"], "CRC32")
    }).pipe(Effect.scoped)
  )

  it.live("the parts of an upload that does not end are given up: nobody pays for them", () =>
    Effect.gen(function* () {
      const { objects, seen } = yield* startService
      const count = (is: (request: Request) => boolean) => seen.filter(is).length
      const begun = () => count(({ query }) => query.has("uploads"))
      const givenUp = () =>
        count(({ method, query }) => method === "DELETE" && query.get("uploadId") === "u1")
      const until = (is: () => boolean) =>
        Effect.gen(function* () {
          while (!is()) yield* Effect.sleep("5 millis")
        })
      const large = Stream.make(new Uint8Array(TWO_PARTS))

      const reached = yield* Latch.make()
      // The service has taken a part by then, whatever becomes of the rest.
      const rest = Effect.andThen(
        until(() => seen.some(({ query }) => query.get("partNumber") === "1")),
        reached.open
      )
      const ending = (end: Effect.Effect<never, "broken">) =>
        objects.put("a", Stream.concat(large, Stream.fromEffect(Effect.andThen(rest, end))), { contentType })

      yield* Effect.flip(ending(Effect.fail("broken")))
      assert.deepStrictEqual([begun(), givenUp()], [1, 1])

      seen.length = 0
      yield* reached.close
      const writer = yield* Effect.forkChild(ending(Effect.never))
      yield* reached.await
      yield* Fiber.interrupt(writer)
      yield* until(() => givenUp() === 1)
      assert.strictEqual(begun(), 1)
    }).pipe(Effect.scoped)
  )

  it.live(
    "an object is created on the condition that there is none; a refusal of anything else is an error",
    () =>
      Effect.gen(function* () {
        const { objects, refusals, seen } = yield* startWith("AES256")
        const create = objects.create("a", new Uint8Array(3), { contentType: "text/plain" })
        assert.isTrue(yield* create)
        assert.strictEqual(seen[0]?.headers["if-none-match"], "*")
        assert.strictEqual(seen[0]?.headers["x-amz-server-side-encryption"], "AES256")
        refusals.push([412, "PreconditionFailed"], [409, "ConditionalRequestConflict"])
        assert.isFalse(yield* create)
        assert.isFalse(yield* create)
        refusals.push([403, "AccessDenied"])
        assert.strictEqual((yield* Effect.flip(create)).reason, "unavailable")
      }).pipe(Effect.scoped)
  )

  it.live("a delete of which the service refuses a key has failed", () =>
    Effect.gen(function* () {
      const { objects } = yield* startService
      const error = yield* Effect.flip(objects.remove(["a", "b"]))
      assert.deepStrictEqual([error.reason, error.key], ["unavailable", "b"])
    }).pipe(Effect.scoped)
  )

  it.live("a listing goes on to its last page", () =>
    Effect.gen(function* () {
      const { objects } = yield* startService
      assert.deepStrictEqual(yield* Stream.runCollect(objects.list("")), [
        { key: "a", size: 1 },
        { key: "b", size: 2 }
      ])
    }).pipe(Effect.scoped)
  )
})
