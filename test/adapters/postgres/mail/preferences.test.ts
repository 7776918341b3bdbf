import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as Preferences from "../../../../src/adapters/postgres/mail/preferences.ts"
import { MailPreferences } from "../../../../src/ports/mail/preferences.ts"
import { suite } from "../../../contracts/mail/preferences.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const world = Layer.fresh(Layer.provideMerge(Preferences.layer, layerPostgres))

suite("PostgreSQL", 30, world, it.live)

layer(world)("mail preferences on PostgreSQL", (tests) => {
  tests.effect("what somebody else changes is in the audit log, what a person clicks is not", () =>
    Effect.gen(function* () {
      const preferences = yield* MailPreferences
      const sql = yield* WriteSql
      const by = { actor: "ann", note: "by telephone" }
      const entries = [
        { email: "a@x.test", list: "weekly" },
        { email: "a@x.test", list: null }
      ]
      yield* preferences.leaveAll({ entries, ...by })
      yield* preferences.leaveAll({ entries, ...by })
      yield* preferences.comeBack({ email: "a@x.test", list: "weekly", by })
      yield* preferences.comeBack({ email: "a@x.test", list: undefined, by })
      yield* preferences.comeBack({ email: "a@x.test", list: undefined, by })
      yield* preferences.leave({ email: "a@x.test", list: "weekly" })
      yield* preferences.comeBack({ email: "a@x.test", list: "weekly" })
      const rows = yield* sql`select action, target, details from admin_audit_log order by created_at`
      assert.deepStrictEqual(rows, [
        { action: "email_unsubscribe", target: "2 addresses", details: { added: 2, lists: ["weekly"] } },
        { action: "email_resubscribe", target: "a@x.test", details: { list: "weekly" } },
        { action: "email_resubscribe", target: "a@x.test", details: { list: null } }
      ])
    })
  )

  tests.effect("an erased person's unsubscriptions stay, under a hash, and are in no export (P3)", () =>
    Effect.gen(function* () {
      const preferences = yield* MailPreferences
      const sql = yield* WriteSql
      const email = "gone@x.test"
      yield* preferences.leave({ email, list: "weekly" })
      yield* sql`select erase_person(${email}, 'admin')`
      assert.deepStrictEqual(yield* preferences.of(email), { all: false, lists: ["weekly"] })
      assert.deepStrictEqual(yield* preferences.page({ after: undefined, limit: 10 }), [])
      const entries = [{ email, list: "weekly" }]
      assert.strictEqual(yield* preferences.leaveAll({ entries, actor: "ann", note: undefined }), 0)
      yield* preferences.comeBack({ email, list: "weekly" })
      assert.deepStrictEqual(yield* preferences.of(email), { all: false, lists: [] })
    })
  )
})
