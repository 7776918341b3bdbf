import { Context, type Effect } from "effect"

import type { KnownStore, StoreName } from "../domain/store-identity.ts"
import type { StoreUnavailable } from "./store-unavailable.ts"

/** Which object store belongs to this database, one of each name. */
export class StoreIdentities extends Context.Service<
  StoreIdentities,
  {
    readonly known: (name: StoreName) => Effect.Effect<KnownStore | undefined, StoreUnavailable>
    /** Makes a store the known one if none is known yet; returns the known one. */
    readonly claim: (name: StoreName, store: KnownStore) => Effect.Effect<KnownStore, StoreUnavailable>
    /** Makes a store the known one, whichever it was. */
    readonly adopt: (name: StoreName, store: KnownStore) => Effect.Effect<void, StoreUnavailable>
    /** The key of a recent file that the store of files must hold; undefined without such a file. */
    readonly recentFile: Effect.Effect<string | undefined, StoreUnavailable>
  }
>()("postlane/ports/StoreIdentities") {}
