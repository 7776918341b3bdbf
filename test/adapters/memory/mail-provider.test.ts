import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Ref, Result } from "effect"
import { TestClock } from "effect/testing"

import { makeMemoryProvider } from "../../../src/adapters/memory/mail/mail-provider.ts"
import { plainKey } from "../../../src/domain/mail/plain-request.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import { mailProviderContract, type PeerOutcome } from "../../contracts/mail/mail-provider.ts"
import { keyOf, mail } from "../../support/files/mail-message.ts"

const OUTCOMES: Readonly<Record<PeerOutcome, SimulatedOutcome>> = {
  ok: "ok",
  rejected: "rejected",
  unavailable: "unavailable",
  ambiguous: "ambiguous-lost",
  lost: "ambiguous-accepted",
  hang: "hang-lost"
}

const open = (provider: Provider) =>
  Effect.gen(function* () {
    const script = yield* Ref.make<ReadonlyArray<PeerOutcome>>([])
    const first = yield* Deferred.make<void>()
    const gaveUp = yield* Deferred.make<void>()
    const memory = makeMemoryProvider({
      provider,
      outcome: () =>
        Effect.gen(function* () {
          const outcome = (yield* Ref.getAndUpdate(script, (left) => left.slice(1)))[0] ?? "ok"
          yield* Deferred.succeed(first, undefined)
          return outcome === "hang" ? yield* Effect.never : OUTCOMES[outcome]
        }).pipe(Effect.onInterrupt(() => Deferred.succeed(gaveUp, undefined)))
    })
    return {
      provider: memory.provider,
      peer: {
        next: (...outcomes: ReadonlyArray<PeerOutcome>) => Ref.set(script, outcomes),
        copies: Effect.map(memory.copies, (copies) =>
          copies.map(({ messageId, body }) => ({
            messageId,
            recipients: [...body.to, ...body.cc, ...body.bcc].map(plainKey),
            tags: body.tags
          }))
        ),
        received: memory.received,
        arrived: () => Deferred.await(first),
        gaveUp: Deferred.await(gaveUp)
      }
    }
  })

mailProviderContract("provider_a in memory", open("provider_a"), { dedupes: true })
mailProviderContract("provider_b in memory", open("provider_b"), { dedupes: false })

describe("provider in memory", () => {
  it.effect("provider_a forgets a key after 24 hours", () =>
    Effect.gen(function* () {
      const { provider, copies } = makeMemoryProvider({ provider: "provider_a" })
      const request = provider.prepare(mail(), keyOf("k"))
      yield* provider.send(request)
      yield* TestClock.adjust(Duration.millis(24 * 3_600_000 - 1))
      yield* provider.send(request)
      assert.strictEqual((yield* copies).length, 1)
      yield* TestClock.adjust(Duration.millis(1))
      yield* provider.send(request)
      assert.strictEqual((yield* copies).length, 2)
    })
  )

  it.effect("provider_a refuses another payload on a key", () =>
    Effect.gen(function* () {
      const { provider, copies } = makeMemoryProvider({ provider: "provider_a" })
      yield* provider.send(provider.prepare(mail(), keyOf("k")))
      const failure = yield* Effect.flip(
        provider.send(provider.prepare(mail({ subject: "Other" }), keyOf("k")))
      )
      assert.deepStrictEqual([failure.kind, failure.code], ["rejected", "invalid_idempotent_request"])
      assert.strictEqual((yield* copies).length, 1)
    })
  )

  it.effect("the copy leaves in the middle of the latency, and an interruption does not call it back", () =>
    Effect.gen(function* () {
      const memory = makeMemoryProvider({
        provider: "provider_a",
        latency: () => Effect.succeed(Duration.seconds(10))
      })
      const fiber = yield* Effect.forkChild(memory.provider.send(memory.provider.prepare(mail(), keyOf("k"))))
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual((yield* memory.copies).length, 0)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* memory.copies).length, 1)
    })
  )

  it.effect("the outcome sees the request and counts attempts", () =>
    Effect.gen(function* () {
      const memory = makeMemoryProvider({
        provider: "provider_b",
        outcome: (request, attempt) =>
          Effect.succeed(request.key === "bad" || attempt === 2 ? "rejected" : "slow")
      })
      const results = yield* Effect.forEach(["a", "b", "bad", "c"], (key) =>
        Effect.result(memory.provider.send(memory.provider.prepare(mail(), keyOf(key))))
      )
      assert.deepStrictEqual(results.map(Result.isSuccess), [true, false, false, true])
    })
  )
})
