import { Effect, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"

import { parseAddress, networksOf } from "../../../domain/networks.ts"

/** The proxies in front of this server with a trusted `X-Forwarded-For`: their number, or their addresses and networks. */
export type TrustedProxies = number | ReadonlyArray<string>

/** Whether the host `hop` steps before this server is one of the proxies. */
const isTrusted = (trusted: TrustedProxies): ((address: string, hop: number) => boolean) =>
  typeof trusted === "number" ? (_, hop) => hop < trusted : networksOf(trusted)

/**
 * The caller's address: the peer, or the last address in `X-Forwarded-For` that is no trusted proxy's. Earlier addresses
 * may be forged by the caller.
 */
export const makeClientAddress = (trusted: TrustedProxies) => {
  const trusts = isTrusted(trusted)
  return (peer: string, forwardedFor: string | undefined): string => {
    const before = (forwardedFor ?? "").split(",")
    let client = peer
    for (let hop = 0; parseAddress(client) !== undefined && trusts(client, hop); hop++) {
      const next = before.pop()?.trim()
      if (next === undefined || parseAddress(next) === undefined) break
      client = next
    }
    return parseAddress(client)?.toString() ?? client
  }
}

/** Gives handlers the caller's address in place of the proxy's. Without named proxies, no header is trusted. */
export const behindProxies = (trusted: TrustedProxies) => {
  const clientOf = makeClientAddress(trusted)
  const none = typeof trusted === "number" ? trusted === 0 : trusted.length === 0
  return <E, R>(
    handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
    none
      ? handler
      : Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.provideService(
            handler,
            HttpServerRequest.HttpServerRequest,
            request.modify({
              remoteAddress: Option.map(request.remoteAddress, (peer) =>
                clientOf(peer, request.headers["x-forwarded-for"])
              )
            })
          )
        )
}
