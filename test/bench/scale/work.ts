import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Duration, Effect, Exit, Layer, Redacted, Scope } from "effect"

import { layer as clients } from "../../../src/adapters/postgres/client.ts"
import * as Conversions from "../../../src/adapters/postgres/conversion/conversion-store.ts"
import * as Intake from "../../../src/adapters/postgres/inbound/intake-store.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { IntakeStore } from "../../../src/ports/inbound/intake-store.ts"
import { anyId } from "../../support/any-id.ts"
import type { Row } from "../rows.ts"
import { webhookIntake } from "../senders/intake.ts"
import { mailer } from "../senders/postlane.ts"
import type { OpenSender } from "../senders/sender.ts"

const STALE = Duration.minutes(1)

const opened = <I, A>(
  service: Context.Key<I, A>,
  layer: (url: Redacted.Redacted) => Layer.Layer<I>,
  send: (store: A) => Effect.Effect<unknown, unknown>
): OpenSender => {
  return async ({ databaseUrl }) => {
    const scope = Scope.makeUnsafe()
    const context = await Effect.runPromise(
      Scope.provide(Layer.build(layer(Redacted.make(databaseUrl))), scope)
    )
    const store = Context.get(context, service)
    return {
      send: () => Effect.runPromise(send(store)),
      close: () => Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

/** What the database does for a chunk: claim, one heartbeat, completion; the pages themselves are left out. */
const chunk = opened(
  ConversionStore,
  (url) => Layer.orDie(Layer.provide(Conversions.layer, clients({ url }))),
  (store) =>
    Effect.gen(function* () {
      const claimed = yield* store.claimChunk("bench", anyId())
      if (claimed === undefined) return yield* Effect.die(new Error("no chunk is left"))
      yield* store.heartbeatChunk(claimed, 10, Duration.hours(1))
      yield* store.completeChunk(claimed, "result", [])
    })
)

/** What the database does for a mail that is received and leads nowhere: its row, its claim, its end. */
const mail = opened(
  IntakeStore,
  (url) => Layer.orDie(Layer.provide(Intake.layer, [clients({ url }), NodeCrypto.layer])),
  (store) =>
    Effect.gen(function* () {
      const id = anyId()
      const rawKey = `mails/${id}/raw.eml`
      yield* store.receive({
        id,
        rawKey,
        rawBytes: 1_000,
        envelopeFrom: "a@x.test",
        peerTrusted: true,
        home: "here",
        verifiedSender: undefined,
        ended: undefined
      })
      const claimed = yield* store.claim("received", anyId(), STALE, "here")
      if (claimed !== undefined) yield* store.end(claimed, { outcome: "automatic", reason: "bench" })
    })
)

/** What one process of a role does again and again. */
export const SCALED: ReadonlyArray<Row> = [
  { name: "sends with keys", open: mailer("provider_a", { keys: true }), concurrencies: [16] },
  { name: "webhooks over HTTP", open: webhookIntake, concurrencies: [16] },
  { name: "chunks", open: chunk, concurrencies: [8] },
  { name: "received mails", open: mail, concurrencies: [8] }
]
