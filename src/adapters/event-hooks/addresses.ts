import { lookup, Resolver } from "node:dns/promises"

import { isPublicAddress, networksOf, parseAddress } from "../../domain/networks.ts"

/** Gives the addresses of a name. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>

/** Milliseconds for one question to one name server, and how often it is asked. */
const QUESTION_MS = 2_000
const QUESTIONS = 2

const isUnknown = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOTFOUND" || error.code === "ENODATA")

/**
 * Asks the name servers, without a thread of the pool that a silent one would hold; what they do not know is looked up as the system
 * does, with its file of hosts.
 */
export const resolveName: Resolve = async (name) => {
  const resolver = new Resolver({ timeout: QUESTION_MS, tries: QUESTIONS })
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
  if (found.length > 0) return found
  const failed = answers.find((answer) => answer.status === "rejected" && !isUnknown(answer.reason))
  if (failed?.status === "rejected") throw failed.reason
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** A host is at an address that may not be called. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused"
}

/**
 * Makes the look-up of a host: its addresses that may be called, those of the internet and those in `allowed`. It throws where there is
 * none, with a hint at what could be called.
 */
export const makeAddressCheck = (allowed: ReadonlyArray<string>, resolve: Resolve, hint: string) => {
  const isAllowed = networksOf(allowed)
  return async (hostname: string): Promise<ReadonlyArray<string>> => {
    const host = hostname.replace(/^\[(.*)\]$/, "$1")
    const addresses = parseAddress(host) === undefined ? await resolve(host) : [host]
    const free = addresses.filter((address) => isPublicAddress(address) || isAllowed(address))
    if (free.length === 0) {
      const where =
        addresses[0] === host ? "" : ` is at ${addresses.slice(0, 3).join(", ") || "no address"}, which`
      throw new AddressRefused(`${host}${where} is not one of the internet: ${hint}`)
    }
    return free
  }
}
