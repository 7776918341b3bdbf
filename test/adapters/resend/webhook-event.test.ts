import { readFileSync } from "node:fs"

import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { decodeWebhookEvent } from "../../../src/adapters/resend/webhook-event.ts"
import { encodeTag } from "../../../src/domain/mail/tag.ts"

interface Sample {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}
const samples: ReadonlyArray<Sample> = JSON.parse(
  readFileSync(new URL("../../support/vendors/resend-events.json", import.meta.url), "utf8")
)
const IGNORED = new Set(["email.received", "suppression.added", "domain.updated"])
const bounced = samples.find(({ type }) => type === "email.bounced")!

const eventOf = (body: unknown) => {
  const decoded = decodeWebhookEvent(body)
  if (decoded._tag !== "Event") throw new Error(decoded.reason)
  return decoded.event
}

describe("Resend's webhook body", () => {
  const named = samples.map((sample) => [sample.type, sample] as const)

  it.each(named.filter(([type]) => IGNORED.has(type)))("%s is ignored", (_, sample) => {
    expect(decodeWebhookEvent(sample)).toMatchObject({ _tag: "Ignored", warn: false })
  })

  it.each(named.filter(([type]) => !IGNORED.has(type)))("%s", (type, sample) => {
    expect(decodeWebhookEvent(sample)).toMatchObject({
      _tag: "Event",
      event: {
        provider: "provider_a",
        providerMessageId: "0b4a7f10-3a55-4c0e-9d0b-0d6a3f5f7a01",
        event: type.slice("email.".length),
        occurredAt: Date.parse("2024-11-22T23:41:12.126Z"),
        from: "hello@shop.test",
        subject: "Your order",
        alertable: true,
        suppress: undefined,
        tags: { category: "confirm_email" },
        raw: sample
      }
    })
  })

  it("says why a mail failed", () => {
    expect(
      samples.flatMap((sample) => {
        const decoded = decodeWebhookEvent(sample)
        return decoded._tag === "Event" && decoded.event.reason !== undefined
          ? [[decoded.event.event, decoded.event.reason.slice(0, 20)]]
          : []
      })
    ).toMatchSnapshot()
    expect(eventOf(bounced).bounceType).toBe("Permanent")
  })

  it("reads its tags back, the key's hash among them", () => {
    const hash = "ab".repeat(32)
    const tags = { postlane_key: hash, [encodeTag("größe")]: encodeTag("a b") }
    const event = eventOf({ ...bounced, data: { ...bounced.data, tags } })
    expect([event.keyTag, event.tags["größe"]]).toEqual([hash, "a b"])
    expect(
      eventOf({ ...bounced, data: { ...bounced.data, tags: { postlane_key: "x" } } }).keyTag
    ).toBeUndefined()
  })

  it("records a type of the future, unranked, and warns without an id", () => {
    expect(eventOf({ ...bounced, type: "email.teleported" })).toMatchObject({ event: "teleported" })
    for (const email_id of [undefined, "", 7, {}, "x".repeat(501)]) {
      expect(decodeWebhookEvent({ ...bounced, data: { ...bounced.data, email_id } })).toMatchObject({
        _tag: "Ignored",
        warn: true
      })
    }
  })

  it("reads times as the API writes them too", () => {
    const at = (created_at: unknown) => eventOf({ ...bounced, created_at }).occurredAt
    expect(at("2024-11-22 23:41:11.894719+00")).toBe(Date.parse("2024-11-22T23:41:11.894Z"))
    expect(at("2024-11-22T23:41:11.894719+00:00")).toBe(Date.parse("2024-11-22T23:41:11.894Z"))
    for (const junk of ["yesterday", "275760-09-13T00:00:00Z", 5, null]) expect(at(junk)).toBeUndefined()
  })

  it("never throws, whatever it is given", () => {
    fc.assert(fc.property(fc.anything(), (body) => void decodeWebhookEvent(body)))
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.string(), fc.anything(), (sample, key, value) => {
        for (const name of [...Object.keys(sample.data), key]) {
          decodeWebhookEvent({ ...sample, data: { ...sample.data, [name]: value } })
        }
        decodeWebhookEvent({ ...sample, created_at: value })
      })
    )
  })
})
