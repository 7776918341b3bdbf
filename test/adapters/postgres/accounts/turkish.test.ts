import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { migrateDatabase } from "../../../../src/runtime/compose/database/database-start.ts"
import { layerClients, layerForeignDatabase, TestDatabase } from "../../../support/postgres/postgres.ts"

const TURKISH = layerForeignDatabase("locale_provider icu icu_locale 'tr-TR'")

it.live(
  "in a Turkish database an address in capitals is the same one, and a person is erased from it (P3)",
  () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      yield* migrateDatabase({ url: Redacted.make(url) })
      const sql = yield* WriteSql
      assert.deepStrictEqual(yield* sql`select lower('I') = 'i' as english`, [{ english: false }])
      assert.deepStrictEqual(
        yield* sql`select email_bare_address('Info <INFO@X.TEST>') as one, email_addresses('["INFO@X.TEST"]') as many`,
        [{ one: "info@x.test", many: ["info@x.test"] }]
      )
      const email = "iris@p3.test"
      const request = { to: "IRIS@P3.TEST", subject: "s", text: "t", category: "auth", source: "api:test" }
      yield* sql`select enqueue_email(${JSON.stringify(request)}::jsonb)`
      yield* sql`insert into contact_messages (kind, email, message) values ('contact', 'IRIS@P3.TEST', 'm')`
      yield* sql`insert into audit_digest_subscriptions (email) values ('IRIS@P3.TEST')`
      assert.deepStrictEqual(yield* sql`select erase_person(${email}, 'admin') as found`, [{ found: true }])
      assert.deepStrictEqual(
        yield* sql`select 'queue' as place from email_send_queue where request::text ilike '%p3.test%'
        union all select 'contact' from contact_messages union all select 'digest' from audit_digest_subscriptions`,
        []
      )
    }).pipe(Effect.scoped, Effect.provide(layerClients().pipe(Layer.provideMerge(TURKISH))))
)
