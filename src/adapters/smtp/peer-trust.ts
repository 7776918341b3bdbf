import { type AuthenticityRules, isOf } from "../../domain/inbound/sender-authenticity.ts"
import { isLoopback, networksOf, parseAddress } from "../../domain/networks.ts"
import { peerNames } from "./peer-names.ts"

/** Whether a peer's verdict on senders is trusted; `unknown`: the DNS does not answer now. */
export type Trust = "trusted" | "stranger" | "unknown"

/** The peers that the server trusts. */
export interface PeerRules extends AuthenticityRules {
  /** `TRUSTED_MAIL_PEERS`: addresses and networks that hand over the trusted hops' mails. */
  readonly trustedPeers: ReadonlyArray<string>
  /** True where delivery reports are all that is taken: these prove themselves, and no hop has to vouch for their senders. */
  readonly reportsAlone?: boolean
}

/** How long the answer of the DNS about an address is kept, milliseconds, and of how many at once. */
const KEPT_MS = 60_000
const MAX_KEPT = 1_000

const plain = (peer: string): string | undefined => parseAddress(peer)?.toString()

/**
 * Decides whom to trust: a peer that is the trusted hop (by its address, or by a name that resolves there and back), one that
 * `TRUSTED_MAIL_PEERS` names, and this machine itself. Without a named hop only this machine in an embedded run, or where
 * delivery reports alone are taken. `now` in milliseconds.
 */
export const makePeerTrust = (
  { reportsAlone = false, trustedHops, trustedPeers, trustsLoopback }: PeerRules,
  now: () => number
) => {
  const isNamed = networksOf([...trustedHops, ...trustedPeers])
  const hopNames = trustedHops.filter((hop) => parseAddress(hop) === undefined)
  const kept = new Map<string, { readonly trust: Trust; readonly since: number }>()

  const named = trustedHops.length > 0 || reportsAlone
  const known = (peer: string): boolean =>
    isLoopback(peer) ? trustsLoopback || named : named && isNamed(peer)

  const asked = async (address: string): Promise<Trust> => {
    const names = await peerNames(address, (name) => hopNames.some((hop) => isOf(name.toLowerCase(), hop)))
    if (names === undefined) return "unknown"
    return names.length > 0 ? "trusted" : "stranger"
  }

  return {
    /** Whether a peer is trusted, as far as known without a DNS look-up. */
    isKnown: (peer: string): boolean => known(peer) || kept.get(plain(peer) ?? "")?.trust === "trusted",
    of: async (peer: string): Promise<Trust> => {
      if (known(peer)) return "trusted"
      const address = plain(peer)
      if (hopNames.length === 0 || address === undefined) return "stranger"
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
