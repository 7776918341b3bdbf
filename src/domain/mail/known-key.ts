import type { KeyTag } from "../ids.ts"
import type { Provider } from "./provider.ts"

/** What the process knows of a key that the store may not know. */
export interface KnownKey {
  readonly provider: Provider
  readonly tag: KeyTag | undefined
  /** How long ago the first and the last attempt on it were, milliseconds. */
  readonly ageMs: number
  readonly lastAgeMs: number
}
