import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { makeS3Objects } from "../../../src/adapters/s3/object-store.ts"
import { probeStore } from "../../../src/application/store-probe.ts"
import { objectStoreContract } from "../../contracts/conversion/object-store.ts"

const endpoint = process.env["OUTSIDE_S3_ENDPOINT"] ?? ""
const credentials = { accessKeyId: "outside", secretAccessKey: "outside-secret" }
const region = "us-east-1"

let made = 0

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "postlane-outside-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const store = Effect.gen(function* () {
  const bucket = `outside-${process.pid}-${++made}`
  yield* Effect.promise(async () => {
    const client = new S3Client({ region, endpoint, credentials, forcePathStyle: true })
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
    client.destroy()
  })
  return yield* makeS3Objects({ bucket, region, endpoint, credentials, cacheDir: yield* folder })
})

objectStoreContract("a bucket of somebody else's server", store, { large: 20_000_003 })

describe("what the server can do", () => {
  it.live("is found out: one of two writers wins", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Effect.flatMap(store, probeStore), { _tag: "Works", isExclusive: true })
    }).pipe(Effect.scoped, Effect.provide(NodeCrypto.layer))
  )
})
