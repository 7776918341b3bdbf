import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Result } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { Access } from "../../../src/ports/accounts/access.ts"
import { access } from "../../../src/runtime/compose/accounts.ts"
import { decodeSettings } from "../../../src/runtime/settings/settings.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"

const settings = (embedded: boolean, adminToken: string) =>
  Result.getOrThrow(
    decodeSettings(
      {
        ADMIN_TOKEN: adminToken,
        OWNER_TOKEN: "dev-owner-token",
        DB_URL: "postgres://x@127.0.0.1/x",
        PROVIDERA_API_KEY: "re_x",
        PROXY_SHARED_SECRET: "secret"
      },
      { embedded }
    )
  )

const started = (embedded: boolean, adminToken = "dev-admin-token") =>
  Effect.map(Layer.build(access(settings(embedded, adminToken))), (context) => Context.get(context, Access))

it.live("an embedded start stores the two dev tokens; production takes neither", () =>
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const customers = sql`select email, plan_type, credits_remaining as credits from customers`
    const first = yield* started(true)
    assert.deepInclude(yield* first.byToken("dev-admin-token"), { rights: ["admin"], customerId: undefined })
    assert.deepInclude(yield* first.byToken("dev-owner-token"), { rights: ["owner"] })
    assert.deepStrictEqual(
      [...(yield* customers)],
      [{ email: "owner@postlane.test", plan_type: "paid", credits: 100_000 }]
    )
    yield* sql`update customers set credits_remaining = 99_990`

    const second = yield* started(true, "another-admin-token")
    assert.isUndefined(yield* second.byToken("dev-admin-token"))
    assert.isDefined(yield* second.byToken("another-admin-token"))
    assert.strictEqual((yield* customers)[0]!["credits"], 99_990, "what was spent stays spent")

    const production = yield* started(false)
    for (const token of ["dev-admin-token", "another-admin-token", "dev-owner-token"]) {
      assert.isUndefined(yield* production.byToken(token))
    }
    const { token } = yield* production.createToken({ name: "ops", rights: ["admin"] })
    assert.isDefined(yield* production.byToken(Redacted.value(token)))
  }).pipe(Effect.scoped, Effect.provide(layerPostgres))
)
