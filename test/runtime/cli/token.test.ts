import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as PostgresAccess from "../../../src/adapters/postgres/accounts/access.ts"
import { Access } from "../../../src/ports/accounts/access.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { jsonOf, run } from "./harness.ts"

const access = Layer.provide(PostgresAccess.layer({ embedded: false }), NodeCrypto.layer)

describe("postlane token", () => {
  it.live("makes a token that works until it is revoked, and stores it nowhere", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const postlane = (...args: ReadonlyArray<string>) => run(["token", ...args], { DB_URL: url })
      const wide = (...args: ReadonlyArray<string>) =>
        run(["token", ...args], { DB_URL: url }, { columns: 200 })
      const { byToken } = yield* Access
      assert.match((yield* postlane("list")).out, /^No tokens\./)
      const made = yield* postlane(
        "create",
        "--name",
        "grafana",
        "--right",
        "admin:read",
        "--days",
        "90",
        "--json"
      )
      assert.strictEqual(made.code, 0, made.err)
      const { id, token } = jsonOf<{ readonly id: string; readonly token: string }>(made)
      assert.deepInclude(yield* byToken(token), { actor: "grafana", rights: ["admin:read"] })
      const second = jsonOf<{ readonly id: string; readonly token: string }>(
        yield* postlane("create", "--name", "evil\u202ename", "--right", "admin", "--json")
      )
      const listed = yield* postlane("list", "--json")
      const { tokens } = jsonOf<{ readonly tokens: ReadonlyArray<Readonly<Record<string, unknown>>> }>(listed)
      assert.deepStrictEqual(
        tokens.map((one) => one["id"]),
        [second.id, id]
      )
      assert.deepInclude(tokens[0], {
        rights: ["admin"],
        customerId: null,
        lastUsedAt: null,
        expiresAt: null
      })
      assert.deepInclude(tokens[1], { name: "grafana", rights: ["admin:read"], customerId: null })
      for (const at of ["createdAt", "lastUsedAt", "expiresAt"] as const) {
        assert.match(String(tokens[1]?.[at]), /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
      }
      const seen = yield* postlane("list")
      assert.match(seen.out, new RegExp(`^${second.id}\tevil\ufffd`))
      assert.include(seen.out, `${id}\tgrafana\tadmin:read\t`)
      assert.match((yield* wide("list")).out, /^ID +NAME +RIGHTS +CREATED \(UTC\) +LAST USED +EXPIRES/)
      for (const { out } of [listed, seen]) {
        assert.notInclude(out, token)
        assert.notInclude(out, second.token)
      }
      assert.strictEqual((yield* postlane("revoke", second.id)).code, 0)
      const revoked = yield* postlane("revoke", id)
      assert.strictEqual(revoked.code, 0, revoked.err)
      assert.isUndefined(yield* byToken(token))
      for (const again of [id, "no-such-id"]) {
        assert.strictEqual((yield* postlane("revoke", again)).code, 1)
      }
      const ownerless = yield* postlane("create", "--name", "x", "--right", "owner")
      assert.strictEqual(ownerless.code, 1)
      assert.notStrictEqual(ownerless.err, "")
      assert.strictEqual((yield* postlane("create", "--name", "x", "--right", "king")).code, 1)
      assert.strictEqual((yield* postlane("create", "--name", "x")).code, 1)
    }).pipe(Effect.provide(access), Effect.provide(layerPostgres))
  )
})
