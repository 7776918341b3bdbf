import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Random } from "effect"
import type { Digest } from "effect/crypto/Digest"
import { SecureRandom } from "effect/crypto/SecureRandom"

const hex = (chance: number, digits: number) =>
  Math.floor(chance * 16 ** digits)
    .toString(16)
    .padStart(digits, "0")

/** Real digests; ids from the seed. */
export const layerSimCrypto: Layer.Layer<Digest | SecureRandom> = Layer.mergeAll(
  NodeCrypto.layerDigest,
  Layer.effect(
    SecureRandom,
    Effect.gen(function* () {
      const real = Context.get(yield* Layer.build(NodeCrypto.layerSecureRandom), SecureRandom)
      const uuid = Effect.zipWith(Random.next, Random.next, (one, other) => {
        const digits = hex(one, 12) + hex(other, 12)
        return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7${digits.slice(12, 15)}-8${digits.slice(15, 18)}-${digits.slice(18)}000000`
      })
      return SecureRandom.of({ ...real, uuidV4: () => uuid, uuidV7: () => uuid })
    })
  )
)
