import { Effect, Redacted, Result } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"
import * as Mac from "effect/crypto/Mac"
import { SecureRandom } from "effect/crypto/SecureRandom"
import * as Base64Url from "effect/encoding/Base64Url"

import type { NewToken } from "../../ports/accounts/access.ts"

/** SHA-256. */
const MAC_BYTES = 32

const textEncoder = new TextEncoder()

/** The purpose of signed tokens, and their key. */
interface TokenPurpose<E> {
  /** Part of the signed bytes: a signature made for another purpose is not valid. */
  readonly label: string
  /** Characters; longer texts are refused unread. */
  readonly maxLength: number
  /** Read once; a failure is not kept. */
  readonly key: Effect.Effect<Redacted.Redacted<Uint8Array>, E>
}

/** Tokens that carry their payload, `payload.signature` in base64url: they work for as long as their key does. */
interface SignedTokens<E> {
  /** The same payload gives the same token, so that a mail with a link can be sent again unchanged. */
  readonly write: (payload: Uint8Array) => Effect.Effect<string, E>
  /** The payload of a genuine token in the exact form that `write` makes; undefined for any other text. */
  readonly read: (token: string) => Effect.Effect<Uint8Array | undefined, E>
}

const bytesOf = (text: string): Uint8Array | undefined => {
  const bytes = Base64Url.decode(text)
  return Result.isSuccess(bytes) && Base64Url.encode(bytes.success) === text ? bytes.success : undefined
}

/** {@link SignedTokens} by HMAC-SHA256. */
export const makeSignedTokens = Effect.fnUntraced(function* <E>({ key, label, maxLength }: TokenPurpose<E>) {
  const mac = yield* Mac.Mac
  const prefix = textEncoder.encode(`${label}\n`)
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

/** Random bytes in a token, session cookie or magic link. */
const TOKEN_BYTES = 32

/** Longest text that is looked up, characters; a dev token may be any text from the settings. */
const MAX_TOKEN_LENGTH = 1000

const encoder = new TextEncoder()

/** A token in clear, and its stored form. */
interface MintedToken {
  readonly token: Redacted.Redacted
  /** SHA-256 in hex. 32 random bytes cannot be guessed from it, so that it needs no salt. */
  readonly hash: string
}

/** Makes tokens and hashes. */
interface SecretTokens {
  /** A new one: 43 characters of base64url. */
  readonly mint: Effect.Effect<MintedToken>
  /** The stored hash of a token; `undefined` for a text that cannot be one. */
  readonly hash: (token: string) => Effect.Effect<string | undefined>
}

/** Makes {@link SecretTokens}, on the random source and the digest in its context. */
export const makeSecretTokens: Effect.Effect<SecretTokens, never, Digest | SecureRandom> = Effect.gen(
  function* () {
    const digest = yield* Digest
    const random = yield* SecureRandom
    const hashOf = (token: string) => digest.digestHex(sha256, encoder.encode(token))
    return {
      mint: Effect.gen(function* () {
        const token = Base64Url.encode(yield* random.randomBytes(TOKEN_BYTES))
        return { token: Redacted.make(token), hash: yield* hashOf(token) }
      }),
      hash: (token) =>
        token === "" || token.length > MAX_TOKEN_LENGTH ? Effect.succeed(undefined) : hashOf(token)
    }
  }
)

/** Longest name of a token, characters. */
const MAX_NAME = 200

/** What is wrong with a new token; `undefined`: nothing. */
export const faultOf = ({ customerId, expiresAt, name, rights }: NewToken): string | undefined => {
  if (name.trim() === "" || name.length > MAX_NAME) return `A name has 1 to ${MAX_NAME} characters`
  if (/\p{Cc}/u.test(name)) return "A name holds no control characters"
  if (rights.length === 0) return "A token needs a right"
  if (rights.includes("owner") && customerId === undefined) return "The right owner needs a customer"
  if (expiresAt !== undefined && !Number.isSafeInteger(expiresAt)) return "That is no time"
  return undefined
}
