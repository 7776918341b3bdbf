import { Effect, Layer } from "effect"

import type { KnownStore, StoreName } from "../../../domain/store-identity.ts"
import { StoreIdentities } from "../../../ports/store-identities.ts"

/** The known object stores in a map, for a database without files. */
export const layer: Layer.Layer<StoreIdentities> = Layer.sync(StoreIdentities, () => {
  const stores = new Map<StoreName, KnownStore>()
  return StoreIdentities.of({
    known: (name) => Effect.sync(() => stores.get(name)),
    claim: (name, store) =>
      Effect.sync(() => {
        const known = stores.get(name) ?? store
        stores.set(name, known)
        return known
      }),
    adopt: (name, store) => Effect.sync(() => void stores.set(name, store)),
    recentFile: Effect.undefined
  })
})
