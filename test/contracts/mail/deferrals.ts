/**
 * `Deferrals`: a key is open where nothing under it was accepted or is under way, by the rows of the log alone.
 *
 * Adapters: memory, postgres. Rules: D1, R3, S4.
 */
import { createHash } from "node:crypto"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import type { SendStatus } from "../../../src/domain/mail/send-result.ts"
import { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import type { RecordSend } from "../../../src/ports/mail/mail-store.ts"
import { anyId } from "../../support/any-id.ts"
import type { MailWorld } from "../../support/worlds/mail-world.ts"
import { asking, attempt, mail } from "./mail-store/mails.ts"

const HOUR_MS = 3_600_000

const hashOf = (text: string) => anyId(createHash("sha256").update(text).digest("hex"))

/** The tag of a key's one use. */
const tagNamed = (key: string) => hashOf(`tag of ${key}`)

/** A mail whose key is hashed as the mailer hashes it. */
const mailOf = (key: string) =>
  mail({
    idempotencyKey: anyId(key),
    keyHash: hashOf(key),
    keyTag: tagNamed(key)
  })

let serial = 0
const freshKey = () => `deferral-${process.pid}-${(serial += 1)}`

/** What every adapter of the port says of the rows that the mail store wrote (R3). */
export const suite = (
  name: string,
  run: <A, E>(body: (world: MailWorld) => Effect.Effect<A, E, Deferrals>) => Effect.Effect<A, E>
) =>
  describe(`deferrals: ${name}`, () => {
    const test = (
      title: string,
      body: (
        record: (
          key: string,
          outcome: SendStatus,
          more?: Partial<RecordSend>
        ) => Effect.Effect<void, unknown>,
        world: MailWorld
      ) => Effect.Effect<void, unknown, Deferrals>
    ) =>
      it.live(title, () =>
        run((world) =>
          body(
            (key, outcome, more) =>
              Effect.asVoid(
                world.store.record(
                  attempt(mailOf(key), outcome, {
                    errorKind: outcome === "failed" ? "ambiguous" : null,
                    providerMessageId: outcome === "sent" ? `m-${key}` : null,
                    ...more
                  })
                )
              ),
            world
          )
        )
      )
    const openKey = (key: string) => Deferrals.use((deferrals) => deferrals.openKey(key))

    test("a key that nothing was deferred under is open, unless a mail was accepted", (record) =>
      Effect.gen(function* () {
        const key = freshKey()
        assert.deepStrictEqual(yield* openKey(key), { key, state: "new" })
        yield* record(key, "failed")
        assert.deepStrictEqual(yield* openKey(key), { key, state: "new" })
        // Also where the row of the deferral was lost: asking again would send a second mail once the claim is forgotten.
        const sent = freshKey()
        yield* record(sent, "sent")
        assert.deepStrictEqual(yield* openKey(sent), { key: sent, state: "sent" })
      }))

    test("a key of which only an event tells is sent", (_, world) =>
      Effect.gen(function* () {
        const key = freshKey()
        yield* world.store.begin(asking(mailOf(key)))
        yield* world.recordEvent({
          provider: "provider_a",
          event: "sent",
          providerMessageId: key,
          keyTag: tagNamed(key)
        })
        assert.deepStrictEqual(yield* openKey(key), { key, state: "sent" })
      }))

    test("a deferral is under way until its newest row says more", (record) =>
      Effect.gen(function* () {
        const key = freshKey()
        yield* record(key, "deferred")
        yield* record(key, "deferred")
        assert.deepStrictEqual(yield* openKey(key), { key, state: "deferred" })
        yield* record(key, "sent")
        assert.deepStrictEqual(yield* openKey(key), { key, state: "sent" })
      }))

    test("an end without a mail opens the next key, as often as it comes to that", (record) =>
      Effect.gen(function* () {
        const key = freshKey()
        yield* record(key, "deferred")
        yield* record(key, "failed")
        assert.deepStrictEqual(yield* openKey(key), { key: `${key}/2`, state: "new" })
        yield* record(`${key}/2`, "deferred")
        assert.deepStrictEqual(yield* openKey(key), { key: `${key}/2`, state: "deferred" })
        yield* record(`${key}/2`, "suppressed")
        assert.deepStrictEqual(yield* openKey(key), { key: `${key}/3`, state: "new" })
      }))

    test("an event that proves acceptance, also a late one, is an end with a mail (S4)", (record, world) =>
      Effect.gen(function* () {
        const key = freshKey()
        yield* record(key, "deferred")
        yield* record(key, "failed")
        yield* world.recordEvent({
          provider: "provider_a",
          providerMessageId: `m-${key}`,
          event: "delivered",
          keyTag: tagNamed(key)
        })
        assert.deepStrictEqual(yield* openKey(key), { key, state: "sent" })
      }))

    test("a deferral whose end nobody recorded has failed after 24 hours, when no retry goes out any more (D1)", (record, world) =>
      Effect.gen(function* () {
        const key = freshKey()
        yield* record(key, "deferred")
        yield* world.advance(24 * HOUR_MS - 60_000)
        assert.deepStrictEqual(yield* openKey(key), { key, state: "deferred" })
        yield* world.advance(120_000)
        assert.deepStrictEqual(yield* openKey(key), { key: `${key}/2`, state: "new" })
      }))
  })
