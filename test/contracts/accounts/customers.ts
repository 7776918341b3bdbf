/**
 * `Customers`: admins register a customer once, find it again, and give credits once for each reference.
 *
 * Adapters: memory, postgres. Rules: DOC-33, F1.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, type Layer } from "effect"

import { Accounts } from "../../../src/ports/accounts/accounts.ts"
import { Customers } from "../../../src/ports/accounts/customers.ts"
import type { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../support/any-id.ts"
import { addFile, ask, clean, customer, DocumentsWorld } from "../conversion/documents-world.ts"

const actor = "ops"

/** What every store of customers does for admins (DOC-33). */
export const suite = (
  name: string,
  stores: Layer.Layer<Accounts | ConversionStore | Customers | DocumentsWorld>
) =>
  suiteLayer(stores)(`customers: ${name}`, (it) => {
    it.effect("a customer is registered once, found by address, and opened again", () =>
      Effect.gen(function* () {
        const customers = yield* Customers
        const accounts = yield* Accounts
        const email = "ann@customers.test"
        assert.isUndefined(yield* customers.find(email))
        assert.strictEqual(yield* customers.add({ email, name: "Ann", actor }), "added")
        assert.strictEqual(yield* customers.add({ email, name: "Other", actor }), "exists")
        const found = yield* customers.find(email)
        assert.deepInclude(found, { email, name: "Ann", planType: "free", freePagesLeft: 10, closedAt: null })
        assert.match(found!.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
        yield* accounts.close(found!.id)
        assert.isString((yield* customers.find(email))!.closedAt)
        assert.strictEqual(yield* customers.add({ email, name: undefined, actor }), "reopened")
        assert.deepInclude(yield* customers.find(email), { id: found!.id, name: null, closedAt: null })
        for (const stranger of ["", "' or true --", "\0", "\ud800", "a".repeat(100_000)])
          assert.isUndefined(yield* customers.find(stranger))
      })
    )

    it.effect("pages follow each other, newest first, and a search looks into address and name", () =>
      Effect.gen(function* () {
        const customers = yield* Customers
        const accounts = yield* Accounts
        for (const one of ["a", "b", "c"])
          yield* customers.add({ email: `${one}@pages.test`, name: `Page ${one.toUpperCase()}`, actor })
        yield* customers.add({ email: "gone@pages.test", name: undefined, actor })
        yield* accounts.erase({ email: "gone@pages.test", actor })
        const all = yield* customers.page({ search: "pages.TEST", limit: 10 })
        assert.deepStrictEqual(
          all.rows.map((row) => row.email),
          ["c@pages.test", "b@pages.test", "a@pages.test"]
        )
        const first = yield* customers.page({ search: "page ", limit: 2 })
        assert.isString(first.nextCursor)
        const last = yield* customers.page({ search: "page ", limit: 2, cursor: first.nextCursor! })
        assert.deepStrictEqual([...first.rows, ...last.rows], all.rows)
        assert.isNull(last.nextCursor)
        for (const none of ["%", "_@", "erased:", "\0", "☃", "'"])
          assert.lengthOf((yield* customers.page({ search: none, limit: 10 })).rows, 0, none)
        for (const cursor of ["", "x", "\0", "W10", "a".repeat(2000)])
          assert.strictEqual((yield* Effect.flip(customers.page({ limit: 1, cursor })))._tag, "InvalidCursor")
      })
    )

    it.effect("credits are given once for each reference, exactly, beside what is held", () =>
      Effect.gen(function* () {
        yield* clean
        const customers = yield* Customers
        const accounts = yield* Accounts
        const customerId = yield* customer("free")
        yield* ask(customerId, yield* addFile(customerId, 4))
        const give = (credits: number, reference: string, to = customerId) =>
          customers.grant({ customerId: to, credits, reference, note: undefined, actor })
        assert.strictEqual(yield* give(100, "invoice-1"), "granted")
        assert.deepInclude(yield* accounts.funds(customerId), { planType: "paid", creditsRemaining: 100 })
        assert.strictEqual(yield* give(100, "invoice-1"), "repeated")
        assert.strictEqual(yield* give(101, "invoice-1"), "reference_taken")
        assert.strictEqual(yield* give(1, "invoice-2"), "granted")
        yield* ask(customerId, yield* addFile(customerId, 30))
        assert.strictEqual(yield* give(5, "invoice-3"), "granted")
        assert.deepInclude(yield* accounts.funds(customerId), { creditsRemaining: 76, heldCredits: 30 })
        const other = yield* customer(7)
        assert.strictEqual(yield* give(3, "invoice-1", other), "granted")
        assert.deepInclude(yield* accounts.funds(other), { creditsRemaining: 10 })
        yield* (yield* DocumentsWorld).setCredits(other, 2_147_483_000)
        assert.strictEqual(yield* give(1000, "invoice-9", other), "too_many")
        assert.strictEqual(yield* give(647, "invoice-9", other), "granted")
        yield* accounts.close(other)
        assert.strictEqual(yield* give(1, "invoice-4", other), "not_found")
        assert.strictEqual(yield* give(1, "invoice-4", anyId()), "not_found")
      })
    )

    it.effect("credits are taken back once for each reference, never below zero or what is held (F1)", () =>
      Effect.gen(function* () {
        const customers = yield* Customers
        const accounts = yield* Accounts
        const customerId = yield* customer(0)
        const give = (credits: number, reference: string) =>
          customers.grant({ customerId, credits, reference, note: undefined, actor })
        const take = (credits: number, reference: string, from = customerId) =>
          customers.debit({ customerId: from, credits, reference, note: undefined, actor })
        yield* give(100, "invoice-1")
        yield* ask(customerId, yield* addFile(customerId, 30))
        assert.strictEqual(yield* take(71, "refund-1"), "insufficient")
        assert.strictEqual(yield* take(70, "refund-1"), "debited")
        assert.strictEqual(yield* take(70, "refund-1"), "repeated")
        assert.strictEqual(yield* take(69, "refund-1"), "reference_taken")
        assert.strictEqual(yield* take(100, "invoice-1"), "reference_taken")
        assert.strictEqual(yield* give(70, "refund-1"), "reference_taken")
        assert.strictEqual(yield* take(1, "refund-2"), "insufficient")
        assert.deepInclude(yield* accounts.funds(customerId), { creditsRemaining: 0, heldCredits: 30 })
        const free = yield* customer("free")
        assert.strictEqual(yield* take(1, "refund-1", free), "insufficient")
        yield* accounts.close(free)
        assert.strictEqual(yield* take(1, "refund-1", free), "not_found")
        assert.strictEqual(yield* take(1, "refund-1", anyId()), "not_found")
      })
    )

    it.effect("twenty who give the same at once give it once, and what is spent meanwhile stays spent", () =>
      Effect.gen(function* () {
        const customers = yield* Customers
        const world = yield* DocumentsWorld
        const customerId = yield* customer(50)
        const answers = yield* Effect.all(
          Array.from({ length: 20 }, (_, at) =>
            at % 4 === 3
              ? Effect.as(world.spend(customerId, 2), "spent")
              : customers.grant({ customerId, credits: 10, reference: "raced", note: undefined, actor })
          ),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          answers.filter((answer) => answer === "granted"),
          1
        )
        assert.strictEqual((yield* world.funds(customerId)).credits, 50 + 10 - 5 * 2)
      })
    )
  })
