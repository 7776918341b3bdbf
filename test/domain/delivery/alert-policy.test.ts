import fc from "fast-check"
import { describe, expect, it } from "vitest"

import { type AlertChannel, alertMail, endOf, planAlert } from "../../../src/domain/delivery/alert-policy.ts"
import { LogRowId } from "../../../src/domain/ids.ts"

const pair = ([email, chat]: string) => ({ email: email === "e", chat: chat === "c" })

/** wanted, configured, about the alert inbox; then what is tried. `-` stands for off. */
const TABLE: ReadonlyArray<readonly [string, string, boolean, string]> = [
  ["--", "--", false, "Disabled"],
  ["--", "ec", false, "Disabled"],
  ["e-", "--", false, "Unconfigured"],
  ["e-", "-c", false, "Unconfigured"],
  ["e-", "ec", false, "Send email"],
  ["-c", "e-", false, "Unconfigured"],
  ["-c", "ec", false, "Send chat"],
  ["ec", "--", false, "Unconfigured"],
  ["ec", "e-", false, "Send email"],
  ["ec", "-c", false, "Send chat"],
  ["ec", "ec", false, "Send email+chat"],
  ["ec", "ec", true, "Send chat, escalation"],
  ["e-", "ec", true, "Send chat, escalation"],
  ["--", "ec", true, "Send chat, escalation"],
  ["ec", "e-", true, "Unconfigured, escalation"],
  ["--", "--", true, "Unconfigured, escalation"]
]

describe("which channels an alert goes to", () => {
  it.each(TABLE)(
    "wanted %s, configured %s, about the inbox %s: %s",
    (wanted, configured, about, expected) => {
      const plan = planAlert({ wanted: pair(wanted), configured: pair(configured), aboutAlertInbox: about })
      const channels = plan._tag === "Send" ? ` ${plan.channels.join("+")}` : ""
      const escalation = plan._tag !== "Disabled" && plan.escalation ? ", escalation" : ""
      expect(`${plan._tag}${channels}${escalation}`).toBe(expected)
    }
  )

  it("A2: never by email about the alert inbox; switched off never sends; only what is wanted and configured", () => {
    const each = fc.record({ email: fc.boolean(), chat: fc.boolean() })
    fc.assert(
      fc.property(each, each, fc.boolean(), (wanted, configured, aboutAlertInbox) => {
        const plan = planAlert({ wanted, configured, aboutAlertInbox })
        const channels = plan._tag === "Send" ? plan.channels : []
        const off = !wanted.email && !wanted.chat && !aboutAlertInbox
        expect(plan._tag === "Disabled").toBe(off)
        expect(aboutAlertInbox && channels.includes("email")).toBe(false)
        expect(channels.every((channel) => configured[channel])).toBe(true)
        expect(aboutAlertInbox || channels.every((channel) => wanted[channel])).toBe(true)
        expect(channels.length > 0).toBe(plan._tag === "Send")
      })
    )
  })
})

it("each channel is tried for itself, and no more once it took the alert or refused it for good", () => {
  const answer = fc.constantFrom("took", "refused", "failed")
  const before = fc.subarray<AlertChannel>(["email", "chat"])
  fc.assert(
    fc.property(answer, answer, before, fc.boolean(), (email, chat, taken, aboutAlertInbox) => {
      const on = { email: true, chat: true }
      const plan = planAlert({ wanted: on, configured: on, aboutAlertInbox, taken })
      const asked: ReadonlyArray<AlertChannel> = plan._tag === "Send" ? plan.channels : []
      expect(asked.filter((channel) => taken.includes(channel))).toEqual([])
      const answers = new Map(asked.map((channel) => [channel, { email, chat }[channel]]))
      const end = endOf(plan, answers, taken)
      const has = [...taken, ...asked.filter((channel) => answers.get(channel) === "took")]
      const missing = asked.filter((channel) => answers.get(channel) === "failed")
      expect(end).toEqual({
        delivery: has.length > 0 ? "delivered" : "failed",
        escalated: has.length > 0 && aboutAlertInbox ? "telegram" : undefined,
        ...(has.length > 0 && missing.length > 0 ? { lacks: { taken: has, missing } } : {})
      })
    })
  )
})

it("switched off sends nothing, and a channel that is wanted and not configured is no failure of one", () => {
  const off = { email: false, chat: false }
  const ended = (wanted: typeof off, aboutAlertInbox: boolean) =>
    endOf(planAlert({ wanted, configured: off, aboutAlertInbox }), new Map())
  expect(ended(off, false)).toEqual({ delivery: "disabled", escalated: undefined })
  for (const about of [false, true])
    expect(ended({ ...off, email: true }, about)).toEqual({ delivery: "unconfigured", escalated: undefined })
})

it("the mail says what became of a send in words; a status that nobody knows as it came", () => {
  const failed = {
    sendId: LogRowId.make("00000000-0000-4000-8000-000000000000"),
    provider: "provider_a",
    providerMessageId: "m-1",
    recipients: ["a@x.test"],
    subject: undefined,
    category: undefined,
    source: undefined,
    reason: undefined,
    occurredAt: undefined
  } as const
  const whatOf = (event: string) => {
    const mail = alertMail({ ...failed, event }, "https://postlane.test")
    return mail.kind === "alert" ? mail.what : undefined
  }
  expect(whatOf("bounced")).toBe("bounced")
  expect(whatOf("odd")).toBe('ended in "odd"')

  const linksOf = (event: string, recipients: ReadonlyArray<string> = failed.recipients) => {
    const mail = alertMail({ ...failed, event, recipients }, "https://postlane.test")
    return mail.kind === "alert" ? [mail.url, mail.suppressionsUrl] : []
  }
  const url = `https://postlane.test/admin/email-log/${failed.sendId}`
  const suppressions = "https://postlane.test/admin/suppressions"
  for (const event of ["bounced", "complained", "suppressed"])
    expect(linksOf(event)).toEqual([url, `${suppressions}?email=a%40x.test`])
  expect(linksOf("failed")).toEqual([url, undefined])
  for (const recipients of [[], ["a@x.test", "b@x.test"]])
    expect(linksOf("bounced", recipients)).toEqual([url, suppressions])
})
