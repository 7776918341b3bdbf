import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as PostgresAccess from "../../../src/adapters/postgres/accounts/access.ts"
import * as PostgresSenderTokens from "../../../src/adapters/postgres/mail/sender-tokens.ts"
import { Access } from "../../../src/ports/accounts/access.ts"
import { SenderTokens } from "../../../src/ports/mail/sender-tokens.ts"
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

  it.live("makes a token of a program that sends, lists it with what it is bound to, and revokes it", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const { use } = yield* SenderTokens
      const postlane = (...args: ReadonlyArray<string>) => run(["token", ...args], { DB_URL: url })
      const bound = ["--category", "auth", "--category", "alert", "--from", "@x.test", "--rate", "60"]
      const made = yield* postlane("create", "--right", "send", "--name", "shop", ...bound, "--json")
      assert.strictEqual(made.code, 0, made.err)
      const { id, token } = jsonOf<{ readonly id: string; readonly token: string }>(made)
      assert.deepStrictEqual(yield* use(token), {
        id,
        name: "shop",
        categories: ["auth", "alert"],
        from: ["@x.test"],
        ratePerMinute: 60
      })
      const nameless = yield* postlane("create", "--right", "send", "--json")
      assert.strictEqual(nameless.code, 0, nameless.err)
      assert.include((yield* postlane("list")).out, `${id}\tshop\tsend\t`)
      assert.include((yield* postlane("list")).out, "auth alert @x.test 60/min")
      assert.strictEqual((yield* postlane("revoke", id)).code, 0)
      assert.isUndefined(yield* use(token))
      for (const wrong of [
        ["--right", "send", "--right", "admin", "--name", "x"],
        ["--right", "send", "--days", "3"],
        ["--right", "send", "--from", "x"],
        ["--right", "send", "--rate", "0"],
        ["--right", "admin", "--name", "x", "--rate", "3"],
        ["--right", "admin"]
      ]) {
        const { code, err } = yield* postlane("create", ...wrong)
        assert.strictEqual(code, 1)
        assert.notStrictEqual(err, "")
      }
    }).pipe(
      Effect.provide(Layer.provide(PostgresSenderTokens.layer, NodeCrypto.layer)),
      Effect.provide(layerPostgres)
    )
  )
})
