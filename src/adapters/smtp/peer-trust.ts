import { BlockList, isIP } from "node:net"

import { type AuthenticityRules, isOf } from "../../domain/inbound/sender-authenticity.ts"
import { peerNames } from "./peer-names.ts"

/** Whether a peer's verdict on senders is trusted; `unknown`: the DNS does not answer now. */
export type Trust = "trusted" | "stranger" | "unknown"

/** The peers that the server trusts. */
export interface PeerRules extends AuthenticityRules {
  /** `TRUSTED_MAIL_PEERS`: addresses and networks that hand over the trusted hops' mails. */
  readonly trustedPeers: ReadonlyArray<string>
}

/** How long the answer of the DNS about an address is kept, milliseconds, and of how many at once. */
const KEPT_MS = 60_000
const MAX_KEPT = 1_000

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4")

const networksOf = (entries: ReadonlyArray<string>): BlockList => {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/")
    if (isIP(address) === 0) continue
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

/** An IPv4 address as it is, however it comes. */
const bare = (address: string): string => address.replace(/^::ffff:/i, "").toLowerCase()

/**
 * Decides whom to trust: a peer that is the trusted hop (by its address, or by a name that resolves there and back), one that
 * `TRUSTED_MAIL_PEERS` names, and this machine itself. Without a named hop only this machine in an embedded run. `now` in
 * milliseconds.
 */
export const makePeerTrust = (
  { trustedHops, trustedPeers, trustsLoopback }: PeerRules,
  now: () => number
) => {
  const loopback = networksOf(["127.0.0.0/8", "::1"])
  const named = networksOf([...trustedHops, ...trustedPeers])
  const hopNames = trustedHops.filter((hop) => isIP(hop) === 0)
  const kept = new Map<string, { readonly trust: Trust; readonly since: number }>()

  const known = (peer: string): boolean => {
    const address = bare(peer)
    if (isIP(address) === 0) return false
    if (loopback.check(address, familyOf(address))) return trustsLoopback || trustedHops.length > 0
    return trustedHops.length > 0 && named.check(address, familyOf(address))
  }

  const asked = async (address: string): Promise<Trust> => {
    const names = await peerNames(address, (name) => hopNames.some((hop) => isOf(name.toLowerCase(), hop)))
    if (names === undefined) return "unknown"
    return names.length > 0 ? "trusted" : "stranger"
  }

  return {
    /** Whether a peer is trusted, as far as known without a DNS look-up. */
    isKnown: (peer: string): boolean => known(peer) || kept.get(bare(peer))?.trust === "trusted",
    of: async (peer: string): Promise<Trust> => {
      if (known(peer)) return "trusted"
      const address = bare(peer)
      if (hopNames.length === 0 || isIP(address) === 0) return "stranger"
      const before = kept.get(address)
      if (before !== undefined && now() - before.since < KEPT_MS) return before.trust
      const trust = await asked(address)
      if (trust !== "unknown") {
        if (kept.size >= MAX_KEPT) kept.clear()
        kept.set(address, { trust, since: now() })
      }
      return trust
    }
  }
}
