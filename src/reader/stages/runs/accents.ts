/** Spacing accents, the combining marks that they mean, and their form in a formula. */
const ACCENTS = [
  ["ˆ", "\u0302", "^"],
  ["˜", "\u0303", "~"],
  ["¯", "\u0304", "¯"],
  ["˙", "\u0307", "˙"],
  ["¨", "\u0308", "¨"],
  ["ˇ", "\u030c", "ˇ"],
  ["˘", "\u0306", "˘"],
  ["´", "\u0301", "´"],
  ["\u20d7", "\u20d7", "→"]
] as const

/** What an accent over a letter is written with in a formula. */
export const ACCENT: ReadonlyMap<string, string> = new Map([
  ["^", "^"],
  ...ACCENTS.flatMap(([sign, mark, shown]) => [[sign, shown] as const, [mark, shown] as const])
])

/** The mark of a letter that an accent means. */
export const MARK: ReadonlyMap<string, string> = new Map(ACCENTS.map(([sign, mark]) => [sign, mark]))
