import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import * as Mac from "effect/crypto/Mac"
import { TestClock } from "effect/testing"

import { layer, MailLinks, MAX_LINK_DAYS } from "../../../src/application/delivery/mail-links.ts"
import { AuditNotes } from "../../../src/ports/accounts/audit-log.ts"
import { Unsubscribes } from "../../../src/ports/outreach/campaign-book.ts"

const links = layer.pipe(
  Layer.provide([
    Layer.mock(Unsubscribes, { key: Effect.succeed(Redacted.make(new Uint8Array(32).fill(1))) }),
    Layer.mock(AuditNotes, { add: () => Effect.void }),
    Mac.layerWebCrypto
  ]),
  Layer.provide(NodeCrypto.layer)
)

it.effect("a link opens until its last millisecond, and never again (EVENT-67)", () =>
  Effect.gen(function* () {
    const { make, open } = yield* MailLinks
    for (const days of [1, 7, MAX_LINK_DAYS]) {
      const recipient = `anna+${days}@x.test`
      const { expiresAt, token } = yield* make({ recipient, days, actor: "test" })
      assert.deepStrictEqual(yield* open(token), { recipient, expiresAt })
      yield* TestClock.adjust(Duration.millis(days * 86_400_000 - 1))
      assert.deepStrictEqual(yield* open(token), { recipient, expiresAt })
      yield* TestClock.adjust("1 millis")
      assert.isUndefined(yield* open(token))
    }
  }).pipe(Effect.provide(links))
)
