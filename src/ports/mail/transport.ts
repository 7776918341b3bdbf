import { Context, Effect } from "effect"

/** What a provider's adapter asks with. */
export interface TransportRequest {
  readonly method: string
  readonly headers: Headers | Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly redirect: "manual"
  readonly signal: AbortSignal
}

/** The part of an answer that the adapters read. */
export type TransportAnswer = Pick<Response, "status" | "headers"> & {
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null
}

/** A request over HTTP. Its rejection is an error of `fetch`: the adapters look in it for the system call that failed. */
export type Fetch = (url: string, request: TransportRequest) => Promise<TransportAnswer>

/**
 * Makes the adapters' requests in place of the runtime's `fetch` and sockets. It runs in the fiber of each attempt, with the attempt's
 * spans and services. Undefined: the runtime makes them.
 */
export const Transport = Context.Reference<Effect.Effect<Fetch> | undefined>("postlane/ports/Transport", {
  defaultValue: () => undefined
})

/** For an attempt: what asks in place of the runtime's own, if anything does. */
export const otherFetch: Effect.Effect<Fetch | undefined> = Effect.flatMap(
  Transport,
  (transport) => transport ?? Effect.undefined
)
