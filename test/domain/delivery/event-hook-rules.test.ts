import { describe, expect, it } from "vitest"

import {
  hookUrlFault,
  KEPT_ANSWER_CHARACTERS,
  MAX_ANSWER_BYTES,
  RETRY_DELAYS_SECONDS,
  WantedType,
  wants
} from "../../../src/domain/delivery/event-hooks.ts"

const TYPES = WantedType.literals.filter((type) => !type.includes("*"))

describe("a hook", () => {
  it("asks for a type, for all of an area, or for everything", () => {
    const wantedBy = (...types: ReadonlyArray<WantedType>) => TYPES.filter((type) => wants(types, type))
    expect(wantedBy("*")).toEqual(TYPES)
    expect(wantedBy()).toEqual([])
    for (const type of TYPES) expect(wantedBy(type)).toEqual([type])
    expect(wantedBy("email.*")).toEqual(TYPES.filter((type) => type.startsWith("email.")))
    expect(wantedBy("suppression.*")).toEqual(["suppression.added", "suppression.removed"])
    expect(wantedBy("conversion.*")).toEqual([
      "conversion.completed",
      "conversion.failed",
      "conversion.cancelled"
    ])
    expect(wantedBy("email.sent", "suppression.added")).toEqual(["email.sent", "suppression.added"])
  })

  it("may hear of each way in which a mail goes on or ends", () => {
    const ofMail =
      "sent deferred delivered delivery_delayed bounced complained failed suppressed cancelled opened clicked"
    expect(TYPES.filter((type) => type.startsWith("email."))).toEqual(
      ofMail.split(" ").map((type) => `email.${type}`)
    )
    expect(WantedType.literals.filter((type) => type.includes("*"))).toEqual([
      "*",
      "email.*",
      "suppression.*",
      "conversion.*"
    ])
  })

  it("is tried ten times within three days and four hours, with longer and longer waits", () => {
    expect(RETRY_DELAYS_SECONDS).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
    expect(RETRY_DELAYS_SECONDS.toSorted((one, other) => one - other)).toEqual(RETRY_DELAYS_SECONDS)
    expect([MAX_ANSWER_BYTES, KEPT_ANSWER_CHARACTERS]).toEqual([65_536, 1_000])
  })

  it("has an address of the web, without a secret or a fragment in it", () => {
    for (const fine of ["https://x.test/hook?a=1", "http://127.0.0.1:8080"])
      expect(hookUrlFault(fine)).toBeUndefined()
    for (const [bad, why] of [
      ["", /https/],
      ["x.test", /https/],
      ["ftp://x.test", /https/],
      ["https://user@x.test", /user name/],
      ["https://:word@x.test", /user name/],
      ["https://x.test/#a", /fragment/]
    ] as const)
      expect(hookUrlFault(bad)).toMatch(why)
  })
})
