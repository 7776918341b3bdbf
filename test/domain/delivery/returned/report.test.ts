import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import { eventOfReport } from "../../../../src/domain/delivery/returned/report-event.ts"
import { type DeliveryReport, readReport } from "../../../../src/domain/delivery/returned/report.ts"
import { anyId } from "../../../support/any-id.ts"
import { deliveryStatus } from "../../../support/files/delivery-reports.ts"

const read = (text: string): DeliveryReport => {
  const report = readReport(text)
  return typeof report === "string" ? assert.fail(report) : report
}
const MAIL = { messageId: "m@in.test", keyTag: anyId("tag"), address: "ann@x.test" } as const

/** The event of a report about one recipient. */
const eventOf = (action: string, status: string, diagnostic?: string) => {
  const [recipient] = read(
    deliveryStatus({
      recipients: [{ recipient: "ann@x.test", action, status, ...(diagnostic && { diagnostic }) }]
    })
  ).recipients
  return recipient && eventOfReport(recipient, MAIL)
}
/** A report about one recipient, in these lines. */
const onAnn = (...lines: ReadonlyArray<string>) =>
  ["a: b", "", "Final-Recipient: rfc822; ann@x.test", ...lines].join("\n")
const FAILED = ["Action: failed", "Status: 5.1.1"]

