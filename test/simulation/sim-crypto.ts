import { createHash } from "node:crypto"

import { NodeCrypto } from "@effect/platform-node"
import { Context, Effect, Layer, Random } from "effect"
import { type Digest } from "effect/crypto/Digest"
import { SecureRandom } from "effect/crypto/SecureRandom"

/** Real digests; ids from the seed. */
export const layerSimCrypto: Layer.Layer<Digest | SecureRandom> = Layer.mergeAll(
  NodeCrypto.layerDigest,
  Layer.effect(
    SecureRandom,
    Effect.gen(function* () {
      const real = Context.get(yield* Layer.build(NodeCrypto.layerSecureRandom), SecureRandom)
      const uuid = Effect.map(Random.next, (chance) => {
        const hex = createHash("sha256").update(String(chance)).digest("hex")
        return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
      })
      return SecureRandom.of({ ...real, uuidV4: () => uuid, uuidV7: () => uuid })
    })
  )
)
