/** Transactions that each sender began within the hour: a count for each address and hour, old ones forgotten. */
export const makeSenderRate = (limitAnHour: number, now: () => number) => {
  const HOUR = 3_600_000
  /** Beyond it, hours that are over are forgotten; what is left of a flood is cut at its oldest. */
  const MAX_ADDRESSES = 10_000
  const counts = new Map<string, { readonly since: number; count: number }>()

  const forget = (at: number) => {
    for (const [address, { since }] of counts) if (at - since >= HOUR) counts.delete(address)
    for (const address of counts.keys()) {
      if (counts.size < MAX_ADDRESSES) return
      counts.delete(address)
    }
  }

  /** Counts one; false where it is one too many. The null sender is never one too many. */
  return (address: string): boolean => {
    if (address === "") return true
    const key = address.toLowerCase()
    const at = now()
    const known = counts.get(key)
    if (known !== undefined && at - known.since < HOUR) {
      known.count += 1
      return known.count <= limitAnHour
    }
    if (counts.size >= MAX_ADDRESSES) forget(at)
    counts.set(key, { since: at, count: 1 })
    return true
  }
}
