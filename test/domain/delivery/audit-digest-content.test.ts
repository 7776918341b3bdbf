import { describe, expect, it } from "vitest"

import { digestContent, MAX_DIGEST_EVENTS } from "../../../src/domain/delivery/audit-digest-content.ts"
import type { DigestEntry } from "../../../src/domain/delivery/digest-activity.ts"

const AT = Date.parse("2026-11-20T14:00:00Z")
const period = { cadence: "daily", from: AT - 86_400_000, to: AT } as const
const counts = { sent: 6, delivered: 5, bounced: 4, complained: 3, failed: 2, suppressed: 1 }
const content = (entries: ReadonlyArray<DigestEntry>, total = entries.length, forAdmins = true) =>
  digestContent({
    period,
    activity: { counts, entries, total },
    baseUrl: "https://postlane.test",
    forAdmins
  })
const admin = { _tag: "Admin", at: AT, actor: "kim", action: "email_suppress", target: "ann@x.test" } as const
const mail = {
  _tag: "Mail",
  at: AT,
  source: "api:shop",
  recipients: ["ann@x.test", "bob@x.test"],
  status: "bounced",
  error: "550 no such user"
} as const

describe("a digest", () => {
  it("counts the mails of its period, and which of them came to nothing", () => {
    const { cadence, counts: shown, from, to } = content([])
    expect([cadence, from, to]).toEqual(["daily", "2026-11-19T14:00:00.000Z", "2026-11-20T14:00:00.000Z"])
    expect(Object.fromEntries(shown.map(({ count, failures, label }) => [label, [count, failures]]))).toEqual(
      {
        Sent: [6, 0],
        Delivered: [5, 0],
        Bounced: [4, 4],
        Complained: [3, 3],
        Failed: [2, 2],
        Suppressed: [1, 1]
      }
    )
  })

  it("says what admins did and what became of mails, and whom and why", () => {
    const [acted, alone, failed, plain] = content([
      admin,
      { ...admin, target: null },
      mail,
      { ...mail, source: null, recipients: [], error: null }
    ] as ReadonlyArray<DigestEntry>).events
    expect(acted).toMatchObject({ at: new Date(AT).toISOString(), actor: "kim", failed: false })
    expect(acted?.what).toMatch(/ ann@x\.test$/)
    expect(`${alone?.what} ann@x.test`).toBe(acted?.what)
    expect(failed).toMatchObject({ actor: "api:shop", failed: true })
    expect(failed?.what).toMatch(/^Mail to ann@x\.test, bob@x\.test .*: 550 no such user$/)
    expect(plain?.what).toMatch(/an unknown recipient/)
    expect(plain?.what).not.toMatch(/:/)
    expect(plain?.actor).not.toBe("api:shop")
  })

  it("has words for what admins can do, and passes on what it has none for", () => {
    const said = (action: string) =>
      content([{ ...admin, action }] as ReadonlyArray<DigestEntry>).events[0]!.what
    for (const action of [
      "email_suppress",
      "mail_link",
      "email_unsuppress",
      "email_unsubscribe",
      "email_resubscribe"
    ])
      expect(said(action)).toMatch(/^[A-Z][a-z ]+:? ann@x\.test$/)
    expect(said("odd_action")).toBe("odd_action ann@x.test")
  })

  it("lists 50 entries at most, and counts the others", () => {
    const many = Array.from({ length: 60 }, () => admin)
    expect(content(many, 70).events).toHaveLength(MAX_DIGEST_EVENTS)
    expect(content(many, 70).more).toBe(20)
    expect(content([admin], 1).more).toBe(0)
    expect(content([admin], 0).more).toBe(0)
  })

  it("leads admins to their pages, and a customer to none of those", () => {
    const base = "https://postlane.test"
    expect(content([], 0, true).links.map(({ url }) => url)).toEqual([
      `${base}/admin/email-log`,
      `${base}/admin/suppressions`,
      `${base}/admin/notifications`
    ])
    expect(content([], 0, false).links.map(({ url }) => url)).toEqual([base])
  })
})
