import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"

import type { EventEntry } from "../../../../src/adapters/memory/mail/tables.ts"
import { attempt, type Mail, mail, Mails, type MailTests, oneRow } from "./mails.ts"

/** The events that a row keeps. */
export const rowEvents = (it: MailTests): void => {
  describe("the events of a row (EVENT-15)", () => {
    const keeping = Effect.fnUntraced(function* (one: Mail, entries: ReadonlyArray<Partial<EventEntry>>) {
      const world = yield* Mails
      const providerMessageId = `events-${one.details.keyHash}`
      yield* world.store.record(attempt(one, "sent", { providerMessageId }))
      yield* world.recordEvents(
        entries.map((entry) => ({ provider: "provider_a", providerMessageId, event: "clicked", ...entry }))
      )
      return (yield* oneRow(one)).events
    })

    it.effect("are kept as they came, each once", () =>
      Effect.gen(function* () {
        const [one, two] = [
          { occurredAt: 2_000, raw: { link: 1 } },
          { occurredAt: 1_000, raw: { link: 2 } }
        ]
        const late = { event: "delivered", raw: "x".repeat(40_000) }
        const listed = { event: "clicked", listed: true }
        const events = yield* keeping(mail(), [
          one,
          one,
          two,
          { ...one, raw: { link: 3 } },
          one,
          late,
          late,
          { ...listed, occurredAt: 3_000 },
          { ...listed, occurredAt: 4_000 }
        ])
        assert.deepStrictEqual(
          events.map(({ at, event: kind, listed: isListed, number, raw }) => [
            number,
            kind,
            kind === "delivered" || at,
            isListed,
            raw
          ]),
          [
            [1, "clicked", 2_000, false, { link: 1 }],
            [2, "clicked", 1_000, false, { link: 2 }],
            [3, "clicked", 2_000, false, { link: 3 }],
            [4, "delivered", true, false, null],
            [5, "clicked", 3_000, true, null]
          ]
        )
      })
    )

    it.effect("are the first fifty and the last fifty, however many come", () =>
      Effect.gen(function* () {
        const clicks = Array.from({ length: 230 }, (_, index) => ({ occurredAt: index * 1_000 }))
        const events = yield* keeping(mail(), clicks)
        const numbers = Array.from({ length: 230 }, (_, index) => index + 1)
        assert.deepStrictEqual(
          events.map(({ number }) => number),
          [...numbers.slice(0, 50), ...numbers.slice(180)]
        )
        assert.deepStrictEqual(
          events.map(({ at }) => at),
          events.map(({ number }) => (number - 1) * 1_000)
        )
      })
    )

    it.effect("lose their bodies with an erased recipient, and come again without being kept twice", () =>
      Effect.gen(function* () {
        const world = yield* Mails
        const one = mail()
        const opened = { occurredAt: 1_000, raw: { to: one.details.to[0] } }
        assert.lengthOf(yield* keeping(one, [opened]), 1)
        yield* world.erase(one.details.to[0]!)
        const events = yield* keeping(one, [opened])
        assert.deepStrictEqual(
          events.map(({ number, raw }) => [number, raw]),
          [[1, null]]
        )
      })
    )
  })
}
