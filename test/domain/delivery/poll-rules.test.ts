import { assert, describe, it } from "vitest"

import type { ListedMail } from "../../../src/domain/delivery/listed-mail.ts"
import { eventOf, isBackfill, isNews, newestOf, reaches } from "../../../src/domain/delivery/poll-rules.ts"

const HOUR = 3_600_000
const NOW = 100 * HOUR
const mail = (changes: Partial<ListedMail> = {}): ListedMail => ({
  id: "m-1",
  lastEvent: "bounced",
  sentAt: NOW - 2 * HOUR,
  recipients: ["a@x.test"],
  from: undefined,
  subject: undefined,
  raw: {},
  ...changes
})
const known = (lastEvent: string | undefined, alertDue = false) => ({ lastEvent, alertDue })

describe("what the poll records (EVENT-31, EVENT-32)", () => {
  it("is what is new, what changed, and a failure whose alert has not gone out", () => {
    assert.isTrue(isNews(mail(), undefined))
    assert.isTrue(isNews(mail(), known("sent")))
    assert.isTrue(isNews(mail(), known(undefined)))
    assert.isFalse(isNews(mail(), known("bounced")))
    assert.isTrue(isNews(mail(), known("bounced", true)))
    assert.isFalse(isNews(mail({ lastEvent: "delivered" }), known("delivered", true)))
  })

  it("is backfill only without a row, after more than an hour, and before the oldest row", () => {
    const given = { known: undefined, now: NOW, oldest: NOW - HOUR }
    assert.isTrue(isBackfill(mail(), given))
    assert.isTrue(isBackfill(mail(), { ...given, oldest: undefined }))
    assert.isFalse(isBackfill(mail(), { ...given, known: known("sent") }))
    assert.isFalse(isBackfill(mail({ sentAt: NOW - HOUR }), { ...given, oldest: NOW }))
    assert.isTrue(isBackfill(mail({ sentAt: NOW - HOUR - 1 }), { ...given, oldest: NOW }))
    assert.isFalse(isBackfill(mail(), { ...given, oldest: NOW - 2 * HOUR }))
    assert.isTrue(isBackfill(mail(), { ...given, oldest: NOW - 2 * HOUR + 1 }))
    assert.isFalse(isBackfill(mail({ sentAt: undefined }), given))
  })

  it("has no bounce type, so that a bounce never suppresses (P1), and the time of the question", () => {
    const { bounceType, occurredAt, suppress } = eventOf(mail(), NOW)
    assert.deepStrictEqual([bounceType, suppress, occurredAt], [undefined, undefined, NOW])
  })

  it("reaches a mark by its id, or by what is older than it and known", () => {
    const mails = [mail({ id: "m-2", sentAt: NOW }), mail()]
    const yes = () => true
    const no = () => false
    assert.isFalse(reaches(mails, undefined, yes))
    assert.isTrue(reaches(mails, { id: "m-1", sentAt: undefined }, no))
    assert.isFalse(reaches(mails, { id: "gone", sentAt: NOW - 2 * HOUR }, yes))
    assert.isTrue(reaches(mails, { id: "gone", sentAt: NOW - 2 * HOUR + 1 }, (id) => id === "m-1"))
    assert.isFalse(reaches(mails, { id: "gone", sentAt: NOW - 2 * HOUR + 1 }, (id) => id === "m-2"))
    assert.isFalse(reaches([mail({ sentAt: undefined })], { id: "gone", sentAt: NOW }, yes))
    assert.isFalse(reaches([], { id: "gone", sentAt: NOW }, yes))
  })

  it("does not believe a time that is yet to come", () => {
    assert.deepStrictEqual(newestOf([mail({ sentAt: NOW * 9 }), mail()], NOW), { id: "m-1", sentAt: NOW })
    assert.strictEqual(newestOf([], NOW), undefined)
    const untimed = newestOf([mail({ sentAt: undefined })], NOW)
    assert.deepStrictEqual(untimed, { id: "m-1", sentAt: undefined })
  })
})
