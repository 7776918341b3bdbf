/** Texts with fewer letters are too short to detect. */
const MIN_LETTERS = 40

/**
 * Detects 60 languages by their n-grams; the smallest table, which knows whole sentences as well as the larger ones do. It is loaded
 * for the first text: most of what starts here needs none, and it takes as long as the rest of a command.
 */
export const detectLanguage = async (text: string): Promise<string | undefined> => {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  if (letters < MIN_LETTERS) return undefined
  const { eld } = await import("eld/extrasmall")
  const found = eld.detect(text)
  return found.language !== "" && found.isReliable() ? found.language : undefined
}
