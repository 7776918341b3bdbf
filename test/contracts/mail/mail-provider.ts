/**
 * `MailProvider`: a request is prepared once and sent as it is; every way to fail is one of three kinds, after one request.
 *
 * Adapters: memory, postmark, resend, ses, simulated, smtp-relay. Rules: S1, S7, MAIL-24, MAIL-30, MAIL-31, MAIL-32.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result, type Scope } from "effect"
import fc from "fast-check"

import { addressKey } from "../../../src/domain/mail/address.ts"
import type { ProviderRequest } from "../../../src/domain/mail/deferred-send.ts"
import { recipientKeys, withoutBlocked } from "../../../src/domain/mail/message.ts"
import { KEY_TAG } from "../../../src/domain/mail/tag.ts"
import type { MailProvider } from "../../../src/ports/mail/mail-provider.ts"
import { box, keyOf, mail, mailboxArb, messageArb } from "../../support/files/mail-message.ts"

/** One copy that left, as the peer saw it. */
export interface Copy {
  readonly messageId: string
  /** Bare lower-case addresses, To, Cc and Bcc. */
  readonly recipients: ReadonlyArray<string>
  /** Tags as they are on the wire. */
  readonly tags: Readonly<Record<string, string>>
}

/** What the next requests meet. `lost`: accepted, and the answer does not arrive. */
export type PeerOutcome = "ok" | "rejected" | "unavailable" | "ambiguous" | "lost" | "hang"

/**
 * What a connection does besides: `page`: an answer in nobody's words, such as a proxy's. `half`: accepted, and the answer breaks off.
 * `accepted-hang`: accepted, and no answer ever comes.
 */
export type WireFault = "page" | "half" | "accepted-hang"

/** What a peer has at the end of a connection, and one in memory has not. */
interface Wire {
  readonly next: (fault: WireFault) => Effect.Effect<void>
  /** The mails as they came, to the byte. */
  readonly bodies: Effect.Effect<ReadonlyArray<string>>
  /** What no failure may repeat. */
  readonly secrets: ReadonlyArray<string>
}

/** The other end, whatever it is: a fake vendor on a socket, or the outbox of a simulated one. */
export interface ProviderPeer {
  readonly next: (...outcomes: ReadonlyArray<PeerOutcome>) => Effect.Effect<void>
  readonly copies: Effect.Effect<ReadonlyArray<Copy>>
  /** Requests that arrived so far. */
  readonly received: Effect.Effect<number>
  /** Resolves once `count` requests have arrived. */
  readonly arrived: (count: number) => Effect.Effect<void>
  /** Resolves once the peer saw the latest request given up by its client. */
  readonly gaveUp: Effect.Effect<void>
  readonly wire?: Wire
}

export interface ProviderUnderTest {
  readonly provider: MailProvider
  readonly peer: ProviderPeer
}

/** A mail with every field, in orders that no rule would make. */
const WHOLE = mail({
  from: box("noreply@postlane.test", "Pöst, lane"),
  to: [box("ann@example.test", "Ann"), box("dan@example.test")],
  cc: [box("bob@example.test")],
  bcc: [box("cy@example.test")],
  replyTo: [box("help@postlane.test"), box("desk@postlane.test")],
  subject: "Grüße",
  html: "<p>.dot</p>",
  text: ".\r\n.\r\n..two\rlone",
  headers: { "X-Much-Longer": "1", "X-B": "2", "List-Unsubscribe": "<https://x.test/u>" },
  tags: { zone: "1", campaign: "c 1" },
  attachments: [
    { filename: "ä.txt", contentType: "text/plain", content: "aGk=", contentId: undefined },
    { filename: "logo.png", contentType: "image/png", content: "iVBORw0K", contentId: "logo" }
  ]
})

const PARAMETERS: fc.Parameters<unknown> = { numRuns: 100 }

