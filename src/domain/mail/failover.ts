import type { FailureKind } from "./failure-kind.ts"
import type { Provider } from "./provider.ts"

/** Where a send may go. */
export interface Route {
  readonly first: Provider
  /** Tried once, and only after `first` proved that it did not accept. Never equal to `first`. */
  readonly fallback: Provider | undefined
}

/** What is configured, what the request pins, and what an earlier attempt on the key may have reached. */
export interface RouteInput {
  readonly primary: Provider
  readonly fallback: Provider | undefined
  readonly pinned: Provider | undefined
  /** The provider that an ambiguous attempt on this key went to; nothing but that one may see the key again (S2). */
  readonly sticky: Provider | undefined
}

/** Chooses the route of a send (document 1, "Send flow", "Pinned send"; invariants S2, S3). */
export const routeOf = (input: RouteInput): Route => {
  const only = input.sticky ?? input.pinned
  if (only !== undefined) return { first: only, fallback: undefined }
  return {
    first: input.primary,
    fallback: input.fallback === input.primary ? undefined : input.fallback
  }
}

/** The provider to try after a failure of `route.first`, if any: only `unavailable` fails over, once (S3). */
export const failoverTarget = (route: Route, kind: FailureKind): Provider | undefined =>
  kind === "unavailable" ? route.fallback : undefined
