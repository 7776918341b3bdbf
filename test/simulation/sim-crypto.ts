import { hash } from "node:crypto"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer } from "effect"
import { Digest } from "effect/crypto/Digest"
import { SecureRandom } from "effect/crypto/SecureRandom"

import type { Chance } from "./kernel.ts"

const built = Effect.runSync(
  Effect.scoped(Layer.build(Layer.merge(NodeCrypto.layerDigest, NodeCrypto.layerSecureRandom)))
)
const real = { digest: Context.get(built, Digest), random: Context.get(built, SecureRandom) }

const sixDigits = (number: number) => number.toString(16).padStart(6, "0")

/** Twelve digits, in two parts: V8 writes small whole numbers much faster than large ones. */
const hex = ({ int }: Chance) => {
  const number = int(0, 2 ** 48)
  const high = (number / 2 ** 24) | 0
  return sixDigits(high) + sixDigits((number - high * 2 ** 24) | 0)
}

/** Real digests; ids from the seed. */
export const simCrypto = (chance: Chance): Context.Context<Digest | SecureRandom> => {
  const uuid = Effect.sync(() => {
    const [one, other] = [hex(chance), hex(chance)]
    return `${one.slice(0, 8)}-${one.slice(8)}-7${other.slice(0, 3)}-8${other.slice(3, 6)}-${other.slice(6)}000000`
  })
  return Context.make(SecureRandom, { ...real.random, uuidV4: () => uuid, uuidV7: () => uuid }).pipe(
    Context.add(Digest, {
      ...real.digest,
      digestHex: ({ name }, data) => Effect.sync(() => hash(name, data))
    })
  )
}
