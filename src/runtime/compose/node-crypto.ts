import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Layer } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"

/** Bytes that are drawn together: one draw takes as long as a hundred ids. */
const POOL_BYTES = 4_096

/** Random bytes, each handed out once and then nowhere else. */
export const makePooledBytes = () => {
  let pool: Uint8Array = new Uint8Array(0)
  let used = 0
  return (size: number): Uint8Array => {
    if (size > POOL_BYTES) return SecureRandom.randomBytesUnsafe(size)
    if (used + size > pool.length) {
      pool = SecureRandom.randomBytesUnsafe(POOL_BYTES)
      used = 0
    }
    const bytes = pool.slice(used, used + size)
    pool.fill(0, used, used + size)
    used += size
    return bytes
  }
}

/** What a mailer on Node hashes with and takes its ids from. */
export const nodeCrypto = Layer.merge(
  NodeCrypto.layerDigest,
  Layer.sync(SecureRandom.SecureRandom, () => SecureRandom.make(makePooledBytes()))
)
