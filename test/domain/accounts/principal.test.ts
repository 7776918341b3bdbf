import { assert, describe, it } from "@effect/vitest"

import { AdminRight, may, Right } from "../../../src/domain/accounts/principal.ts"
import {
  MAGIC_LINK_LIFETIME_SECONDS,
  SESSION_LIFETIME_SECONDS
} from "../../../src/domain/accounts/session.ts"

describe("rights", () => {
  it("are what a principal has, and reading where it may change", () => {
    const rights = ["admin", "admin:read", "owner"] as const
    const table = rights.map((right) => [right, ...rights.filter((asked) => may({ rights: [right] }, asked))])
    assert.deepStrictEqual(table, [
      ["admin", "admin", "admin:read"],
      ["admin:read", "admin:read"],
      ["owner", "owner"]
    ])
    assert.deepStrictEqual(
      rights.filter((asked) => may({ rights: [] }, asked)),
      []
    )
    assert.deepStrictEqual(Right.literals.toSorted(), rights.toSorted())
    assert.deepStrictEqual(AdminRight.literals.toSorted(), ["admin", "admin:read"])
  })

  it("of a session last two weeks, and its link fifteen minutes", () => {
    assert.strictEqual(SESSION_LIFETIME_SECONDS, 1_209_600)
    assert.strictEqual(MAGIC_LINK_LIFETIME_SECONDS, 900)
  })
})
