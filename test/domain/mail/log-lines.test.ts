import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, References } from "effect"

import { makeHarness, mail } from "../../application/mail/harness.ts"

interface Line {
  readonly message: unknown
  readonly fields: Readonly<Record<string, unknown>>
}

/** The lines that an effect logs, with their annotations. */
const linesOf = Effect.fnUntraced(function* (effect: Effect.Effect<unknown, unknown>) {
  const lines: Array<Line> = []
  const capture = Logger.make<unknown, void>(({ fiber, message }) => {
    lines.push({ message, fields: fiber.getRef(References.CurrentLogAnnotations) })
  })
  yield* Effect.orDie(effect).pipe(Effect.provideService(Logger.CurrentLoggers, new Set([capture])))
  return lines
})

const isText = ({ message }: Line) =>
  (Array.isArray(message) ? message : [message]).every((part) => typeof part === "string")

describe("the log lines of a send", () => {
  it.effect("MAIL-73: all name the send and its key, and say what they say in words", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ fallback: "provider_b" })
      world.scripts.provider_a.push("unavailable")
      world.scripts.provider_b.push("ambiguous-lost")
      const lines = yield* linesOf(world.send(mail({ idempotencyKey: "order-17" })))
      const [row] = world.database.rows()
      assert.isAtLeast(lines.length, 2)
      for (const line of lines) {
        assert.deepInclude(line.fields, { sendId: row!.id, idempotencyKey: "order-17" })
        assert.isTrue(isText(line), JSON.stringify(line.message))
      }
      const [message] = yield* world.queued
      world.scripts.provider_b.push("rejected")
      for (const line of yield* linesOf(world.retry(message!)))
        assert.deepInclude(line.fields, { sendId: message!.rowId, idempotencyKey: "order-17" })
    })
  )

  it.effect("of a send without a key of the caller name the key that was made", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("rejected")
      const [line] = yield* linesOf(world.send(mail()))
      const [row] = world.database.rows()
      assert.deepInclude(line!.fields, { sendId: row!.id, idempotencyKey: row!.idempotencyKey! })
    })
  )

  it.effect("S4: say that evidence settled it, on the retry and on the call that is repeated", () =>
    Effect.gen(function* () {
      for (const queue of [true, false]) {
        const world = yield* makeHarness({ primary: "provider_b", queue })
        world.scripts.provider_b.push("ambiguous-accepted")
        const request = mail({ idempotencyKey: "k" })
        yield* world.send(request)
        yield* world.database.recordEvent({
          provider: "provider_b",
          providerMessageId: "m-1",
          event: "delivered",
          keyTag: world.database.rows()[0]?.keyTag ?? undefined
        })
        const [message] = yield* world.queued
        const lines = yield* linesOf(message === undefined ? world.send(request) : world.retry(message))
        assert.deepInclude(lines[0], {
          message: ["a send is settled by evidence: an earlier attempt on its key was accepted"]
        })
        assert.deepInclude(lines[0]?.fields, {
          idempotencyKey: "k",
          provider: "provider_b",
          providerMessageId: "m-1"
        })
      }
    })
  )
})
