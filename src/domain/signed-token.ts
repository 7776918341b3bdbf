import { Effect, Redacted, Result } from "effect"
import * as Mac from "effect/crypto/Mac"
import * as Base64Url from "effect/encoding/Base64Url"

/** SHA-256. */
const MAC_BYTES = 32

const encoder = new TextEncoder()

/** What tokens are for, and what they are signed with. */
export interface TokenPurpose<E> {
  /** Goes into what is signed: no signature made for another purpose fits. */
  readonly label: string
  /** Characters; longer texts are not looked at. */
  readonly maxLength: number
  /** Read once; a failure is not kept. */
  readonly key: Effect.Effect<Redacted.Redacted<Uint8Array>, E>
}

/** Tokens that carry what they are about, `payload.signature` in base64url: they work for as long as their key does. */
export interface SignedTokens<E> {
  /** The same payload gives the same token, so that a mail with a link can be sent again as it was. */
  readonly write: (payload: Uint8Array) => Effect.Effect<string, E>
  /** The payload of a genuine token, written in the one way in which `write` does it; undefined for any other text. */
  readonly read: (token: string) => Effect.Effect<Uint8Array | undefined, E>
}

const bytesOf = (text: string): Uint8Array | undefined => {
  const bytes = Base64Url.decode(text)
  return Result.isSuccess(bytes) && Base64Url.encode(bytes.success) === text ? bytes.success : undefined
}

/** {@link SignedTokens} by HMAC-SHA256. */
export const makeSignedTokens = Effect.fnUntraced(function* <E>({ key, label, maxLength }: TokenPurpose<E>) {
  const mac = yield* Mac.Mac
  const prefix = encoder.encode(`${label}\n`)
  let kept: Mac.Key | undefined
  const signingKey = Effect.suspend(() =>
    kept !== undefined
      ? Effect.succeed(kept)
      : key.pipe(
          Effect.flatMap((bytes) => Effect.orDie(Mac.key(Mac.hmacSha256, Redacted.value(bytes)))),
          Effect.tap((made) => Effect.sync(() => void (kept = made)))
        )
  )
  const signedBytes = (payload: Uint8Array): Uint8Array => {
    const bytes = new Uint8Array(prefix.length + payload.length)
    bytes.set(prefix)
    bytes.set(payload, prefix.length)
    return bytes
  }
  const tokens: SignedTokens<E> = {
    write: Effect.fnUntraced(function* (payload) {
      const signature = yield* Effect.orDie(mac.sign(yield* signingKey, signedBytes(payload)))
      return `${Base64Url.encode(payload)}.${Base64Url.encode(signature)}`
    }),
    read: Effect.fnUntraced(function* (token) {
      const [head, tail, ...more] = token.length > maxLength ? [] : token.split(".")
      if (head === undefined || tail === undefined || more.length > 0) return undefined
      const payload = bytesOf(head)
      const signature = bytesOf(tail)
      if (payload === undefined || signature?.length !== MAC_BYTES) return undefined
      const genuine = yield* Effect.orDie(mac.verify(yield* signingKey, signature, signedBytes(payload)))
      return genuine ? payload : undefined
    })
  }
  return tokens
})
