import { Schema } from "effect"

import type { Provider } from "./provider.ts"

/** How long a provider that dedupes remembers a key, and so how long a key of ours keeps its meaning (MAIL-40). */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000

/** True while a provider may still be asked on a key, `sinceFirstMs` after its first attempt (S1). */
export const withinWindow = (sinceFirstMs: number): boolean => sinceFirstMs < IDEMPOTENCY_WINDOW_MS

/**
 * What a provider's error says about acceptance (MAIL-30 to MAIL-35).
 *
 * - `rejected`: this message was refused; no provider would take it.
 * - `unavailable`: proof that it was not accepted, and that another provider may.
 * - `ambiguous`: it may or may not have been accepted.
 *
 * @since 0.1.0
 * @category models
 */
export const FailureKind = Schema.Literals(["rejected", "unavailable", "ambiguous"])
export type FailureKind = typeof FailureKind.Type

/** Whether the failure proves that no copy left. */
export const provesNonAcceptance = (kind: FailureKind): boolean => kind !== "ambiguous"

/**
 * Sticky ambiguity: once any attempt on a key was ambiguous, a copy may be out, so that no later failure on the key is
 * certain any more (S2).
 */
export const stickyKind = (keyIsAmbiguous: boolean, kind: FailureKind): FailureKind =>
  keyIsAmbiguous ? "ambiguous" : kind

/** Where a send may go. */
export interface Route {
  readonly first: Provider
  /** Tried once, and only after `first` proved that it did not accept. Never equal to `first`. */
  readonly fallback: Provider | undefined
}

/** The route that the settings and the request choose (MAIL-20, MAIL-21, S3). */
export const routeOf = (
  { fallback, primary }: { readonly primary: Provider; readonly fallback: Provider | undefined },
  pinned: Provider | undefined
): Route =>
  pinned === undefined
    ? { first: primary, fallback: fallback === primary ? undefined : fallback }
    : { first: pinned, fallback: undefined }

/** The route once an earlier attempt on the key was ambiguous: nothing but its provider may see the key again (S2). */
export const stickTo = (sticky: Provider | undefined, route: Route): Route =>
  sticky === undefined ? route : { first: sticky, fallback: undefined }

/** The provider to try after a failure of `route.first`, if any: only `unavailable` fails over, once (S3). */
export const failoverTarget = (route: Route, kind: FailureKind): Provider | undefined =>
  kind === "unavailable" ? route.fallback : undefined

/** What follows an attempt that was not accepted, or may not have been. */
type AfterFailure =
  | { readonly _tag: "FailOver"; readonly to: Provider }
  /** The same provider is asked again later, on the same key. */
  | { readonly _tag: "Defer" }
  | { readonly _tag: "End"; readonly kind: FailureKind }

/** Decides it for an attempt at `route.first` that ended as `kind`. `keyIsAmbiguous`: an earlier attempt on the key was. */
export const afterFailure = (route: Route, keyIsAmbiguous: boolean, kind: FailureKind): AfterFailure => {
  const to = keyIsAmbiguous ? undefined : failoverTarget(route, kind)
  if (to !== undefined) return { _tag: "FailOver", to }
  const ofKey = stickyKind(keyIsAmbiguous, kind)
  return ofKey === "ambiguous" && kind !== "rejected" ? { _tag: "Defer" } : { _tag: "End", kind: ofKey }
}

/** What became of a claim's move: `passed` where it is not the caller's any more, `unknown` without an answer in time. */
export type Moved = "stored" | "passed" | "unknown"

/** A send that holds a claim turns to another provider only where the store says so; one without a claim always does. */
export const mayGoOn = (holdsClaim: boolean, moved: Moved): boolean => !holdsClaim || moved === "stored"

/** The longest text of a provider that is passed on, in characters. */
const MAX_TEXT = 300
const MAX_CODE = 64

// oxlint-disable-next-line no-control-regex -- the point is to strip them
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]+/g
const LOCAL_PART = /(?<![^\s<>"'`(),;:/@])[^\s<>"'`(),;:/@]+(?=@)/g

/**
 * A provider's error text, safe for a log line and for the caller: one line, at most 300 characters, without the given
 * secrets and without the part before the @ of any address.
 */
export const failureText = (text: string, secrets: Iterable<string> = []): string => {
  let safe = text
  for (const secret of secrets) if (secret !== "") safe = safe.replaceAll(secret, "…")
  safe = safe
    .slice(0, 10 * MAX_TEXT)
    .replace(BLANK_OR_CONTROL, " ")
    .replace(LOCAL_PART, "…")
    .trim()
  return safe.length <= MAX_TEXT ? safe : `${safe.slice(0, MAX_TEXT - 1)}…`
}

/** What is said of a provider that gave no answer: who, where, why, and what to look at. */
export const noAnswer = (
  provider: Provider,
  {
    address,
    cause,
    settings
  }: { readonly address: string; readonly cause: string; readonly settings: string }
): string => `${provider} gave no answer at ${address}: ${cause}. Check the network and ${settings}`

/** A provider's error name, cut to a safe length; `undefined` for anything that is no name. */
export const failureCode = (name: unknown): string | undefined =>
  typeof name === "string" && /^[\x21-\x7e]+$/.test(name) ? name.slice(0, MAX_CODE) : undefined
