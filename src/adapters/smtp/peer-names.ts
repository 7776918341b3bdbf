import { lookup, reverse } from "node:dns/promises"

/** How long a mail may wait for the names of its peer, milliseconds. */
const TIME_LIMIT_MS = 4_000

/** Most names of one address that are looked at. */
const MAX_NAMES = 5

/** The name is not there, or has no address: an answer, not a failure. */
const NOTHING: ReadonlySet<unknown> = new Set(["ENODATA", "ENOTFOUND"])

/** `none` where the DNS has no record; undefined where it does not answer, which is worth another try. */
const unlessThereIsNone =
  <A>(none: A) =>
  (cause: unknown): A | undefined =>
    cause instanceof Error && "code" in cause && NOTHING.has(cause.code) ? none : undefined

const leadsTo = (name: string, address: string): Promise<boolean | undefined> =>
  lookup(name, { all: true }).then(
    (found) => found.some((one) => one.address === address),
    unlessThereIsNone(false)
  )

const namesOf = async (
  address: string,
  isWanted: (name: string) => boolean
): Promise<ReadonlyArray<string> | undefined> => {
  const all = await reverse(address).catch(unlessThereIsNone<Array<string>>([]))
  if (all === undefined) return undefined
  const names = all.filter(isWanted).slice(0, MAX_NAMES)
  const genuine = await Promise.all(names.map((name) => leadsTo(name, address)))
  const found = names.filter((_, at) => genuine[at])
  return found.length === 0 && genuine.includes(undefined) ? undefined : found
}

/**
 * The wanted names that resolve to an address and back: the owner of an address can give it any reverse name, but cannot make
 * that name resolve to it. Undefined where the DNS does not answer in time.
 */
export const peerNames = (
  address: string,
  isWanted: (name: string) => boolean
): Promise<ReadonlyArray<string> | undefined> =>
  Promise.race([
    namesOf(address, isWanted),
    new Promise<undefined>((resolve) => {
      setTimeout(() => resolve(undefined), TIME_LIMIT_MS).unref()
    })
  ])
