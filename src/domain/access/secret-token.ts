import { Effect, Redacted } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"
import { SecureRandom } from "effect/crypto/SecureRandom"
import * as Base64Url from "effect/encoding/Base64Url"

/** Random bytes in a token, session cookie or magic link. */
const TOKEN_BYTES = 32

/** Longest text that is looked up at all, characters; a dev token may be any text that somebody set. */
const MAX_TOKEN_LENGTH = 1000

const encoder = new TextEncoder()

/** A token as its holder has it, and as it is stored. */
export interface MintedToken {
  readonly token: Redacted.Redacted
  /** SHA-256 in hex. 32 random bytes cannot be guessed from it, so that it needs no salt. */
  readonly hash: string
}

/** Makes tokens and hashes. */
export interface SecretTokens {
  /** A new one: 43 characters of base64url. */
  readonly mint: Effect.Effect<MintedToken>
  /** What is stored of a token; `undefined` for what cannot be one. */
  readonly hash: (token: string) => Effect.Effect<string | undefined>
}

/** What makes tokens, on the chance and the digest of the surroundings. */
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
