import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as PostgresAccess from "../../../src/adapters/postgres/access.ts"
import { Access } from "../../../src/ports/access.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres.ts"
import { jsonOf, run } from "./harness.ts"

const access = Layer.provide(PostgresAccess.layer({ embedded: false }), NodeCrypto.layer)

describe("postlane token", () => {
  it.live(
    "makes a token that works until it is revoked, and stores it nowhere",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const postlane = (...args: ReadonlyArray<string>) => run(["token", ...args], { DB_URL: url })
        const { byToken } = yield* Access
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
      }).pipe(Effect.provide(access), Effect.provide(layerPostgres)),
    120_000
  )
})
