import { assert, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"

import * as LibraryReplies from "../../../src/application/inbound/library-replies.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import { ReplyChannel } from "../../../src/ports/inbound/mails.ts"
import { Deferrals } from "../../../src/ports/mail/deferrals.ts"
import { anyId } from "../../support/any-id.ts"

const failed = (
  kind: (SendResult & { readonly status: "failed" })["kind"],
  provider: SendResult["provider"]
): SendResult => ({
  ok: false,
  status: "failed",
  error: "no",
  kind,
  providerMessageId: null,
  sendId: anyId("1"),
  provider,
  failedOver: false,
  idempotencyKey: "k",
  suppressedRecipients: []
})

type Open = { readonly more: string; readonly state: "new" | "deferred" | "sent" }

/** What becomes of a reply where the mailer, if it is asked, ends so. */
const outcomeOf = (result: SendResult, open: Open = { more: "", state: "new" }) =>
  ReplyChannel.use(({ send }) =>
    Effect.result(
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
    Effect.map((sent) => (Result.isSuccess(sent) ? (sent.success ?? "sent") : sent.failure.reason)),
    Effect.provide(
      LibraryReplies.layer({ from: "noreply@sender.test", replyTo: "convert@legacy.test" }).pipe(
        Layer.provide([
          Layer.mock(Mailer, { send: () => Effect.succeed(result) }),
          Layer.succeed(Deferrals, {
            openKey: (key) => Effect.succeed({ key: `${key}${open.more}`, state: open.state })
          })
        ])
      )
    )
  )

it.effect("an ambiguous send that was not deferred is asked again only where the provider dedupes", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* outcomeOf(failed("ambiguous", "provider_a")), "later")
    assert.strictEqual(yield* outcomeOf(failed("ambiguous", "provider_b")), "unrepeatable")
    assert.strictEqual(yield* outcomeOf(failed("ambiguous", null)), "unrepeatable")
    assert.strictEqual(yield* outcomeOf(failed("unavailable", "provider_b")), "later")
    assert.strictEqual(yield* outcomeOf(failed("rejected", "provider_b")), "refused")
  })
)

it.effect(
  "a deferred reply is known by the end of its retries, and is not asked for again under its key",
  () =>
    Effect.gen(function* () {
      const never = failed("rejected", "provider_b")
      const { error: _error, kind: _kind, ...common } = never as SendResult & { readonly status: "failed" }
      const deferred: SendResult = { ...common, ok: true, status: "deferred" }
      assert.strictEqual(yield* outcomeOf(deferred), "deferred")
      assert.strictEqual(yield* outcomeOf(never, { more: "", state: "deferred" }), "deferred")
      assert.strictEqual(yield* outcomeOf(never, { more: "", state: "sent" }), "sent")
      assert.strictEqual(yield* outcomeOf(never, { more: "/2", state: "new" }), "unrepeatable")
      assert.strictEqual(yield* outcomeOf(never, { more: "/2", state: "sent" }), "sent")
    })
)
