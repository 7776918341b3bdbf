import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Result, Stream } from "effect"

import * as StoreIdentities from "../../../src/adapters/memory/conversion/store-identities.ts"
import { MailObjects } from "../../../src/ports/object-store.ts"
import { guardedObjects, objectChecks, objects, whereOwn } from "../../../src/runtime/compose/objects.ts"
import { decodeSettings, type Env } from "../../../src/runtime/settings/settings.ts"
import { makeFolder } from "../../support/processes/child.ts"

const folder = Effect.map(
  Effect.acquireRelease(Effect.promise(makeFolder), ({ remove }) => Effect.promise(remove)),
  ({ path }) => path
)

/** Where the mails of an embedded run are kept. Nobody listens where S3 is said to be. */
const placeOfMails = (env: Env) =>
  Effect.gen(function* () {
    const given = { S3_ENDPOINT: "http://127.0.0.1:1", POSTLANE_DATA_DIR: yield* folder, ...env }
    const settings = decodeSettings(given, { embedded: true })
    if (Result.isFailure(settings)) return yield* Effect.die(settings.failure)
    const credentials = () => Promise.resolve({ accessKeyId: "AK", secretAccessKey: "SK" })
    const mails = Context.get(yield* Layer.build(objects(settings.success, credentials)), MailObjects)
    const listed = yield* Effect.result(Stream.runCollect(mails.list("")))
    return Result.isSuccess(listed) ? "disk" : "S3"
  }).pipe(Effect.scoped)

const KEYS = { CLOUD_ACCESS_KEY_ID: "AK", CLOUD_SECRET_ACCESS_KEY: "SK" }

describe("objects of an embedded run", () => {
  it.live("are on disk where no bucket is set, whatever else of the cloud is configured", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* placeOfMails(KEYS), "disk")
      assert.strictEqual(yield* placeOfMails({ ...KEYS, CONVERT_EMAIL_BUCKET: " " }), "disk")
    })
  )

  it.live("are in the bucket that is set, also by its default name", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* placeOfMails({ ...KEYS, CONVERT_EMAIL_BUCKET: "convert-email-files" }), "S3")
    })
  )
})

/** The checks of a production process that fail while no bucket answers, and those that pass. */
const checksOf = (env: Env) =>
  Effect.gen(function* () {
    const settings = decodeSettings(
      {
        DB_URL: "postgres://u:p@127.0.0.1/x",
        S3_ENDPOINT: "http://127.0.0.1:1",
        PROVIDERA_API_KEY: "re_x",
        POSTLANE_DATA_DIR: yield* folder,
        ...KEYS,
        ...env
      },
      { embedded: false }
    )
    if (Result.isFailure(settings)) return yield* Effect.die(settings.failure)
    const credentials = () => Promise.resolve({ accessKeyId: "AK", secretAccessKey: "SK" })
    const stores = yield* Layer.build(objects(settings.success, credentials))
    const checks = yield* Effect.provide(objectChecks(settings.success), stores)
    return yield* Effect.forEach(checks, ({ name, run }) =>
      Effect.map(Effect.result(run), (result) => `${name}: ${Result.isSuccess(result) ? "up" : "down"}`)
    )
  }).pipe(Effect.scoped)

describe("readiness", () => {
  it.live("asks every bucket that the process works with, and no other", () =>
    Effect.gen(function* () {
      const batch = { BATCH_CONVERSION_S3_BUCKET: "batches" }
      for (const [roles, env, expected] of [
        ["api", {}, ["objects: up"]],
        ["api", { FILES_BUCKET: "files", ...batch }, ["objects: down"]],
        ["api", { CONVERT_EMAIL_BUCKET: "mails" }, ["objects: up", "mail-objects: down"]],
        ["leader", batch, ["objects: up", "batch-objects: down"]],
        ["worker", batch, ["objects: up", "batch-objects: down"]],
        ["worker", { CONVERT_EMAIL_BUCKET: "mails" }, ["objects: up"]],
        ["intake", batch, ["objects: up"]],
        ["intake", { TRUSTED_MAIL_HOPS: "mx.x.test" }, ["objects: up", "mail-objects: down"]],
        ["intake", { CONVERT_EMAIL_BUCKET: "mails" }, ["objects: up", "mail-objects: down"]]
      ] as const) {
        assert.deepStrictEqual(yield* checksOf({ POSTLANE_ROLES: roles, ...env }), [...expected], roles)
      }
    })
  )
})

describe("two processes on one database", () => {
  it.live("work on files where they have one store, in the roles that need one (DOC-6)", () =>
    Effect.gen(function* () {
      const identities = yield* Layer.build(Layer.merge(StoreIdentities.layer, NodeCrypto.layer))
      const started = Effect.fnUntraced(function* (env: Env) {
        const given = { DB_URL: "postgres://u:p@127.0.0.1/x", PROVIDERA_API_KEY: "re_x", ...KEYS, ...env }
        const settings = decodeSettings(given, { embedded: false })
        if (Result.isFailure(settings)) return yield* Effect.die(settings.failure)
        const credentials = () => Promise.resolve({ accessKeyId: "AK", secretAccessKey: "SK" })
        const layer = Layer.fresh(guardedObjects(settings.success, credentials))
        const stores = yield* Effect.provide(Layer.build(layer), Layer.succeedContext(identities))
        const [files] = yield* Effect.provide(objectChecks(settings.success), stores)
        return {
          ready: Result.isSuccess(yield* Effect.result(files?.run ?? Effect.void)),
          works: yield* Effect.provide(whereOwn(Effect.succeed(true)), stores)
        }
      })
      const [one, two] = [{ POSTLANE_DATA_DIR: yield* folder }, { POSTLANE_DATA_DIR: yield* folder }]
      const [works, refuses] = [
        { ready: true, works: true },
        { ready: false, works: false }
      ]
      // A process that only retries mail names no store.
      assert.deepStrictEqual(yield* started({ ...two, POSTLANE_ROLES: "retry" }), works)
      assert.deepStrictEqual(yield* started({ ...one, POSTLANE_ROLES: "api" }), works)
      for (const POSTLANE_ROLES of ["api", "leader", "worker", "intake", "all"]) {
        assert.deepStrictEqual(yield* started({ ...one, POSTLANE_ROLES }), works, POSTLANE_ROLES)
        assert.deepStrictEqual(yield* started({ ...two, POSTLANE_ROLES }), refuses, POSTLANE_ROLES)
      }
      assert.deepStrictEqual(yield* started({ ...two, POSTLANE_ROLES: "retry" }), works)
    }).pipe(Effect.scoped)
  )
})
