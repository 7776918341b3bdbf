import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Deferred, Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { assert, describe, it } from "vitest"

import * as Postgres from "../../src/adapters/postgres/client.ts"
import { RetryHandler } from "../../src/application/mail/retry.ts"
import { DeferQueue } from "../../src/ports/mail/defer-queue.ts"
import { migrateDatabase } from "../../src/runtime/compose/database/database-start.ts"
import { realProviders } from "../../src/runtime/compose/mail/mail-providers.ts"
import { mail } from "../../src/runtime/compose/mail/mail-server.ts"
import { cloudCredentials } from "../../src/runtime/compose/mail/mail.ts"
import { close, sendEmail } from "../../src/runtime/entries/library.ts"
import { decodeSettings, type Env } from "../../src/runtime/settings/settings.ts"
import { startTestServer } from "../support/postgres/postgres-server.ts"
import { TEMPORARY } from "../support/temporary.ts"
import { fakeResend } from "../support/vendors/fake-resend.ts"
import { jsonOf, run } from "./cli/harness.ts"

/** What a server that is backed up while it works has: a log that a copy can be completed from. */
const RECOVERABLE = { wal_level: "replica", full_page_writes: "on" }

/** One connection: a backup begins and ends in the same session. */
const onOne = <A, E>(url: string, use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.runPromise(
    use.pipe(
      Effect.provide(
        Layer.provideMerge(Postgres.layerSqlClient, Postgres.layerSingle({ url: Redacted.make(url) }))
      )
    )
  )

/** Copies a server that goes on working, as PostgreSQL's manual says ("Making a Base Backup Using the Low Level API"). */
const backUp = (url: string, into: string, meanwhile: () => Promise<void>) =>
  onOne(
    url,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [place] = yield* sql<{ readonly data: string }>`select current_setting('data_directory') as data`
      const data = place!.data
      yield* sql`select pg_backup_start('test', true)`
      yield* Effect.promise(async () => {
        const left = new Set(["postmaster.pid", "postmaster.opts"])
        const inLog = (path: string) => basename(dirname(path)) === "pg_wal"
        await cp(data, into, { recursive: true, filter: (path) => !left.has(basename(path)) && !inLog(path) })
        await meanwhile()
      })
      const [end] = yield* sql<{
        readonly label: string
      }>`select labelfile as label from pg_backup_stop(false)`
      yield* Effect.promise(async () => {
        await writeFile(join(into, "backup_label"), end!.label)
        await cp(join(data, "pg_wal"), join(into, "pg_wal"), { recursive: true })
      })
    })
  )

/** Handles one queued retry. */
const retryOne = (env: Env) =>
  Effect.gen(function* () {
    const settings = decodeSettings(env, { embedded: false })
    if (Result.isFailure(settings)) return yield* Effect.die(settings.failure)
    const credentials = cloudCredentials(settings.success)
    const layer = mail(settings.success, {
      providers: realProviders(settings.success, undefined),
      credentials,
      crypto: NodeCrypto.layer
    }).pipe(Layer.provide(Postgres.layer({ url: Redacted.make(env["DB_URL"] ?? "") })))
    return yield* Effect.gen(function* () {
      const { handle } = yield* RetryHandler
      const handled = yield* Deferred.make<void>()
      const queue = yield* DeferQueue
      yield* queue
        .consume((message) => Effect.andThen(handle(message), Deferred.succeed(handled, undefined)), {
          concurrency: 1
        })
        .pipe(Effect.forkScoped)
      yield* Deferred.await(handled)
    }).pipe(Effect.provide(layer))
  }).pipe(Effect.scoped, Effect.runPromise)

describe("a restore", () => {
  it("of a backup that was taken under work sends nothing twice, and belongs to its files", async () => {
    const folder = await mkdtemp(join(TEMPORARY, "postlane-restore-"))
    const resend = fakeResend()
    await resend.listen()
    const original = await startTestServer(RECOVERABLE)
    const envOf = (url: string, data: string) => ({
      DB_URL: url,
      DB_SECRET_KEY: "any",
      SENDER_DOMAIN: "mail.example",
      PROVIDERA_API_KEY: "re_key",
      PROVIDERA_BASE_URL: resend.url,
      EMAIL_DEFER_QUEUE_URL: "postgres:email-defer",
      EMAIL_DEFER_DELAYS_SECONDS: "0,0,0",
      PROXY_SHARED_SECRET: "secret",
      POSTLANE_EMBEDDED: "0",
      POSTLANE_LOG_LEVEL: "fatal",
      POSTLANE_DATA_DIR: join(folder, data)
    })
    const before = envOf(original.url, "before")
    const send = (env: Env, key: string) =>
      sendEmail(
        {
          to: "ann@x.test",
          subject: key,
          text: "t",
          category: "transactional",
          source: "api:test",
          idempotencyKey: key
        },
        { env }
      )
    const copies = () => resend.accepted.map(({ key }) => key.replace(/[^a-z]/g, ""))
    const standing = async (env: Env) =>
      jsonOf<{ readonly stores: ReadonlyArray<{ readonly standing: string }> }>(
        await Effect.runPromise(run(["objects", "--json"], env))
      ).stores[0]?.standing
    try {
      await Effect.runPromise(migrateDatabase({ url: Redacted.make(original.url) }))
      await Effect.runPromise(run(["objects", "adopt", "files"], before))
      const sent = await send(before, "sent")
      await resend.script(["504"])
      assert.strictEqual((await send(before, "waiting")).status, "deferred")

      // The copy is made while mail goes out; the files are copied after the database.
      const copy = join(folder, "copy")
      await backUp(original.url, copy, async () => {
        assert.isTrue((await send(before, "meanwhile")).ok)
      })
      await cp(before.POSTLANE_DATA_DIR, join(folder, "after"), { recursive: true })
      // What came later is not in it: a send, and the retry of the one that waited.
      assert.isTrue((await send(before, "later")).ok)
      await retryOne(before)
      assert.sameMembers(copies(), ["sent", "waiting", "meanwhile", "later"])
      await close()
      await original.stop()

      const restored = await startTestServer(RECOVERABLE, (data) => cp(copy, data, { recursive: true }))
      try {
        const after = envOf(restored.url, "after")
        // Keys, claims and rows bind: the first result again, no call at all.
        const calls = resend.received
        assert.deepStrictEqual(await send(after, "sent"), sent)
        assert.isTrue((await send(after, "meanwhile")).ok)
        assert.strictEqual(resend.received, calls)
        // What the copy does not know goes to the provider again, under its key, which the provider knows.
        assert.isTrue((await send(after, "later")).ok)
        await retryOne(after)
        assert.sameMembers(copies(), ["sent", "waiting", "meanwhile", "later"])
        const rows = await onOne(
          restored.url,
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            return yield* sql<{ readonly subject: string; readonly statuses: string }>`
                select subject, string_agg(status, ' ' order by created_at) as statuses
                from email_log group by subject order by subject`
          })
        )
        assert.deepStrictEqual(
          rows.map(({ statuses, subject }) => [subject, statuses]),
          [
            ["later", "sent"],
            ["meanwhile", "sent"],
            ["sent", "sent"],
            ["waiting", "deferred sent"]
          ]
        )

        // Files belong to their database: those that were copied with it, and no others.
        assert.strictEqual(await standing(after), "same")
        const other = envOf(restored.url, "other")
        await mkdir(other.POSTLANE_DATA_DIR, { recursive: true })
        assert.strictEqual(await standing(other), "empty")
        await close()
      } finally {
        await restored.stop()
      }
    } finally {
      await close()
      await resend.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
