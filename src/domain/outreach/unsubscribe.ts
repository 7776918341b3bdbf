import { Context, Effect, Layer, Redacted } from "effect"
import * as Mac from "effect/crypto/Mac"

import { Unsubscribes, type UnsubscribesUnavailable } from "../../ports/unsubscribes.ts"
import {
  payloadOf,
  readToken,
  signedBytes,
  type UnsubscribeSubject,
  writeToken
} from "./unsubscribe-token.ts"

const make = Effect.gen(function* () {
  const store = yield* Unsubscribes
  const mac = yield* Mac.Mac
  let kept: Mac.Key | undefined

  /** Read once; a failure is not kept. */
  const key = Effect.suspend(() =>
    kept !== undefined
      ? Effect.succeed(kept)
      : store.key.pipe(
          Effect.flatMap((bytes) => Effect.orDie(Mac.key(Mac.hmacSha256, Redacted.value(bytes)))),
          Effect.tap((made) => Effect.sync(() => void (kept = made)))
        )
  )

  const verify = Effect.fnUntraced(function* (token: string) {
    const read = readToken(token)
    if (read === undefined) return undefined
    const genuine = yield* Effect.orDie(mac.verify(yield* key, read.mac, signedBytes(read.payload)))
    return genuine ? read.subject : undefined
  })

  return Unsubscribing.of({
    token: Effect.fnUntraced(function* (subject) {
      const payload = payloadOf(subject)
      return writeToken(payload, yield* Effect.orDie(mac.sign(yield* key, signedBytes(payload))))
    }),
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
 * works for as long as the mail is kept, whatever became of the rows. The key is a random one of the database's own: a
 * secret of the settings is changed now and then, and every link in mail that people already have would die with it.
 */
export class Unsubscribing extends Context.Service<
  Unsubscribing,
  {
    /** The token of a link. */
    readonly token: (subject: UnsubscribeSubject) => Effect.Effect<string, UnsubscribesUnavailable>
    /** Whom a genuine token is about; undefined for a forged, truncated or changed one. Records nothing. */
    readonly verify: (token: string) => Effect.Effect<UnsubscribeSubject | undefined, UnsubscribesUnavailable>
    /** As `verify`, and takes the address off all outreach. */
    readonly unsubscribe: (
      token: string
    ) => Effect.Effect<UnsubscribeSubject | undefined, UnsubscribesUnavailable>
  }
>()("postlane/domain/Unsubscribing") {}

export const layer: Layer.Layer<Unsubscribing, never, Unsubscribes | Mac.Mac> = Layer.effect(
  Unsubscribing,
  make
)