/** The contract suite of {@link MailProvider}. Each test opens the adapter and its peer anew. */
export const mailProviderContract = (
  name: string,
  open: Effect.Effect<ProviderUnderTest, never, Scope.Scope>,
  capabilities: { readonly dedupes: boolean }
): void => {
  describe(`MailProvider: ${name}`, () => {
    const key = keyOf("order-17")

    it.effect("prepare is pure and its body survives JSON", () =>
      Effect.gen(function* () {
        const { provider } = yield* open
        fc.assert(
          fc.property(messageArb, (message) => {
            const first = provider.prepare(message, key)
            assert.strictEqual(
              JSON.stringify(first),
              JSON.stringify(provider.prepare(structuredClone(message), key))
            )
            assert.deepStrictEqual(JSON.parse(JSON.stringify(first)), first)
            assert.strictEqual(first.provider, provider.provider)
          }),
          PARAMETERS
        )
      })
    )

    it.effect("prepare does not depend on the order in which headers and tags were written", () =>
      Effect.gen(function* () {
        const { provider } = yield* open
        const forward = mail({ headers: { "X-A": "1", "X-B": "2" }, tags: { a: "1", b: "2" } })
        const backward = mail({ headers: { "X-B": "2", "X-A": "1" }, tags: { b: "2", a: "1" } })
        const bytes = JSON.stringify(provider.prepare(forward, key))
        assert.strictEqual(JSON.stringify(provider.prepare(backward, key)), bytes)
      })
    )

    it.effect("withoutRecipients removes exactly the named recipients (S7)", () =>
      Effect.gen(function* () {
        const { provider } = yield* open
        fc.assert(
          fc.property(
            messageArb,
            fc.array(fc.nat({ max: 12 }), { maxLength: 6 }),
            mailboxArb,
            (message, picks, other) => {
              const keys = recipientKeys(message)
              const blocked = new Set(picks.map((pick) => keys[pick % keys.length]!))
              const expected = withoutBlocked(message, blocked)
              const request = provider.prepare(message, key)
              const left = provider.withoutRecipients(request, blocked)
              assert.deepStrictEqual(
                left,
                expected === undefined ? undefined : provider.prepare(expected, key)
              )
              if (!keys.includes(addressKey(other))) {
                const same = provider.withoutRecipients(request, new Set([addressKey(other)]))
                assert.strictEqual(JSON.stringify(same), JSON.stringify(request))
              }
            }
          ),
          PARAMETERS
        )
      })
    )

    it.effect("an accepted send gives the peer's id; the copy has all recipients and the key's tag", () =>
      Effect.gen(function* () {
        const { provider, peer } = yield* open
        const message = mail({
          to: [box("ann@example.test", "Ann Example")],
          cc: [box("Bob@example.test")],
          bcc: [box("cy@example.test")]
        })
        const { messageId } = yield* provider.send(provider.prepare(message, key))
        const copies = yield* peer.copies
        assert.deepStrictEqual(
          copies.map((copy) => [copy.messageId, [...copy.recipients].sort(), copy.tags[KEY_TAG]]),
          [[messageId, ["ann@example.test", "bob@example.test", "cy@example.test"], key.tag]]
        )
      })
    )

    it.effect("every way to fail is a ProviderFailure of the right kind, after one request", () =>
      Effect.gen(function* () {
        const { provider, peer } = yield* open
        for (const [outcome, kind] of [
          ["rejected", "rejected"],
          ["unavailable", "unavailable"],
          ["ambiguous", "ambiguous"],
          ["lost", "ambiguous"]
        ] as const) {
          yield* peer.next(outcome)
          const before = yield* peer.received
          const result = yield* Effect.result(provider.send(provider.prepare(mail(), keyOf(outcome))))
          assert.isTrue(Result.isFailure(result))
          if (!Result.isFailure(result)) continue
          assert.strictEqual(result.failure.kind, kind)
          assert.strictEqual(result.failure.provider, provider.provider)
          assert.notStrictEqual(result.failure.message, "")
          for (const secret of peer.wire?.secrets ?? []) {
            assert.notInclude(JSON.stringify(result.failure), secret)
          }
          assert.strictEqual((yield* peer.received) - before, 1)
        }
      })
    )

    it.effect("a request that it did not prepare is refused without one", () =>
      Effect.gen(function* () {
        const { provider, peer } = yield* open
        const prepared = provider.prepare(mail(), key)
        for (const body of [null, "x", {}, [1]]) {
          const request: ProviderRequest = { ...prepared, body }
          assert.strictEqual((yield* Effect.flip(provider.send(request))).kind, "rejected")
        }
        assert.strictEqual(yield* peer.received, 0)
      })
    )

    it.effect(
      capabilities.dedupes
        ? "the same request again is the same copy, also after a lost answer (S1)"
        : "the same request again is another copy: the mailer must not send it blindly",
      () =>
        Effect.gen(function* () {
          const { provider, peer } = yield* open
          const request = provider.prepare(mail(), key)
          yield* peer.next("lost", "ok", "ok")
          yield* Effect.flip(provider.send(request))
          // A queue keeps the request as JSON, perhaps with an order of its own.
          const queued = reorder(request)
          const second = yield* provider.send(queued)
          const third = yield* provider.send(request)
          const copies = yield* peer.copies
          assert.strictEqual(copies.length, capabilities.dedupes ? 1 : 3)
          if (capabilities.dedupes) assert.strictEqual(third.messageId, second.messageId)
        })
    )

    it.effect("a mail with every field is the same bytes at every attempt, whatever order a queue kept", () =>
      Effect.gen(function* () {
        const { provider, peer } = yield* open
        if (peer.wire === undefined) return
        const request = provider.prepare(WHOLE, key)
        yield* provider.send(request)
        yield* provider.send(reorder(request))
        yield* provider.send(provider.prepare(structuredClone(WHOLE), key))
        const [first, ...later] = yield* peer.wire.bodies
        assert.deepStrictEqual(later, [first, first])
      })
    )

    it.effect("an answer in nobody's words, or half of one, is ambiguous", () =>
      Effect.gen(function* () {
        const { provider, peer } = yield* open
        if (peer.wire === undefined) return
        for (const fault of ["page", "half"] as const) {
          yield* peer.wire.next(fault)
          const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), keyOf(fault))))
          assert.strictEqual(failure.kind, "ambiguous", fault)
        }
        assert.strictEqual((yield* peer.copies).length, 1)
      })
    )

    it.effect("an attempt whose mail was accepted waits for the answer until it is given up", () =>
      Effect.gen(function* () {
        const { provider, peer } = yield* open
        if (peer.wire === undefined) return
        yield* peer.wire.next("accepted-hang")
        const fiber = yield* Effect.forkChild(provider.send(provider.prepare(mail(), key)))
        yield* peer.arrived(1)
        assert.isUndefined(fiber.pollUnsafe())
        yield* Fiber.interrupt(fiber)
        yield* peer.gaveUp
        assert.strictEqual((yield* peer.copies).length, 1)
      })
    )

    it.effect("an interruption gives the request up", () =>
      Effect.gen(function* () {
        const { provider, peer } = yield* open
        yield* peer.next("hang")
        const fiber = yield* Effect.forkChild(provider.send(provider.prepare(mail(), key)))
        yield* peer.arrived(1)
        yield* Fiber.interrupt(fiber)
        yield* peer.gaveUp
        assert.strictEqual(yield* peer.received, 1)
      })
    )
  })
}

/** The same JSON with every object's keys in another order, as `jsonb` keeps it: by length, then by bytes. */
const reorder = (request: ProviderRequest): ProviderRequest =>
  JSON.parse(
    JSON.stringify(request, (_, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
          )
        : value
    )
  ) as ProviderRequest
