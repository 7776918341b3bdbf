/** How many single-character edits lead from one text to the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}

/** The known name that was probably meant: at most a third of its characters differ. */
export const nearestName = (name: string, known: ReadonlyArray<string>): string | undefined => {
  let best: { readonly name: string; readonly edits: number } | undefined
  for (const candidate of known) {
    const edits = distance(name.toUpperCase(), candidate)
    if (edits <= candidate.length / 3 && (best === undefined || edits < best.edits))
      best = { name: candidate, edits }
  }
  return best?.name
}
