import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { addCustomer, layer } from "../../../../src/adapters/memory/accounts/accounts.ts"
import { MemoryDocuments } from "../../../../src/adapters/memory/documents/state.ts"
import { Accounts } from "../../../../src/ports/accounts/accounts.ts"
import { suite } from "../../../contracts/accounts/accounts.ts"
import { anyId } from "../../../support/any-id.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

suite("memory", Layer.provideMerge(layer, memory))

it.effect("a person who was erased and comes back has the free pages of then", () =>
  Effect.gen(function* () {
    const db = yield* MemoryDocuments
    const accounts = yield* Accounts
    const email = "a@x.test"
    addCustomer(db, { id: anyId("one"), email, plan: "free", credits: 0, freePagesUsed: 7 })
    yield* accounts.erase({ email, actor: "admin" })
    addCustomer(db, { id: anyId("two"), email, plan: "free", credits: 0 })
    assert.strictEqual((yield* accounts.funds(anyId("two")))?.freePagesLeft, 3)
  }).pipe(Effect.provide(Layer.provideMerge(layer, memory)))
)
