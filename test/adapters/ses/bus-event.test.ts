import { readFileSync } from "node:fs"

import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { decodeBusEvents } from "../../../src/adapters/ses/bus-event.ts"
import type { IncomingEvent } from "../../../src/domain/delivery/delivery-event.ts"

type Sample = ReturnType<JSON["parse"]>
const samples: ReadonlyArray<Sample> = JSON.parse(
  readFileSync(new URL("../../support/vendors/ses-events.json", import.meta.url), "utf8")
)
const options = { outreachSet: "outreach-set" }
const decode = (body: unknown): IncomingEvent => decodeBusEvents(body, options)[0]!
const changed = (sample: Sample, change: (copy: Sample) => void): Sample => {
  const copy = structuredClone(sample)
  change(copy)
  return copy
}
const of = (type: string) => samples.find(({ detail }) => detail.eventType === type)
const READER = ["reader@inbox.test"]

describe("SES events from the bus", () => {
  it("map to our events, in a list too (EVENT-4)", () => {
    const mapped = decodeBusEvents(samples, options).map((one) =>
      one._tag === "Ignored" ? "ignored" : [one.event.event, one.event.suppress, one.event.bounceType]
    )
    expect(mapped).toEqual([
      ["sent", undefined, undefined],
      ["delivered", undefined, undefined],
      ["delivery_delayed", undefined, undefined],
      ["bounced", READER, "Permanent"],
      ["bounce_transient", undefined, "Transient"],
      ["bounce_transient", undefined, "Undetermined"],
      ["complained", READER, undefined],
      ["failed", undefined, undefined],
      ["failed", undefined, undefined],
      ["opened", undefined, undefined],
      ["clicked", undefined, undefined],
      "ignored"
    ])
  })

  it("carry the mail, the reason and the time", () => {
    expect(decode(of("Bounce"))).toMatchObject({
      event: {
        provider: "provider_b",
        providerMessageId: "0100019a-fixture-000000",
        occurredAt: Date.parse("2017-08-05T00:41:02.669Z"),
        recipients: READER,
        from: "hello@shop.test",
        subject: "Your order",
        reason: "Permanent/General: smtp; 550 5.1.1 user unknown",
        tags: { myCustomTag1: "myCustomTagValue1" },
        alertable: true
      }
    })
    expect(decode(of("Reject"))).toMatchObject({ event: { reason: "Bad content" } })
  })

  it("of outreach never alert and still suppress", () => {
    const outreach = changed(of("Bounce"), ({ detail }) => {
      detail.mail.tags["ses:configuration-set"] = ["outreach-set"]
    })
    expect(decode(outreach)).toMatchObject({ event: { alertable: false, suppress: READER } })
    expect(decodeBusEvents(outreach, { outreachSet: undefined })[0]).toMatchObject({
      event: { alertable: true }
    })
  })

  it("take not-spam for no complaint, and an unknown bounce for a transient one", () => {
    const notSpam = changed(of("Complaint"), ({ detail }) => {
      detail.complaint.complaintFeedbackType = "not-spam"
    })
    expect(decode(notSpam)).toMatchObject({ event: { event: "complaint_not_spam", suppress: undefined } })
    const unknown = changed(of("Bounce"), ({ detail }) => {
      detail.bounce.bounceType = "Quantum"
    })
    expect(decode(unknown)).toMatchObject({ event: { event: "bounce_transient", suppress: undefined } })
  })

  it("of no source are taken by what they say", () => {
    const { source: _, ...rest } = of("Bounce")
    expect(decode(rest)).toMatchObject({ _tag: "Event", event: { event: "bounced" } })
    expect(decode({ ...of("Bounce"), source: null })).toMatchObject({ _tag: "Ignored" })
  })

  it("of other sources are ignored, without a message id with a warning", () => {
    expect(decode({ ...of("Bounce"), source: "aws.s3" })).toMatchObject({ _tag: "Ignored", warn: false })
    const nameless = changed(of("Bounce"), ({ detail }) => delete detail.mail.messageId)
    expect(decode(nameless)).toMatchObject({ _tag: "Ignored", warn: true })
    expect(decodeBusEvents([], options)).toEqual([])
  })

  it("never throw, whatever comes", () => {
    fc.assert(fc.property(fc.anything(), (body) => void decodeBusEvents(body, options)))
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.anything(), (sample: Sample, value) => {
        for (const name of Object.keys(sample.detail)) {
          decode({ ...sample, detail: { ...sample.detail, [name]: value } })
        }
        for (const name of Object.keys(sample.detail.mail)) {
          decode({ ...sample, detail: { ...sample.detail, mail: { ...sample.detail.mail, [name]: value } } })
        }
      })
    )
  })
})
