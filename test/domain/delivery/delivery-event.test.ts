import { expect, it } from "vitest"

import { ignored, ignoredWithWarning } from "../../../src/domain/delivery/delivery-event.ts"

it("EVENT-2: only what should have been an event is passed over with a warning", () => {
  expect(ignored("another topic's")).toMatchObject({
    _tag: "Ignored",
    reason: "another topic's",
    warn: false
  })
  expect(ignoredWithWarning("no id")).toMatchObject({ _tag: "Ignored", reason: "no id", warn: true })
})
