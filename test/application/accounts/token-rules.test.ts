import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as fc from "fast-check"

import { makeSecretTokens, faultOf } from "../../../src/application/accounts/tokens.ts"
import { may, Right } from "../../../src/domain/accounts/principal.ts"
import { anyId } from "../../support/any-id.ts"

const rights = fc.uniqueArray(fc.constantFrom(...Right.literals))

describe("rights", () => {
  it("are what was given, and admin reads what admins read; nothing else follows from anything", () => {
    fc.assert(
      fc.property(rights, fc.constantFrom(...Right.literals), (given, wanted) => {
        const implied = wanted === "admin:read" && given.includes("admin")
        assert.strictEqual(may({ rights: given }, wanted), given.includes(wanted) || implied)
      })
    )
  })

  it("owner never goes without a customer, and no token goes without a right", () => {
    fc.assert(
      fc.property(rights, fc.boolean(), (given, customer) => {
        const fault = faultOf({ name: "n", rights: given, customerId: customer ? anyId("c") : undefined })
        assert.strictEqual(
          fault === undefined,
          given.length > 0 && (customer || !given.includes("owner")),
          fault
        )
      })
    )
  })
})

it("a token has a name that a person can read, and a time to end at that is one", () => {
  const isTaken = (name: string, expiresAt?: number) =>
    faultOf({ name, rights: ["admin"], expiresAt }) === undefined
  for (const name of ["n", "n".repeat(200), "Shop – \u96fb"]) assert.isTrue(isTaken(name), name)
  for (const name of ["", "  ", "n".repeat(201), "a\nb", "a\u0000"]) assert.isFalse(isTaken(name), name)
  assert.isTrue(isTaken("n", Date.UTC(2030, 0, 1)))
  for (const none of [Number.NaN, Infinity, 0.5]) assert.isFalse(isTaken("n", none), String(none))
})

it.effect(
  "tokens: 32 random bytes in base64url, distinguished by prefix, found by the hash of their text",
  () =>
    Effect.gen(function* () {
      const secrets = yield* makeSecretTokens
      const minted = yield* Effect.all(Array.from({ length: 500 }, () => secrets.mint))
      assert.strictEqual(new Set(minted.map(({ hash }) => hash)).size, 500)
      for (const { hash, token } of minted) {
        assert.match(Redacted.value(token), /^[A-Za-z0-9_-]{43}$/)
        assert.match(hash, /^[0-9a-f]{64}$/)
        assert.strictEqual(yield* secrets.hash(Redacted.value(token)), hash)
      }
      assert.strictEqual(
        yield* secrets.hash("abc"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      )
      assert.isUndefined(yield* secrets.hash(""))
      assert.isUndefined(yield* secrets.hash("x".repeat(1001)))
      assert.isString(yield* secrets.hash("x".repeat(1000)))
    }).pipe(Effect.provide(NodeCrypto.layer))
)
