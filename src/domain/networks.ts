import ipaddr from "ipaddr.js"

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Longest text of an address, characters. */
const MAX_LENGTH = 45

/** An IPv4-mapped IPv6 address as sockets write it. */
const MAPPED = /^::ffff:(?=\d+\.)/i

/**
 * The address that a text names, without its zone; an IPv4-mapped one as IPv4. Only the usual spellings count: not octal and
 * hexadecimal parts or a single number, which other parsers read as an address.
 */
export const parseAddress = (text: string): Address | undefined => {
  const [bare = "", , more] = text.split("%", 3)
  const plain = bare.replace(MAPPED, "")
  if (plain.length > MAX_LENGTH || more !== undefined) return undefined
  if (!plain.includes(":")) {
    return ipaddr.IPv4.isValidFourPartDecimal(plain) ? ipaddr.IPv4.parse(plain) : undefined
  }
  if (plain.includes(".") || !ipaddr.IPv6.isValid(plain)) return undefined
  const address = ipaddr.IPv6.parse(plain)
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

/**
 * The unit that counts as one client: an IPv4 address, or the /64 network that one IPv6 subscriber has. A text that is no
 * address counts as itself.
 */
export const networkOf = (text: string): string => {
  const address = parseAddress(text)
  if (address === undefined) return text
  return "parts" in address
    ? `${address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")}::/64`
    : address.toString()
}

const rangeOf = (entry: string): ReadonlyArray<[Address, number]> => {
  const [text = "", prefix] = entry.split("/", 2)
  const address = parseAddress(text)
  if (address === undefined) return []
  const longest = address.kind() === "ipv4" ? 32 : 128
  const bits = prefix === undefined ? longest : /^\d+$/.test(prefix) ? Number(prefix) : Number.NaN
  return bits <= longest ? [[address, bits]] : []
}

/** Whether a text names an address in one of these networks (`10.0.0.0/8`, or a lone address). Entries that are neither hold nothing. */
export const networksOf = (entries: ReadonlyArray<string>): ((text: string) => boolean) => {
  const named = entries.flatMap(rangeOf)
  return (text) => {
    const address = parseAddress(text)
    return address !== undefined && ipaddr.subnetMatch(address, { named }, "other") === "named"
  }
}

/** Whether an address is this machine's own. */
export const isLoopback = networksOf(["127.0.0.0/8", "::1"])

/** Azure's host machine answers its guests at this address, which looks like a public one. */
const isHostMachine = networksOf(["168.63.129.16"])

/** IPv6 addresses that are routed on the internet. */
const isGlobalIpv6 = networksOf(["2000::/3"])

/**
 * Whether an address is one of the internet: not private, loopback, link-local, shared by a carrier, multicast, reserved, nor one that
 * stands for another address (NAT64, 6to4, Teredo). An IPv4-mapped address counts as its IPv4 address.
 */
export const isPublicAddress = (text: string): boolean => {
  const address = parseAddress(text)
  return (
    address !== undefined &&
    address.range() === "unicast" &&
    (address.kind() === "ipv4" || isGlobalIpv6(text)) &&
    !isHostMachine(text)
  )
}
