import { describe, expect, it } from "vitest"

import { standingOf } from "../../../src/domain/delivery/send-state.ts"
import { storyRow } from "../../support/worlds/mail-story.ts"

const FIRST = Date.parse("2026-11-20T10:00:00Z")
const DAY = 86_400_000
const id = (number: number) => `0199a000-0000-7000-8000-00000000000${number}`
const row = (number: number, after: number, accepted = false) =>
  storyRow({
    id: id(number),
    created_at: new Date(FIRST + after).toISOString(),
    outcome: accepted ? "sent" : "failed",
    provider_message_id: accepted ? `m-${number}` : null
  })
const decides = (rows: Parameters<typeof standingOf>[0], of: number) => standingOf(rows, id(of)).row.id

describe("the send that an id is about", () => {
  it("is decided by the rows of its own use of the key: those of another are a day or more apart", () => {
    const rows = [
      row(1, 0, true),
      row(2, DAY - 1),
      row(3, 2 * DAY),
      row(4, 2 * DAY + 1),
      row(5, 5 * DAY, true)
    ]
    expect(decides(rows, 1)).toBe(id(1))
    expect(decides(rows, 2)).toBe(id(1))
    // A day after the one before it, to the millisecond.
    expect(decides([row(1, 0, true), row(2, DAY)], 2)).toBe(id(2))
    expect(decides(rows, 3)).toBe(id(4))
    expect(decides(rows, 4)).toBe(id(4))
    expect(decides(rows, 5)).toBe(id(5))
  })

  it("is sent where a provider accepted it, by its answer or by an event", () => {
    const outcome = (change: Parameters<typeof storyRow>[0]) =>
      standingOf([storyRow({ id: id(1), ...change })], id(1)).outcome
    expect(outcome({ outcome: "deferred", provider_message_id: "m" })).toBe("sent")
    for (const ended of ["deferred", "failed", "suppressed", "sent", null] as const)
      expect(outcome({ outcome: ended, provider_message_id: null })).toBe(ended)
  })
})
