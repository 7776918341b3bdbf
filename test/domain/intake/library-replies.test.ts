import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import * as LibraryReplies from "../../../src/domain/intake/library-replies.ts"
import { Mailer } from "../../../src/domain/mail/mailer.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { ReplyChannel } from "../../../src/ports/reply-channel.ts"

const failed = (
  kind: (SendResult & { readonly status: "failed" })["kind"],
  provider: SendResult["provider"]
): SendResult => ({
  ok: false,
  status: "failed",
  error: "no",
  kind,
  providerMessageId: null,
  sendId: "1",
  provider,
  failedOver: false,
  idempotencyKey: "k",
  suppressedRecipients: []
})

/** What a reply is told that the mailer ends so. */
const reasonOf = (result: SendResult) =>
  ReplyChannel.use(({ send }) =>
    Effect.flip(
      send({
        key: "convert-email:1:success",
        to: "ann@reader.test",
        subject: "s",
        html: "<p>h</p>",
        text: "h",
        inReplyTo: undefined,
        references: undefined,
        automatic: true,
        attachment: undefined
      })
    )
  ).pipe(
    Effect.map(({ reason }) => reason),
    Effect.provide(
      LibraryReplies.layer({ from: "noreply@sender.test", replyTo: "convert@legacy.test" }).pipe(
        Layer.provide(Layer.mock(Mailer, { send: () => Effect.succeed(result) }))
      )
    )
  )

it.effect("an ambiguous send that was not deferred is asked again only where the provider dedupes", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* reasonOf(failed("ambiguous", "provider_a")), "later")
    assert.strictEqual(yield* reasonOf(failed("ambiguous", "provider_b")), "unrepeatable")
    assert.strictEqual(yield* reasonOf(failed("ambiguous", null)), "unrepeatable")
    assert.strictEqual(yield* reasonOf(failed("unavailable", "provider_b")), "later")
    assert.strictEqual(yield* reasonOf(failed("rejected", "provider_b")), "refused")
  })
)
