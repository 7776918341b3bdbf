import { Context, Effect, Layer } from "effect"
import type * as Mac from "effect/crypto/Mac"

import { Unsubscribes } from "../../ports/outreach/campaign-book.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { makeSignedTokens } from "../accounts/tokens.ts"
import {
  MAX_TOKEN_LENGTH,
  payloadOf,
  subjectOf,
  UNSUBSCRIBE_LABEL,
  type UnsubscribeSubject
} from "./unsubscribe-token.ts"

const make = Effect.gen(function* () {
  const store = yield* Unsubscribes
  const tokens = yield* makeSignedTokens({
    label: UNSUBSCRIBE_LABEL,
    maxLength: MAX_TOKEN_LENGTH,
    key: store.key
  })

  const verify = (token: string) =>
    Effect.map(tokens.read(token), (payload) => (payload === undefined ? undefined : subjectOf(payload)))

  return Unsubscribing.of({
    token: (subject) => tokens.write(payloadOf(subject)),
    verify,
    unsubscribe: Effect.fnUntraced(function* (token) {
      const subject = yield* verify(token)
      if (subject !== undefined) yield* store.add(subject)
      return subject
    })
  })
})

/**
 * One-click unsubscribing (RFC 8058). A link holds the address and the campaign with an HMAC-SHA256 over both, so that it
 * works for as long as the mail is kept, whatever happens to the rows. The key is random and kept in the database: a secret
 * in the settings is rotated now and then, which would break every link in mail that people already have.
 */
export class Unsubscribing extends Context.Service<
  Unsubscribing,
  {
    /** The token of a link. */
    readonly token: (subject: UnsubscribeSubject) => Effect.Effect<string, StoreUnavailable>
    /** The subject of a genuine token; undefined for a forged, truncated or changed one. Records nothing. */
    readonly verify: (token: string) => Effect.Effect<UnsubscribeSubject | undefined, StoreUnavailable>
    /** As `verify`, and takes the address off all outreach. */
    readonly unsubscribe: (token: string) => Effect.Effect<UnsubscribeSubject | undefined, StoreUnavailable>
  }
>()("postlane/domain/Unsubscribing") {}

export const layer: Layer.Layer<Unsubscribing, never, Unsubscribes | Mac.Mac> = Layer.effect(
  Unsubscribing,
  make
)
