import { Context, type Duration, type Effect } from "effect"

import type { CustomerId, KeyHash, LeaseId } from "../../domain/ids.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A request of an account under an idempotency key, both as SHA-256. */
export interface KeyedRequest {
  readonly customerId: CustomerId
  readonly keyHash: KeyHash
  readonly requestHash: string
}

/** A key, held by one attempt at its call. */
export interface HeldKey extends Pick<KeyedRequest, "customerId" | "keyHash"> {
  /** The same for every attempt: what the call makes has ids that follow from it. */
  readonly callId: string
  readonly lease: LeaseId
}

/** Where a key stands. */
export type KeyState =
  | { readonly state: "held"; readonly callId: string }
  | { readonly state: "answered"; readonly answer: unknown; readonly contentHash: string | null }
  | { readonly state: "busy" | "other_request" }

type Store<A> = Effect.Effect<A, StoreUnavailable>

/**
 * Idempotency keys of calls over HTTP (HTTP-16), for 24 hours each. Attempts at one call may overlap, for an attempt whose lease has
 * run out may be alive: none of them makes what another has made, since all have the ids of the call.
 */
export class RequestKeys extends Context.Service<
  RequestKeys,
  {
    /** Begins an attempt. `callId` is that of a new call. May be repeated with the same lease. */
    readonly hold: (
      attempt: KeyedRequest & Omit<HeldKey, "keyHash"> & { readonly window: Duration.Duration }
    ) => Store<KeyState>
    /** Says that the attempt is alive. */
    readonly renew: (held: HeldKey, window: Duration.Duration) => Store<void>
    /** Notes the content that the call is about, the first time; false where it is another one, or the key was given back. */
    readonly noteContent: (held: HeldKey, contentHash: string) => Store<boolean>
    /** Keeps the answer, which is JSON, and returns the one that is kept: the first. Undefined where the key was given back. */
    readonly answer: (held: HeldKey, answer: unknown) => Store<unknown>
    /**
     * Ends an attempt without an answer. The key is free again if the only attempt at its call `changedNothing`; else the same request
     * may go on with it at once, under the same ids.
     */
    readonly giveBack: (held: HeldKey, changedNothing: boolean) => Store<void>
  }
>()("postlane/ports/RequestKeys") {}
