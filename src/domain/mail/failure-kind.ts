import { Schema } from "effect"

/**
 * What a provider's error says about acceptance (document 1, "Failover rules").
 *
 * - `rejected`: this message was refused; no provider would take it.
 * - `unavailable`: proof that it was not accepted, and that another provider may.
 * - `ambiguous`: it may or may not have been accepted.
 */
export const FailureKind = Schema.Literals(["rejected", "unavailable", "ambiguous"])
export type FailureKind = typeof FailureKind.Type

/** True where the failure proves that no copy left. */
export const provesNonAcceptance = (kind: FailureKind): boolean => kind !== "ambiguous"

/**
 * Sticky ambiguity: once any attempt on a key was ambiguous, a copy may be out, so that no later failure on the key
 * is certain any more (invariant S2).
 */
export const stickyKind = (keyIsAmbiguous: boolean, kind: FailureKind): FailureKind =>
  keyIsAmbiguous ? "ambiguous" : kind
