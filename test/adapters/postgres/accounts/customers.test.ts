import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as Accounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import * as CustomersStore from "../../../../src/adapters/postgres/accounts/customers.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { Customers } from "../../../../src/ports/accounts/customers.ts"
import { suite } from "../../../contracts/accounts/customers.ts"
import { postgres } from "../../../support/postgres/documents-postgres.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

suite("PostgreSQL", Layer.provideMerge(Layer.merge(Accounts.layer, CustomersStore.layer), postgres))

suiteLayer(CustomersStore.layer.pipe(Layer.provideMerge(layerPostgres)))(
  "customers and the audit log",
  (it) => {
    it.effect("each change is one entry; what changes nothing is none", () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const { add, find, grant } = yield* Customers
        const email = "audited@x.test"
        yield* add({ email, name: undefined, actor: "cli:ops" })
        yield* add({ email, name: undefined, actor: "cli:ops" })
        const { id } = (yield* find(email))!
        const given = { customerId: id, credits: 5, reference: "i-1", note: "by phone", actor: "cli:ops" }
        yield* grant(given)
        yield* grant(given)
        yield* grant({ ...given, credits: 6 })
        assert.deepStrictEqual(
          yield* sql`select action, actor, target, note, details from admin_audit_log order by created_at`,
          [
            { action: "customer_added", actor: "cli:ops", target: email, note: null, details: {} },
            {
              action: "credits_granted",
              actor: "cli:ops",
              target: email,
              note: "by phone",
              details: { credits: 5, reference: "i-1" }
            }
          ]
        )
      })
    )
  }
)
