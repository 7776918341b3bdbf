import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer as preferencesLayer } from "../../../../src/adapters/postgres/delivery/alert-preferences.ts"
import { layer } from "../../../../src/adapters/postgres/mail/suppression-list.ts"
import { AlertPreferences } from "../../../../src/ports/delivery/alert-channels.ts"
import { SuppressionList } from "../../../../src/ports/mail/suppression-list.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const clean = WriteSql.use((sql) =>
  Effect.all([sql`delete from email_suppressions`, sql`delete from admin_audit_log`], { discard: true })
)

const insert = (email: string, reason: string, at: string) =>
  WriteSql.use((sql) => sql`insert into email_suppressions ${sql.insert({ email, reason, created_at: at })}`)

suiteLayer(Layer.mergeAll(layer, preferencesLayer).pipe(Layer.provideMerge(layerPostgres)))(
  "SuppressionList on Postgres",
  (it) => {
    it.effect("pages newest first; ties in time neither repeat nor hide a row", () =>
      Effect.gen(function* () {
        yield* clean
        const list = yield* SuppressionList
        const early = "2026-01-01T00:00:00.000001Z"
        const late = "2026-01-01T00:00:00.000002Z"
        yield* insert("b@x.test", "manual", early)
        yield* insert("a@x.test", "manual", early)
        yield* insert("a@x.test", "complaint", early)
        yield* insert("z@x.test", "hard_bounce", late)
        const seen: Array<string> = []
        let cursor: string | undefined
        do {
          const { nextCursor, rows } = yield* list.page({ limit: 1, cursor })
          for (const { email, reason } of rows) seen.push(`${email} ${reason}`)
          cursor = nextCursor ?? undefined
          yield* insert(`n${seen.length}@x.test`, "manual", "2026-02-01T00:00:00Z")
        } while (cursor !== undefined)
        assert.deepStrictEqual(seen, [
          "z@x.test hard_bounce",
          "a@x.test complaint",
          "a@x.test manual",
          "b@x.test manual"
        ])
        const only = yield* list.page({ limit: 9, email: "a@x.test", reason: "manual" })
        assert.deepStrictEqual(
          only.rows.map(({ email, reason, created_at }) => [email, reason, created_at]),
          [["a@x.test", "manual", early]]
        )
        const forged = yield* Effect.flip(list.page({ limit: 1, cursor: "forged" }))
        assert.strictEqual(forged._tag, "InvalidSuppressionCursor")
      })
    )

    it.effect(
      "shows who unsubscribed, and lifts it with an audit row; outreach may ask again (MAIL-65)",
      () =>
        Effect.gen(function* () {
          yield* clean
          const list = yield* SuppressionList
          const sql = yield* WriteSql
          yield* insert("old@x.test", "manual", "2026-01-01T00:00:00Z")
          yield* sql`select * from begin_outreach_send('ann@x.test', 'Ann', 'spring', 'Hello', 'key-1')`
          yield* sql`select record_unsubscribe('ann@x.test', 'spring')`
          yield* sql`select record_unsubscribe('gone@x.test', null)`
          yield* sql`select erase_person('gone@x.test', 'admin')`
          const page = yield* list.page({ limit: 1 })
          const next = yield* list.page({ limit: 1, cursor: page.nextCursor! })
          assert.deepStrictEqual(
            [...page.rows, ...next.rows].map(({ email, note, reason }) => [email, reason, note]),
            [
              ["ann@x.test", "unsubscribed", "by a link, campaign spring"],
              ["old@x.test", "manual", null]
            ]
          )
          assert.isNull(next.nextCursor)
          for (const filter of [{ reason: "unsubscribed" }, { email: "ann@x.test" }] as const)
            assert.lengthOf((yield* list.page({ limit: 9, ...filter })).rows, 1)
          const remove = (email: string) => list.remove({ email, actor: "admin", note: "asked by phone" })
          yield* sql`delete from admin_audit_log`
          assert.strictEqual(yield* remove("ann@x.test"), 1)
          assert.strictEqual(yield* remove("ann@x.test"), 0)
          assert.strictEqual(yield* remove("gone@x.test"), 1)
          const audit =
            yield* sql`select action, target, note, details from admin_audit_log order by created_at`
          assert.deepStrictEqual(
            audit,
            ["ann@x.test", "gone@x.test"].map((target) => ({
              action: "email_unsuppress",
              target,
              note: "asked by phone",
              details: { reasons: ["unsubscribed"] }
            }))
          )
          const [asked] =
            yield* sql`select * from begin_outreach_send('ann@x.test', 'Ann', 'autumn', 'Hello', 'key-2')`
          assert.strictEqual(asked?.["decision"], "Begun")
        })
    )

    it.effect(
      "imports what is not there yet, once, with one audit row, and writes no erased address down again",
      () =>
        Effect.gen(function* () {
          yield* clean
          const list = yield* SuppressionList
          const sql = yield* WriteSql
          yield* insert("old@x.test", "complaint", "2026-01-01T00:00:00Z")
          yield* sql`insert into erased_suppressions (address_hash, reason) values (address_hash('gone@x.test'), 'complaint')`
          const entries = [
            { email: "b@x.test", reason: "hard_bounce" },
            { email: "a@x.test", reason: "manual" },
            { email: "b@x.test", reason: "hard_bounce" },
            { email: "old@x.test", reason: "complaint" },
            { email: "old@x.test", reason: "manual" },
            { email: "gone@x.test", reason: "complaint" }
          ] as const
          const batch = { entries, actor: "cli:ann", note: "from Postmark" }
          assert.strictEqual(yield* list.addAll(batch), 3)
          assert.strictEqual(yield* list.addAll(batch), 0)
          const { rows } = yield* list.page({ limit: 9 })
          assert.deepStrictEqual(
            rows.map(({ email, note, reason }) => [email, reason, note]),
            [
              ["a@x.test", "manual", "from Postmark"],
              ["b@x.test", "hard_bounce", "from Postmark"],
              ["old@x.test", "manual", "from Postmark"],
              ["old@x.test", "complaint", null]
            ]
          )
          const audit = yield* sql`select action, actor, target, note, details from admin_audit_log`
          assert.deepStrictEqual(audit, [
            {
              action: "email_suppress_import",
              actor: "cli:ann",
              target: "3 addresses",
              note: "from Postmark",
              details: { added: 3, reasons: ["hard_bounce", "manual"] }
            }
          ])
          yield* sql`delete from erased_suppressions`
        })
    )

    it.effect("P3: adds a manual one once; removal takes every reason and leaves one audit row", () =>
      Effect.gen(function* () {
        yield* clean
        const list = yield* SuppressionList
        const sql = yield* WriteSql
        const added = yield* list.add({ email: "a@x.test", actor: "ann", note: "asked" })
        assert.deepStrictEqual([added.email, added.reason, added.note], ["a@x.test", "manual", "asked"])
        const again = yield* list.add({ email: "a@x.test", actor: "bob", note: undefined })
        assert.deepStrictEqual(again, added)
        yield* insert("a@x.test", "complaint", "2026-01-01T00:00:00Z")
        yield* insert("b@x.test", "complaint", "2026-01-01T00:00:00Z")
        const entry = { email: "a@x.test", actor: "admin", note: "address fixed" }
        assert.strictEqual(yield* list.remove(entry), 2)
        assert.strictEqual(yield* list.remove(entry), 0)
        const audit =
          yield* sql`select action, actor, target, note, details from admin_audit_log order by created_at, actor`
        assert.deepStrictEqual(
          [...audit],
          [
            {
              action: "email_suppress",
              actor: "ann",
              target: "a@x.test",
              note: "asked",
              details: { reasons: ["manual"] }
            },
            {
              action: "email_suppress",
              actor: "bob",
              target: "a@x.test",
              note: null,
              details: { reasons: ["manual"] }
            },
            {
              action: "email_unsuppress",
              actor: "admin",
              target: "a@x.test",
              note: "address fixed",
              details: { reasons: ["complaint", "manual"] }
            }
          ]
        )
        assert.strictEqual((yield* list.page({ limit: 9 })).rows.length, 1)
      })
    )

    it.effect("preferences: on by default, replaced as a whole, a missing row counts as on", () =>
      Effect.gen(function* () {
        const preferences = yield* AlertPreferences
        const sql = yield* WriteSql
        const both = { email_delivery_failure: { email: true, chat: true } }
        assert.deepStrictEqual(yield* preferences.read, both)
        const chosen = { email_delivery_failure: { email: false, chat: true } }
        yield* preferences.write(chosen)
        assert.deepStrictEqual(yield* preferences.read, chosen)
        yield* sql`delete from admin_notification_preferences`
        assert.deepStrictEqual(yield* preferences.read, both)
        yield* preferences.write(chosen)
        assert.deepStrictEqual(yield* preferences.read, chosen)
      })
    )
  }
)
