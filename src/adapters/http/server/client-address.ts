import { BlockList, isIP } from "node:net"

import { Effect, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"

/** The proxies in front of this server whose `X-Forwarded-For` is trusted: their number, or their addresses and networks. */
export type TrustedProxies = number | ReadonlyArray<string>

/** An IPv4-mapped IPv6 address as plain IPv4. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "")

const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4")

/** Whether the host `hop` steps before this server is one of the proxies. */
const isTrusted = (trusted: TrustedProxies): ((address: string, hop: number) => boolean) => {
  if (typeof trusted === "number") return (_, hop) => hop < trusted
  const list = new BlockList()
  for (const entry of trusted) {
    const [address = "", prefix] = entry.split("/", 2)
    if (isIP(address) === 0) continue
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (address) => list.check(address, familyOf(address))
}

/**
 * The caller's address: the peer, or the last address in `X-Forwarded-For` that is no trusted proxy's. Earlier addresses
 * may be forged by the caller.
 */
export const makeClientAddress = (trusted: TrustedProxies) => {
  const trusts = isTrusted(trusted)
  return (peer: string, forwardedFor: string | undefined): string => {
    const before = (forwardedFor ?? "").split(",").map((part) => plain(part.trim()))
    let client = plain(peer)
    for (let hop = 0; isIP(client) !== 0 && trusts(client, hop); hop++) {
      const next = before.pop()
      if (next === undefined || isIP(next) === 0) break
      client = next
    }
    return client
  }
}

/** Gives handlers the caller's address in place of the proxy's. Without named proxies, no header is trusted. */
export const behindProxies = (trusted: TrustedProxies) => {
  const addressOf = makeClientAddress(trusted)
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
                addressOf(peer, request.headers["x-forwarded-for"])
              )
            })
          )
        )
}
