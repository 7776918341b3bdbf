/** An Effect service on `postlane/effect`: what is accepted succeeds, and whoever calls decides what a failure means. */
import { Context, Effect, Layer } from "effect"
import { Mailer, type MailFailed } from "postlane/effect"

export class Receipts extends Context.Service<
  Receipts,
  { readonly send: (order: string, to: string) => Effect.Effect<"on its way" | "unreachable", MailFailed> }
>()("shop/Receipts") {
  static readonly layer = Layer.effect(
    Receipts,
    Effect.gen(function* () {
      const mailer = yield* Mailer
      return Receipts.of({
        send: Effect.fn("Receipts.send")(
          function* (order: string, to: string) {
            yield* mailer.send({
              to,
              subject: `Receipt for order ${order}`,
              text: "Thank you.",
              category: "transactional",
              source: "effect:receipts",
              idempotencyKey: `receipt/${order}`
            })
            return "on its way" as const
          },
          // Another call with the key is under way: it sends.
          Effect.catchTag("IdempotencyInProgress", () => Effect.succeed("on its way" as const)),
          Effect.catchTag("MailSuppressed", () => Effect.succeed("unreachable" as const)),
          Effect.catchTags({
            InvalidRequest: Effect.die,
            IdempotencyConflict: Effect.die,
            ClaimUnavailable: Effect.die
          })
        )
      })
    })
  )
}

/** With the settings of the `ConfigProvider`; a test provides `Mailer.layerMemory`. */
export const live = Receipts.layer.pipe(Layer.provide(Mailer.layerConfig))
