import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

import { asksForQueue, decodeQueueRequest, decodeSendRequest } from "../../../src/domain/mail/read-request.ts"

const body = {
  to: ["ann@x.test"],
  subject: "Hello",
  text: "Hello.",
  category: "notification",
  source: "api:test"
}
const issuesOf = (
  result: Result.Result<unknown, ReadonlyArray<{ readonly path: string; readonly message: string }>>
) => (Result.isFailure(result) ? result.failure : [])
const paths = (change: object) => issuesOf(decodeQueueRequest({ ...body, ...change })).map(({ path }) => path)

describe("a request of the send queue", () => {
  it("has a moment with its time zone, or none", () => {
    assert.deepStrictEqual(paths({}), [])
    for (const sendAt of [
      "2026-12-01T09:00Z",
      "2026-12-01T09:00:30.5+01:00",
      "2026-12-01T09:00:00-0530",
      "2026-12-01T09:00+15:59"
    ])
      assert.deepStrictEqual(paths({ sendAt, expiresAt: sendAt }), [], sendAt)
    for (const none of [
      "",
      "tomorrow",
      "2026-12-01",
      "2026-12-01T09:00",
      "2026-13-01T09:00Z",
      "2026-12-01T25:00Z",
      "0000-12-01T09:00Z",
      "2026-12-01T09:00+16:00"
    ]) {
      assert.deepStrictEqual(paths({ sendAt: none }), ["sendAt"], none)
      assert.deepStrictEqual(paths({ expiresAt: none }), ["expiresAt"], none)
    }
    const sendAt = "2026-12-01T09:00Z"
    const read = Result.getOrThrow(decodeQueueRequest({ ...body, sendAt, queue: true }))
    assert.deepStrictEqual(read, { mail: body, sendAt } as never)
  })

  it("is one where it asks for the queue or a time", () => {
    for (const asking of [{ queue: true }, { sendAt: "x" }, { sendAt: 0 }, { queue: "no", sendAt: null }])
      assert.isTrue(asksForQueue({ ...body, ...asking }), JSON.stringify(asking))
    for (const none of [
      {},
      { queue: false },
      { queue: null, sendAt: null },
      { queue: undefined, sendAt: undefined }
    ])
      assert.isFalse(asksForQueue({ ...body, ...none }), JSON.stringify(none))
    for (const none of [null, undefined, "queue", 5]) assert.isFalse(asksForQueue(none))
  })
})

describe("a request that cannot be read", () => {
  const wordsOf = (change: object) =>
    new Map(issuesOf(decodeSendRequest({ ...body, ...change })).map(({ message, path }) => [path, message]))

  it("says what to write in the place of another product's field", () => {
    for (const field of ["scheduledAt", "scheduled_at", "send_at"])
      assert.match(wordsOf({ [field]: "x" }).get(field) ?? "", /takes sendAt/)
    for (const field of ["scheduledAt", "scheduled_at"])
      assert.match(
        new Map(
          issuesOf(decodeQueueRequest({ ...body, [field]: "x" })).map(({ message, path }) => [path, message])
        ).get(field) ?? "",
        /takes sendAt/
      )
    for (const field of ["sendAt", "queue"])
      assert.match(wordsOf({ [field]: "x" }).get(field) ?? "", /Queue it instead/)
  })

  it("MAIL-10: has copies only, or nobody at all", () => {
    const of = (change: object) => wordsOf({ to: undefined, ...change }).get("to") ?? ""
    for (const copies of [{ cc: "a@x.test" }, { bcc: ["a@x.test"] }, { cc: ["a@x.test"], bcc: [] }])
      assert.match(of(copies), /cannot?|neither/)
    for (const nobody of [{}, { cc: [], bcc: "" }]) assert.notMatch(of(nobody), /neither/)
    // Then something else is wrong of To.
    assert.notMatch(wordsOf({ to: [5], cc: "a@x.test" }).get("to") ?? "", /neither/)
  })

  it("H1: has more entries than any mail, in whichever field", () => {
    const many = Array.from({ length: 1001 }, () => "a@x.test")
    for (const field of ["to", "cc", "bcc", "replyTo", "attachments"]) {
      assert.strictEqual(wordsOf({ [field]: many }).get(field), "more than 1000 entries")
      assert.notMatch(wordsOf({ [field]: many.slice(1) }).get(field) ?? "", /1000 entries/)
    }
    const record = Object.fromEntries(many.map((_, at) => [`n${at}`, "1"]))
    for (const field of ["tags", "headers"])
      assert.strictEqual(wordsOf({ [field]: record }).get(field), "more than 1000 entries")
    assert.strictEqual(wordsOf({ attachments: [{}, record] }).get("attachments.1"), "more than 1000 entries")
    assert.strictEqual(wordsOf(record).get(""), "more than 1000 entries")
    // Of those beyond the limit nothing more is said.
    const late = [...Array.from({ length: 1000 }, () => ({})), record]
    assert.deepStrictEqual([...wordsOf({ attachments: late }).keys()], ["attachments"])
  })
})
