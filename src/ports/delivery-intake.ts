import { Context, Data } from "effect"
import type { Result } from "effect"

import type { IncomingEvent } from "../domain/delivery/incoming-event.ts"

/**
 * A webhook body that is not what the provider signed (`signature`), or signed and no JSON (`body`); or nobody is let in, since
 * there is no signing secret (`secret`).
 */
export class WebhookRefused extends Data.TaggedError("WebhookRefused")<{
  readonly about: "secret" | "signature" | "body"
  readonly reason: string
}> {}

/** What the providers' notices say. Pure; nothing is recorded here. */
export class DeliveryIntake extends Context.Service<
  DeliveryIntake,
  {
    /** The raw body of `provider_a`'s webhook: verified, then parsed. */
    readonly webhook: (
      body: Uint8Array,
      headers: Readonly<Record<string, unknown>>
    ) => Result.Result<IncomingEvent, WebhookRefused>
    /** The parsed body of `provider_b`'s event bus, one envelope or a list. */
    readonly bus: (body: unknown) => ReadonlyArray<IncomingEvent>
  }
>()("postlane/ports/DeliveryIntake") {}
