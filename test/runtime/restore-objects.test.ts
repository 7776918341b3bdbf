import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"

import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Stream } from "effect"
import { inject } from "vitest"

import { layerSingle, WriteSql } from "../../src/adapters/postgres/client.ts"
import { makeS3Objects } from "../../src/adapters/s3/object-store.ts"
import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { TEMPORARY } from "../support/temporary.ts"
import { sqsCredentials, sqsRegion, startSqs } from "../support/vendors/sqs.ts"
import { jsonOf, run } from "./cli/harness.ts"

const FILE = "00000000-0000-7000-8000-000000000001"
const KEY = `files/${FILE}/source`
const TEXT = "A document that somebody paid for"

const sql = (url: string, statement: string) =>
  WriteSql.use((client) => client.unsafe(statement).unprepared).pipe(
    Effect.provide(layerSingle({ url: Redacted.make(url) }))
  )

/** A copy of the database beside it, as a dump that is restored makes it. */
const copyOf = (url: string) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const name = new URL(url).pathname.slice(1)
      yield* sql(inject("postgresUrl"), `create database ${name}_copy template ${name}`)
      return Object.assign(new URL(url), { pathname: `/${name}_copy` }).href
    }),
    (copy) =>
      Effect.orDie(
        sql(inject("postgresUrl"), `drop database ${new URL(copy).pathname.slice(1)} with (force)`)
      )
  )

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(TEMPORARY, "postlane-restore-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

it.live(
  "a restore of database and bucket finds that they belong together, and that an emptied bucket does not",
  () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const { endpoint } = yield* startSqs
      const cacheDir = yield* folder
      const bucketOf = (bucket: string) =>
        Effect.gen(function* () {
          const client = new S3Client({
            region: sqsRegion,
            endpoint,
            credentials: sqsCredentials,
            forcePathStyle: true
          })
          yield* Effect.promise(() => client.send(new CreateBucketCommand({ Bucket: bucket })))
          client.destroy()
          return yield* makeS3Objects({
            bucket,
            region: sqsRegion,
            endpoint,
            credentials: sqsCredentials,
            cacheDir
          })
        })
      const envOf = (DB_URL: string, FILES_BUCKET: string) => ({
        DB_URL,
        FILES_BUCKET,
        DB_SECRET_KEY: "any",
        S3_ENDPOINT: endpoint,
        CLOUD_ACCESS_KEY_ID: "test",
        CLOUD_SECRET_ACCESS_KEY: "test",
        BEDROCK_ENDPOINT: "http://127.0.0.1:1",
        BEDROCK_RUNTIME_ENDPOINT: "http://127.0.0.1:1",
        POSTLANE_DATA_DIR: cacheDir
      })
      const standing = (database: string, bucket: string) =>
        Effect.map(
          run(["objects", "--json"], envOf(database, bucket)),
          (ran) =>
            jsonOf<{ readonly stores: ReadonlyArray<{ readonly standing: string }> }>(ran).stores[0]?.standing
        )

      // An installation with a file.
      const files = yield* bucketOf("files")
      assert.strictEqual((yield* run(["objects", "adopt", "files"], envOf(url, "files"))).code, 0)
      yield* files.put(KEY, Stream.make(new TextEncoder().encode(TEXT)), { contentType: "text/plain" })
      yield* sql(
        url,
        `with c as (insert into customers (email) values ('ann@x.test') returning id)
       insert into files (id, customer_id, name, kind, size_bytes, pages, object_key)
       select '${FILE}', c.id, 'a.pdf', 'pdf', ${TEXT.length}, 1, '${KEY}' from c`
      )

      // The backup: the database first, then its objects.
      const copy = yield* copyOf(url)
      const backup = yield* Effect.forEach(yield* Stream.runCollect(files.list("")), ({ key }) =>
        Effect.map(Stream.runCollect(files.get(key)), (parts) => ({ key, bytes: [...parts] }))
      )

      // The bucket is lost, and made anew under its name.
      yield* files.remove(backup.map(({ key }) => key))
      assert.strictEqual(yield* standing(url, "files"), "lost")
      assert.strictEqual(yield* standing(copy, "files"), "lost")
      const examined = yield* run(["doctor", "--json", "--dns-server", "127.0.0.1"], envOf(copy, "files"))
      assert.match(examined.out, /has lost the files that the database names/)

      // Restored, under another name: the two belong together, and the file is there.
      const restored = yield* bucketOf("restored")
      assert.strictEqual(yield* standing(copy, "restored"), "empty")
      yield* Effect.forEach(backup, ({ bytes, key }) =>
        restored.put(key, Stream.fromIterable(bytes), { contentType: "text/plain" })
      )
      assert.strictEqual(yield* standing(copy, "restored"), "same")
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(restored.get(KEY))), TEXT)

      // A bucket of another installation is not taken for it.
      const other = yield* bucketOf("other")
      const another = new TextEncoder().encode("01a21fbf-fd63-7000-8000-000000000000")
      yield* other.put("store-identity", Stream.make(another), { contentType: "text/plain" })
      assert.strictEqual(yield* standing(copy, "other"), "another")
    }).pipe(Effect.scoped, Effect.provide(layerDatabase))
)
