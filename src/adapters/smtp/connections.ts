/** Connections at once. */
export const MAX_CONNECTIONS = 250

/** Connections at once of one address that is not known to be trusted. */
export const MAX_OF_STRANGER = 20

/** A connection that is open. */
export interface Open {
  readonly network: string
  /** Whether its peer is known to be trusted. */
  readonly known: boolean
  /** A mail is being received. */
  busy: boolean
}

/** Decision on a new connection. `instead`: the one that is closed for it. */
type Place<A extends Open> =
  | { readonly kind: "refused" }
  | { readonly kind: "served"; readonly instead: A | undefined }

/**
 * Whether there is a place for a connection besides the open ones (oldest first). An untrusted peer has a few. When all are taken,
 * the peer with the most loses one, untrusted peers first: no peer can shut out others by holding connections.
 */
export const placeFor = <A extends Open>(
  open: Iterable<A>,
  newcomer: Pick<Open, "network" | "known">
): Place<A> => {
  const groups = new Map<string, Array<A>>()
  let total = 0
  for (const one of open) {
    total += 1
    const group = groups.get(one.network)
    if (group === undefined) groups.set(one.network, [one])
    else group.push(one)
  }
  const own = groups.get(newcomer.network)?.length ?? 0
  if (!newcomer.known && own >= MAX_OF_STRANGER) return { kind: "refused" }
  if (total < MAX_CONNECTIONS) return { kind: "served", instead: undefined }
  const idle = (group: ReadonlyArray<A>) => group.find(({ busy }) => !busy)
  const [largest] = [...groups.values()]
    .filter((group) => idle(group) !== undefined)
    .filter(
      (group) =>
        (newcomer.known && !group[0]!.known) || (group.length > own + 1 && newcomer.known === group[0]!.known)
    )
    .toSorted((a, b) => Number(a[0]!.known) - Number(b[0]!.known) || b.length - a.length)
  return largest === undefined ? { kind: "refused" } : { kind: "served", instead: idle(largest) }
}
