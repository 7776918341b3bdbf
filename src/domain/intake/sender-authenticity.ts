import { Result } from "effect"

import { asciiDomain, type Mailbox, parseMailbox } from "../mail/address.ts"
import { parseAuthenticationResults } from "./authentication-results.ts"
import { headerValues, type IncomingMail } from "./incoming-mail.ts"

/** Whom we believe about senders. */
export interface AuthenticityRules {
  /** `TRUSTED_MAIL_HOPS`: names of mail servers, in lower case. */
  readonly trustedHops: ReadonlyArray<string>
  /** Embedded and without named hops: a peer on loopback is believed without a header. */
  readonly trustsLoopback: boolean
}

/** Who delivered a mail. */
export interface Peer {
  /** The address that it connected from; undefined where a platform delivers (edge). */
  readonly address: string | undefined
  /** Names that lead to that address and back. */
  readonly names: ReadonlyArray<string>
}

/** Whether the sender of a mail is who it says. The reason is for the log. */
export type Authenticity = { readonly verified: true } | { readonly verified: false; readonly reason: string }

/** Whether `name` is the hop or stands below it. */
const isOf = (name: string, hop: string): boolean => name === hop || name.endsWith(`.${hop}`)

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/i
/** Networks of one's own (RFC 1918, RFC 4193, link-local): what stands between us and the world is the operator's. */
const PRIVATE =
  /^(?:::ffff:)?(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.)|^f[cd][\da-f]{2}:|^fe[89ab][\da-f]:/i

export const isLoopback = (address: string): boolean => LOOPBACK.test(address)

/**
 * Whether what a peer's headers say can be the trusted hop's: it is the hop (by its address, or by a name that leads there and
 * back), or it reaches us from within our own network. A stranger who connects directly can write any header.
 */
export const isTrustedPeer = (peer: Peer, { trustedHops, trustsLoopback }: AuthenticityRules): boolean => {
  const { address } = peer
  if (address === undefined) return true
  if (isLoopback(address)) return trustsLoopback || trustedHops.length > 0
  if (trustedHops.length === 0) return false
  const bare = address.replace(/^::ffff:/i, "").toLowerCase()
  return (
    PRIVATE.test(address) ||
    trustedHops.some((hop) => hop === bare || peer.names.some((name) => isOf(name.toLowerCase(), hop)))
  )
}

/** The one sender of a mail; undefined where there is none, or more than one. */
export const senderOf = (mail: Pick<IncomingMail, "from" | "headers">): Mailbox | undefined => {
  const [address, ...more] = mail.from
  if (address === undefined || more.length > 0 || headerValues(mail, "from").length !== 1) return undefined
  return Result.getOrUndefined(parseMailbox(address))
}

/**
 * Whether the sender verifiably sent the mail: DMARC passed, says the topmost `Authentication-Results` of a trusted hop
 * (contract, "Convert-by-email"). A hop takes out those that claim to be its own before it adds its own on top; headers of
 * others are not looked at. `peerTrusted`: see {@link isTrustedPeer}, asked when the mail came in.
 */
export const authenticityOf = (
  mail: Pick<IncomingMail, "headers">,
  sender: Mailbox,
  peerTrusted: boolean,
  { trustedHops, trustsLoopback }: AuthenticityRules
): Authenticity => {
  const no = (reason: string): Authenticity => ({ verified: false, reason })
  if (!peerTrusted) return no("it did not come from a trusted mail hop")
  if (trustedHops.length === 0) {
    return trustsLoopback ? { verified: true } : no("no trusted mail hop is named (TRUSTED_MAIL_HOPS)")
  }
  const said = headerValues(mail, "authentication-results")
    .map(parseAuthenticationResults)
    .find((read) => read !== undefined && trustedHops.some((hop) => isOf(read.server, hop)))
  if (said === undefined) return no("no trusted mail hop says whether the sender is genuine")
  const dmarc = said.results.filter(({ method }) => method === "dmarc")
  if (dmarc.length === 0) return no(`${said.server} says nothing about DMARC`)
  const failed = dmarc.find(({ result }) => result !== "pass")
  if (failed !== undefined) return no(`DMARC ${failed.result}, says ${said.server}`)
  const other = dmarc.find(({ properties }) => {
    const from = properties.get("header.from")
    return from !== undefined && asciiDomain(from.slice(from.lastIndexOf("@") + 1)) !== sender.domain
  })
  return other === undefined ? { verified: true } : no("DMARC passed for another domain than the sender's")
}
