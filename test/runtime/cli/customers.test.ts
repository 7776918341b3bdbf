import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as PostgresAccess from "../../../src/adapters/postgres/accounts/access.ts"
import * as PostgresCustomers from "../../../src/adapters/postgres/accounts/customers.ts"
import { Access } from "../../../src/ports/accounts/access.ts"
import { Customers, type CustomerRow } from "../../../src/ports/accounts/customers.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { jsonOf, run } from "./harness.ts"

const stores = Layer.merge(
  Layer.provide(PostgresAccess.layer({ embedded: false }), NodeCrypto.layer),
  PostgresCustomers.layer
)

describe("postlane customers", () => {
  it.live(
    "registers a customer, gives credits once for each reference, lists, and makes a token by the address",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const postlane = (...args: ReadonlyArray<string>) => run(args, { DB_URL: url })
        assert.match((yield* postlane("customers", "list")).out, /^No customers\. /)
        const added = yield* postlane("customers", "add", "Ann <Ann@X.test>", "--name", "Ann")
        assert.strictEqual(added.code, 0, added.err)
        assert.match(added.out, /^ann@x\.test is a customer now: 10 free pages\./)
        assert.include((yield* postlane("customers", "add", "ann@x.test")).out, "is a customer already")
        const credit = (...args: ReadonlyArray<string>) => postlane("customers", "credit", ...args)
        const given = ["ann@x.test", "100", "--reference", "invoice-17"]
        assert.include((yield* credit(...given, "--note", "by phone")).out, "100 credits more: 100 credits.")
        assert.include((yield* credit(...given)).out, "nothing was changed: 100 credits.")
        const other = yield* credit("ann@x.test", "99", "--reference", "invoice-17")
        assert.strictEqual(other.code, 1)
        assert.include(other.err, "another number of credits")
        for (const wrong of [
          ["nobody@x.test", "1", "--reference", "i"],
          ["no address", "1", "--reference", "i"],
          ["ann@x.test", "0", "--reference", "i"],
          ["ann@x.test", "1.5", "--reference", "i"],
          ["ann@x.test", "1000001", "--reference", "i"],
          ["ann@x.test", "1", "--reference", " "],
          ["ann@x.test", "1"]
        ]) {
          const refused = yield* credit(...wrong)
          assert.strictEqual(refused.code, 1, wrong.join(" "))
          assert.notStrictEqual(refused.err + refused.out, "")
        }
        assert.include(
          (yield* credit("nobody@x.test", "1", "--reference", "i")).err,
          "postlane customers add nobody@x.test"
        )
        yield* postlane("customers", "add", "bob@x.test")
        assert.match((yield* postlane("customers", "list")).out, /bob@x\.test[^\n]*\n[^\n]*ann@x\.test/)
        const { customers, nextCursor } = jsonOf<{
          readonly customers: ReadonlyArray<CustomerRow>
          readonly nextCursor: string | null
        }>(yield* postlane("customers", "list", "--search", "ANN", "-n", "1", "--json"))
        assert.isNull(nextCursor)
        assert.deepStrictEqual(customers, [(yield* (yield* Customers).find("ann@x.test"))!])
        assert.strictEqual((yield* postlane("customers", "list", "--cursor", "x")).code, 1)

        const owner = ["token", "create", "--name", "ci", "--right", "owner", "--json", "--customer"]
        const { token } = jsonOf<{ readonly token: string }>(yield* postlane(...owner, "Ann@x.test"))
        const { byToken } = yield* Access
        assert.deepInclude(yield* byToken(token), { customerId: customers[0]!.id, rights: ["owner"] })
        assert.strictEqual((yield* postlane(...owner, customers[0]!.id)).code, 0)
        assert.include((yield* postlane(...owner, "nobody@x.test")).out, "There is no customer nobody@x.test")
      }).pipe(Effect.provide(stores), Effect.provide(layerPostgres))
  )
})
