const HOUR_MS = 3_600_000

/** Addresses that are counted at once; beyond that the oldest are dropped. */
const MAX_ADDRESSES = 10_000

/** Counts what each peer does within an hour. `now` in milliseconds. */
export const makePeerRate = (limitAnHour: number, now: () => number) => {
  /** In the order in which their hours began. */
  const counts = new Map<string, { readonly since: number; count: number }>()

  const forget = (at: number) => {
    for (const [address, { since }] of counts) {
      if (at - since < HOUR_MS && counts.size < MAX_ADDRESSES) return
      counts.delete(address)
    }
  }

  /** How many are counted of a peer's hour that is not over. */
  const counted = (peer: string): number => {
    forget(now())
    return counts.get(peer)?.count ?? 0
  }

  return {
    /** Counts one; false where it is one too many. */
    take: (peer: string): boolean => {
      const before = counted(peer)
      if (before === 0) counts.set(peer, { since: now(), count: 1 })
      else counts.get(peer)!.count = before + 1
      return before < limitAnHour
    },
    /** Whether the next one would be too many. */
    isOver: (peer: string): boolean => counted(peer) >= limitAnHour
  }
}
