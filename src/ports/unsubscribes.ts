import { Context, Data } from "effect"
import type { Effect, Redacted } from "effect"

/** The table cannot be read or written now. */
export class UnsubscribesUnavailable extends Data.TaggedError("UnsubscribesUnavailable")<{
  readonly cause: unknown
}> {}

/** Who gets no outreach, and the key that signs the links with which people say so. */
export class Unsubscribes extends Context.Service<
  Unsubscribes,
  {
    /** 32 random bytes that never change. */
    readonly key: Effect.Effect<Redacted.Redacted<Uint8Array>, UnsubscribesUnavailable>
    /** Takes an address (bare, lower-case) off all outreach; again, it changes nothing. */
    readonly add: (entry: {
      readonly email: string
      readonly campaign: string
    }) => Effect.Effect<void, UnsubscribesUnavailable>
  }
>()("postlane/ports/Unsubscribes") {}
