const HOUR_MS = 3_600_000

/** Addresses that are counted at once; what is left of a flood of them is cut at its oldest. */
const MAX_ADDRESSES = 10_000

/** Counts the mails that each sender begins within an hour. `now` in milliseconds. */
export const makeSenderRate = (limitAnHour: number, now: () => number) => {
  /** In the order in which their hours began. */
  const counts = new Map<string, { readonly since: number; count: number }>()

  const forget = (at: number) => {
    for (const [address, { since }] of counts) {
      if (at - since < HOUR_MS && counts.size < MAX_ADDRESSES) return
      counts.delete(address)
    }
  }

  /** Counts one; false where it is one too many. The null sender is never one too many. */
  return (address: string): boolean => {
    if (address === "") return true
    const key = address.toLowerCase()
    const at = now()
    forget(at)
    const known = counts.get(key)
    if (known !== undefined) {
      known.count += 1
      return known.count <= limitAnHour
    }
    counts.set(key, { since: at, count: 1 })
    return true
  }
}
