/** An Effect service on Postlane's `Mailer`: what is not begun is in the error channel, how a send ended in the result. */
import { Context, Effect, Layer } from "effect"
import { layer as postlane, Mailer } from "postlane"

export class Receipts extends Context.Service<
  Receipts,
  { readonly send: (order: string, to: string) => Effect.Effect<"on its way" | "not sent"> }
>()("shop/Receipts") {
  static readonly layer = Layer.effect(
    Receipts,
    Effect.gen(function* () {
      const mailer = yield* Mailer
      return Receipts.of({
        send: (order, to) =>
          mailer
            .send({
              to,
              subject: `Receipt for order ${order}`,
              text: "Thank you.",
              category: "transactional",
              source: "effect:receipts",
              idempotencyKey: `receipt/${order}`
            })
            .pipe(
              Effect.map(({ ok }) => (ok ? ("on its way" as const) : ("not sent" as const))),
              // Another call with the key is under way: it sends.
              Effect.catchTag("IdempotencyInProgress", () => Effect.succeed("on its way" as const)),
              Effect.orDie
            )
      })
    })
  )
}

/** With the settings of `process.env`; a test provides a `Mailer` of its own. */
export const live = Receipts.layer.pipe(Layer.provide(postlane()))