describe("a delivery report", () => {
  it("is read with its envelope id and every recipient, however its fields are folded and spelled", () => {
    const report = read(
      "reporting-mta: dns; relay.test\n ORIGINAL\nOriginal-Envelope-ID: abc\n\n\n" +
        "FINAL-RECIPIENT: rfc822;Ann+x@X.test\nOriginal-Recipient: rfc822;a+2Bb@x.test\nAction: Failed (bounced)\n" +
        "Status: 5.1.1 (bad mailbox)\nDiagnostic-Code: smtp; 550-5.1.1 no\n\tsuch user\nLast-Attempt-Date: Sun, 29 Nov 2026 10:00:00 +0000 (UTC)\n" +
        "\nFinal-Recipient: rfc822; bob@x.test\nAction: delayed\nStatus: 4.4.1\n"
    )
    assert.strictEqual(report.envelopeId, "abc")
    assert.deepStrictEqual(report.recipients, [
      {
        addresses: ["a+2bb@x.test", "a+b@x.test", "ann+x@x.test"],
        action: "failed",
        status: "5.1.1",
        diagnostic: "550-5.1.1 no such user",
        occurredAt: Date.UTC(2026, 10, 29, 10)
      },
      {
        addresses: ["bob@x.test"],
        action: "delayed",
        status: "4.4.1",
        diagnostic: undefined,
        occurredAt: undefined
      }
    ])
  })

  it.each([
    ["delivered", "2.0.0", "delivered", undefined],
    ["expanded", "2.0.0", "delivered", undefined],
    // A server that reports nothing has it: that is all that is known.
    ["relayed", "2.0.0", "sent", undefined],
    ["delayed", "4.4.1", "delivery_delayed", undefined],
    ["failed", "4.4.7", "bounce_transient", "4.4.7"],
    ["failed", "5.1.1", "bounced", "Permanent"],
    ["failed", "5.4.4", "bounced", "Permanent"],
    ["failed", "5.0.0", "bounced", "Permanent"],
    // The mail or the server is at fault, not the address: nobody is suppressed.
    ["failed", "5.2.2", "bounced", "5.2.2"],
    ["failed", "5.3.4", "bounced", "5.3.4"],
    ["failed", "5.7.1", "bounced", "5.7.1"]
  ] as const)("%s %s is the event %s (RETURN-4)", (action, status, event, bounceType) => {
    const found = eventOf(action, status)
    assert.deepInclude(found, { provider: "smtp", event, bounceType, recipients: ["ann@x.test"] })
    assert.deepStrictEqual(found?.suppress, bounceType === "Permanent" ? ["ann@x.test"] : undefined)
  })

  it("a failure that claims success says nothing", () => {
    assert.isUndefined(eventOf("failed", "2.0.0"))
  })

  it("its event says why a mail is late or lost, keeps what the report says, and is worth an alert", () => {
    const lost = eventOf("failed", "5.1.1", "smtp; 550 no such user")
    assert.strictEqual(lost?.reason, "5.1.1: 550 no such user")
    assert.deepStrictEqual(lost?.raw, {
      action: "failed",
      status: "5.1.1",
      recipient: "ann@x.test",
      diagnostic: "550 no such user"
    })
    assert.isTrue(lost?.alertable)
    assert.match(eventOf("delayed", "4.4.1")?.reason ?? "", /^4\.4\.1: /)
    for (const action of ["delivered", "expanded", "relayed"])
      assert.isUndefined(eventOf(action, "2.0.0")?.reason, action)
    const [silent] = read(onAnn(...FAILED)).recipients
    const event = silent && eventOfReport(silent, MAIL)
    assert.strictEqual(event?.reason, "5.1.1")
    assert.notProperty(event?.raw, "diagnostic")
  })

  it("is read where a server writes it loosely: blanks, no fields, a field twice", () => {
    const [{ status } = assert.fail()] = read(onAnn("Action : failed", "Status\t: 5.1.1")).recipients
    assert.strictEqual(status, "5.1.1")
    // What is no field is none, and goes on with none; the first of two fields counts.
    for (const odd of ["no field", ": nameless", "Status: 9.9.9"])
      assert.deepStrictEqual(read(onAnn(...FAILED, odd, " folded")), read(onAnn(...FAILED)), odd)
    assert.deepStrictEqual(read(`${onAnn(...FAILED)}\n\nno field`), read(onAnn(...FAILED)))
    // A line of blanks ends a group: it is no folded one.
    const two = read(`${onAnn(...FAILED)}\n \t\nFinal-Recipient: rfc822; bob@x.test\n${FAILED.join("\n")}`)
    assert.lengthOf(two.recipients, 2)
  })

  it("has a time from 1970 on", () => {
    const timeOf = (date: string) =>
      read(onAnn(...FAILED, `Last-Attempt-Date: ${date}`)).recipients[0]?.occurredAt
    assert.strictEqual(timeOf("Thu, 01 Jan 1970 00:00:00 +0000"), 0)
    for (const none of ["Wed, 31 Dec 1969 23:59:59 +0000", "yesterday", ""])
      assert.isUndefined(timeOf(none), none)
  })

  it("is read up to 100 recipients, 128 KiB and 4,000 characters a field, however that is folded", () => {
    const recipient = `\n\nFinal-Recipient: rfc822; a@x.test\n${FAILED.join("\n")}`
    const whole = `a: b${recipient.repeat(100)}`
    assert.lengthOf(read(whole).recipients, 100)
    assert.lengthOf(read(whole.padEnd(128 * 1024)).recipients, 100)
    assert.isString(readReport(whole.padEnd(128 * 1024 + 1)))
    for (const long of ["x".repeat(9_000), `x${`\n ${"x".repeat(900)}`.repeat(10)}`])
      assert.lengthOf(read(`Original-Envelope-Id:${long}${recipient}`).envelopeId ?? "", 4_000)
  })

  it.each([
    ["", "names no recipient"],
    ["Reporting-MTA: dns; x\n", "names no recipient"],
    ["a: b\n\nFinal-Recipient: rfc822; a@x.test\nAction: failed\n", "without address, action or status"],
    ["a: b\n\nFinal-Recipient: rfc822; a@x.test\nAction: exploded\nStatus: 5.1.1\n", "without address"],
    ["a: b\n\nAction: failed\nStatus: 5.1.1\n", "without address"],
    ["a: b\n\nFinal-Recipient: rfc822; a@x.test\nAction: failed\nStatus: 9.1.1\n", "without address"],
    [
      `a: b\n${"\nFinal-Recipient: rfc822; a@x.test\nAction: failed\nStatus: 5.1.1\n".repeat(101)}`,
      "too many recipients"
    ],
    ["x".repeat(200_000), "too long"]
  ])("%#: one that is not whole is none", (text, why) => {
    const report = readReport(text)
    assert.include(typeof report === "string" ? report : "", why)
  })

  it("is total: any text gives a report or a reason, with bounded words", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "Final-Recipient: rfc822; a@x.test",
        "Action: failed",
        "Status: 5.1.1",
        "",
        " folded",
        ":",
        "Action:"
      ),
      fc.string()
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), fc.constantFrom("\n", "\r\n", "\r"), (lines, end) => {
        const report = readReport(lines.join(end))
        if (typeof report === "string") return
        for (const recipient of report.recipients) {
          const event = eventOfReport(recipient, MAIL)
          assert.isAtMost(event?.reason?.length ?? 0, 1_000)
        }
      })
    )
  })

  it("takes time in proportion to its length (H2)", () => {
    for (const text of [
      "a".repeat(131_000),
      "a: b\n".repeat(26_000),
      `a:\n${" b\n".repeat(40_000)}`,
      "+2B".repeat(40_000)
    ])
      assert.isString(readReport(`a: b\n\nFinal-Recipient: rfc822; ${text}`))
  })
})
