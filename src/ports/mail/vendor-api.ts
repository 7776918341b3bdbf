import { Context, type Effect } from "effect"

import type { SenderToken } from "../../domain/mail/sender-token.ts"

/** A request to another vendor's API, of a program with a sender token. */
export interface VendorRequest {
  readonly method: string
  /** Below the API's prefix, in its parts: `emails`, `batch`. */
  readonly path: ReadonlyArray<string>
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Parsed; undefined where there is none. */
  readonly body: unknown
}

/** An answer in the vendor's words; `body` becomes JSON. */
export interface VendorAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Why a request does not reach the API. */
export type VendorRefusal =
  | { readonly why: "no token" | "unknown token" | "no json" | "too large" | "unavailable" | "failed" }
  | { readonly why: "too fast"; readonly message: string; readonly retryAfterSeconds: number }

/** Where it is. */
export const VENDOR_API_PREFIX = "/resend"

/** The API of another vendor that programs speak to Postlane (FRONT-8). */
export class VendorApi extends Context.Service<
  VendorApi,
  {
    readonly answer: (request: VendorRequest, token: SenderToken) => Effect.Effect<VendorAnswer>
    readonly refuse: (refusal: VendorRefusal) => VendorAnswer
  }
>()("postlane/ports/VendorApi") {}
