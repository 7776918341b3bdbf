import { Context, type Effect } from "effect"

import type { StoreUnavailable } from "../store-unavailable.ts"

/**
 * The key to send a mail under now. `new`: nothing under it was ever deferred or accepted. `deferred`: its retries are under way.
 * `sent`: a provider accepted it.
 */
export interface OpenKey {
  readonly key: string
  readonly state: "new" | "deferred" | "sent"
}

/**
 * How deferred sends ended, by the send log. A caller is answered `deferred` long before that end, and the relay repeats
 * that answer for as long as it remembers the key: to send the mail after all, a caller uses the open key (R3).
 */
export class Deferrals extends Context.Service<
  Deferrals,
  {
    /**
     * The key itself; where its deferral ended without a mail, `KEY/2`, then `KEY/3`, and so on. Derived from the log's
     * rows at every call, so that no end has to be recorded. A deferral without any outcome for 24 hours has failed: no
     * retry goes out after that.
     */
    readonly openKey: (key: string) => Effect.Effect<OpenKey, StoreUnavailable>
  }
>()("postlane/ports/Deferrals") {}
