import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer, Stream } from "effect"

import { takeIn } from "../../../src/adapters/cloudflare/email-delivery.ts"
import { ReturnedMails } from "../../../src/application/delivery/returned-mail.ts"
import { ConvertByEmail } from "../../../src/application/inbound/convert-by-email.ts"
import { MAX_MAIL_BYTES } from "../../../src/domain/inbound/incoming-mail.ts"
import { anyId } from "../../support/any-id.ts"

const RECIPIENTS = new Set(["convert@in.test"])

/** A mail of chunks of 1 MiB, the last one shorter; `broken`: it stops coming before its end. */
const message = (bytes: number, options: { readonly said?: number; readonly broken?: boolean } = {}) => {
  let left = bytes
  return {
    from: "ann@reader.test",
    to: "Convert@in.test",
    headers: new Headers(),
    raw: new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (left === 0 && options.broken === true)
          return controller.error(new Error("the connection is gone"))
        if (left === 0) return controller.close()
        const size = Math.min(1024 * 1024, left)
        left -= size
        const chunk = new Uint8Array(size)
        // The end of the header section, which has a limit of its own.
        chunk.set(new TextEncoder().encode("\r\n").subarray(0, size))
        controller.enqueue(chunk)
      }
    }),
    rawSize: options.said ?? bytes,
    setReject: () => assert.fail("the caller rejects")
  }
}

/** Intake that reads what it is given. */
const reads: Array<number> = []
const layer = Layer.mock(ConvertByEmail, {
  accept: ({ raw }) =>
    Stream.runFold(
      raw,
      () => 0,
      (size, bytes) => size + bytes.length
    ).pipe(
      Effect.map((size) => {
        reads.push(size)
        return anyId("id")
      })
    )
})
const returns = Layer.mock(ReturnedMails, {
  isFor: (to) => to === "bounce@in.test",
  accept: ({ raw }) => Effect.as(Stream.runDrain(raw), { recorded: 1 })
})
const take = (mail: ReturnType<typeof message>) => Effect.provide(takeIn(mail, RECIPIENTS), [layer, returns])

it.effect("a mail to the bounce address is a report, and no document; its size is bounded, too", () =>
  Effect.gen(function* () {
    reads.length = 0
    const to = "bounce@in.test"
    assert.deepStrictEqual(yield* take({ ...message(10), from: "", to }), { reported: true })
    assert.property(yield* take({ ...message(MAX_MAIL_BYTES + 1), to }), "refused")
    assert.deepStrictEqual(reads, [])
  })
)

it.effect("takes a mail of the largest size, and refuses one that is larger whatever it is said to be", () =>
  Effect.gen(function* () {
    reads.length = 0
    assert.deepStrictEqual(yield* take(message(MAX_MAIL_BYTES)), { id: "id" })
    for (const said of [10, MAX_MAIL_BYTES + 1]) {
      const taken = yield* take(message(MAX_MAIL_BYTES + 1, { said }))
      assert.match("refused" in taken ? taken.refused : "", /larger than 41943040 bytes/)
    }
    assert.deepStrictEqual(reads, [MAX_MAIL_BYTES])
  })
)

it.effect("refuses a sender that no header can quote, and a mail whose header has no end", () =>
  Effect.gen(function* () {
    reads.length = 0
    for (const [mail, why] of [
      [{ ...message(10), from: '"x) dkim=pass (y"@evil.test' }, /sender address/],
      [{ ...message(10), raw: new Blob([new Uint8Array(300_000)]).stream() }, /header is longer/]
    ] as const) {
      const taken = yield* take(mail)
      assert.match("refused" in taken ? taken.refused : "", why)
    }
    assert.deepStrictEqual(reads, [])
  })
)

it.effect("fails where the mail stops coming: the sender keeps it", () =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(take(message(3_000_000, { broken: true })))
    assert.isTrue(Exit.isFailure(exit))
  })
)
