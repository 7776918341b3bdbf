import { assert, describe, it } from "vitest"

import type { ListedMail } from "../../../src/domain/delivery/listed-mail.ts"
import {
  eventOf,
  historyBefore,
  isBackfill,
  isMissed,
  isNews,
  newestOf,
  reaches
} from "../../../src/domain/delivery/poll-rules.ts"

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

  it("is missed by the webhook where there is no row, or a failure that the row does not know (EVENT-33)", () => {
    for (const event of ["sent", "bounced"]) assert.isTrue(isMissed({ event }, undefined))
    assert.isFalse(isMissed({ event: "sent" }, known("bounced")))
    assert.isFalse(isMissed({ event: "bounced" }, known("bounced")))
    assert.isTrue(isMissed({ event: "bounced" }, known("delivered")))
    assert.isTrue(isMissed({ event: "bounced" }, known(undefined)))
  })

  it("is history an hour before the oldest row, or before now in an empty log", () => {
    assert.strictEqual(historyBefore(NOW, undefined), NOW - HOUR)
    assert.strictEqual(historyBefore(NOW, NOW - 5 * HOUR), NOW - 6 * HOUR)
    assert.strictEqual(historyBefore(NOW, NOW + 5 * HOUR), NOW - HOUR, "a row that is ahead of the clock")
  })

  it("reaches a mark that is only a time by any older mail, and none without a time", () => {
    const yes = () => true
    const no = () => false
    const older = [mail({ id: "other" })]
    assert.isTrue(reaches(older, { id: undefined, sentAt: NOW - HOUR }, no))
    assert.isFalse(reaches(older, { id: "gone", sentAt: undefined }, yes))
    assert.isFalse(reaches(older, { id: "gone", sentAt: NOW - HOUR }, no))
    assert.isTrue(
      reaches([mail({ id: "m-9", sentAt: NOW }), ...older], { id: undefined, sentAt: NOW - HOUR }, no)
    )
  })

  it("alerts, and is the provider's mail with its last event", () => {
    const { alertable, event, provider, providerMessageId, recipients } = eventOf(mail(), NOW)
    assert.deepStrictEqual(
      [alertable, event, provider, providerMessageId, recipients],
      [true, "bounced", "provider_a", "m-1", ["a@x.test"]]
    )
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
