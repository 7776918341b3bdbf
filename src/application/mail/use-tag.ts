import { Effect, Redacted } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import { type KeyHash, KeyTag } from "../../domain/ids.ts"

/** SHA-256's block, bytes; a secret of 32 bytes is padded to it. */
const BLOCK = 64
const INNER = 0x36
const OUTER = 0x5c

const encoder = new TextEncoder()

const joined = (one: Uint8Array, two: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(one.length + two.length)
  bytes.set(one)
  bytes.set(two, one.length)
  return bytes
}

const padded = (secret: Uint8Array, pad: number): Uint8Array =>
  Uint8Array.from({ length: BLOCK }, (_, index) => (secret[index] ?? 0) ^ pad)

type Secret = Redacted.Redacted<Uint8Array>

interface Pads {
  readonly inner: Uint8Array
  readonly outer: Uint8Array
}

const PADS = new WeakMap<Secret, Pads>()

/** What HMAC hashes first, made once for a secret: every mail needs it. */
const padsOf = (secret: Secret): Pads => {
  const known = PADS.get(secret)
  if (known !== undefined) return known
  const bytes = Redacted.value(secret)
  const pads = { inner: padded(bytes, INNER), outer: padded(bytes, OUTER) }
  PADS.set(secret, pads)
  return pads
}

/**
 * The id of a key's first use, as far as anybody knows. It is the same in every process: two that find no claim store, or a database
 * that was restored from a backup, send the same bytes, and a provider that dedupes delivers one copy. Each later use has the owner
 * of its claim as its id.
 */
export const FIRST_USE = "first"

/**
 * The tag of one use of a key: HMAC-SHA-256 over the hash of the key and the id of the use, which is its claim's. Equals `email_use_tag`
 * in SQL, which makes it for a process that has not got the secret yet.
 */
export const makeUseTag = Effect.map(
  Digest,
  (digest) =>
    (secret: Secret, keyHash: KeyHash, useId: string): Effect.Effect<KeyTag> => {
      const { inner, outer } = padsOf(secret)
      return digest.digest(sha256, joined(inner, encoder.encode(`${keyHash} ${useId}`))).pipe(
        Effect.flatMap((hash) => digest.digestHex(sha256, joined(outer, hash))),
        Effect.map((hex) => KeyTag.make(hex))
      )
    }
)
