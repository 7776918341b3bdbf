import { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"

/** The error of a store that is away. */
export const storeDown = (cause: unknown = "down"): StoreUnavailable =>
  new StoreUnavailable({ operation: "test", reason: String(cause), isRetryable: true, cause })

/** The error of a store that is there, and does not take what it was given. */
export const refused = (): StoreUnavailable =>
  new StoreUnavailable({ operation: "test", reason: "refused", isRetryable: false })
