import { lookup, reverse } from "node:dns/promises"

/** How long a mail may wait for the names of its peer, milliseconds. */
const TIME_LIMIT_MS = 4_000

/** Most names of one address that are looked at. */
const MAX_NAMES = 5

const leadsTo = async (name: string, address: string): Promise<boolean> => {
  try {
    const found = await lookup(name, { all: true })
    return found.some((one) => one.address === address)
  } catch {
    return false
  }
}

const namesOf = async (address: string): Promise<ReadonlyArray<string>> => {
  try {
    const names = (await reverse(address)).slice(0, MAX_NAMES)
    const genuine = await Promise.all(names.map((name) => leadsTo(name, address)))
    return names.filter((_, at) => genuine[at])
  } catch {
    // An address without names is like any other.
    return []
  }
}

/** Names that lead to an address and back: whoever has an address can give it any name, but not the other way. */
export const peerNames = (address: string): Promise<ReadonlyArray<string>> =>
  Promise.race([
    namesOf(address.replace(/^::ffff:/i, "")),
    new Promise<ReadonlyArray<string>>((resolve) => {
      setTimeout(() => resolve([]), TIME_LIMIT_MS).unref()
    })
  ])
