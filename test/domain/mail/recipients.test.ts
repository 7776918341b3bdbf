import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { allowedRecipients } from "../../../src/domain/mail/recipients.ts"

const list = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 5 })

describe("recipients who may get a mail", () => {
  it("S7: are all but the blocked, in their order; nobody where To is empty; unchanged where nobody is blocked", () => {
    fc.assert(
      fc.property(list, list, list, fc.array(fc.integer({ min: 0, max: 9 })), (to, cc, bcc, blocked) => {
        const isBlocked = (one: number) => blocked.includes(one)
        const found = allowedRecipients({ to, cc, bcc }, isBlocked)
        const left = (all: ReadonlyArray<number>) => all.filter((one) => !isBlocked(one))
        if (found === "unchanged") return assert.isFalse([...to, ...cc, ...bcc].some(isBlocked))
        assert.isTrue([...to, ...cc, ...bcc].some(isBlocked))
        if (found === undefined) return assert.isEmpty(left(to))
        assert.isNotEmpty(found.to)
        assert.deepStrictEqual(found, { to: left(to), cc: left(cc), bcc: left(bcc) })
      })
    )
  })
})
