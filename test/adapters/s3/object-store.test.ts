import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"

import { makeS3Objects } from "../../../src/adapters/s3/object-store.ts"
import { probeStore } from "../../../src/application/store-probe.ts"
import { objectStoreContract } from "../../contracts/conversion/object-store.ts"
import { conditionalS3 } from "../../support/vendors/conditional-s3.ts"
import { startSqs } from "../../support/vendors/sqs.ts"

const credentials = { accessKeyId: "test", secretAccessKey: "test" }
const region = "us-east-1"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-s3-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const bucketOn = (endpoint: string) =>
  Effect.promise(async () => {
    const client = new S3Client({ region, endpoint, credentials, forcePathStyle: true })
    await client.send(new CreateBucketCommand({ Bucket: "files" }))
    client.destroy()
  })

const store = Effect.gen(function* () {
  const { endpoint } = yield* startSqs
  yield* bucketOn(endpoint)
  return yield* makeS3Objects({
    bucket: "files",
    region,
    // The service itself lets every writer win.
    endpoint: yield* conditionalS3(endpoint),
    credentials,
    cacheDir: yield* folder
  })
})

objectStoreContract("a bucket", store, { large: 20_000_003 })

describe("a bucket of a service without conditional writes", () => {
  it.live("is found out", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* startSqs
      yield* bucketOn(endpoint)
      const reached = (url: string) =>
        Effect.flatMap(folder, (cacheDir) =>
          Effect.flatMap(
            makeS3Objects({ bucket: "files", region, endpoint: url, credentials, cacheDir }),
            probeStore
          )
        )
      assert.deepStrictEqual(yield* reached(endpoint), { _tag: "Works", isExclusive: false })
      assert.deepStrictEqual(yield* reached(yield* conditionalS3(endpoint)), {
        _tag: "Works",
        isExclusive: true
      })
    }).pipe(Effect.scoped, Effect.provide(NodeCrypto.layer))
  )
})

describe("a bucket that is not there", () => {
  it.live("is said to be unavailable, by readiness too", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* startSqs
      const objects = yield* makeS3Objects({
        bucket: "none",
        region,
        endpoint,
        credentials,
        cacheDir: yield* folder
      })
      const put = yield* Effect.flip(
        objects.put("a", Stream.make(new Uint8Array(1)), { contentType: "text/plain" })
      )
      assert.strictEqual(put.reason, "unavailable")
      yield* Effect.flip(objects.check)
    }).pipe(Effect.scoped)
  )
})
