/** Longest name that is compared, characters. A longer one is near to none. */
const MAX_COMPARED = 64

/** How many edits lead from one text to the other: a character put in, left out or changed, or two neighbours swapped. */
const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let row: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? before[j - 2]! + 1 : substituted
      next.push(Math.min(substituted, swapped, row[j]! + 1, next[j - 1]! + 1))
    }
    before = row
    row = next
  }
  return row[b.length]!
}

/** Case and separators are how languages write a name, not which one it is: `reply_to`, `Reply-To` and `replyTo`. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "")

/** The known name that was probably meant: at most a third of its characters differ. */
export const nearestName = (name: string, known: ReadonlyArray<string>): string | undefined => {
  if (name.length > MAX_COMPARED) return undefined
  let best: { readonly name: string; readonly edits: number } | undefined
  for (const candidate of known) {
    const edits = distance(plain(name), plain(candidate))
    if (edits <= plain(candidate).length / 3 && (best === undefined || edits < best.edits))
      best = { name: candidate, edits }
  }
  return best?.name
}

/** What is said of a name that is not one of those known. */
export const unknownName = (name: string, known: ReadonlyArray<string>): string => {
  const nearest = nearestName(name, known)
  if (nearest !== undefined) return `is not known here; did you mean ${nearest}?`
  return known.length === 0
    ? "is not known here: nothing is"
    : `is not known here; known are ${known.join(", ")}`
}
