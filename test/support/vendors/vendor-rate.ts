/** Counts requests against an account's rate: true where one more than it allows came within a second. */
export const makeVendorRate = (perSecond: number | undefined, now: () => number): (() => boolean) => {
  const taken: Array<number> = []
  return () => {
    if (perSecond === undefined) return false
    while (taken.length > 0 && taken[0]! <= now() - 1_000) taken.shift()
    if (taken.length >= perSecond) return true
    taken.push(now())
    return false
  }
}
