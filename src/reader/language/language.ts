/** Texts with fewer letters are too short to detect. */
const MIN_LETTERS = 40

/**
 * Detects 60 languages by their n-grams; the smallest table, which knows whole sentences as well as the larger ones do. It is loaded
 * when it is known to be needed: most of what starts here needs none, and it takes as long as the rest of a command.
 */
const load = () => import("eld/extrasmall")

/** Loads the table ahead of the first text. */
export const loadDetector = async (): Promise<void> => {
  await load()
}

/** The language of a text; undefined where it is too short or too mixed. */
export const detectLanguage = async (text: string): Promise<string | undefined> => {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  if (letters < MIN_LETTERS) return undefined
  const { eld } = await load()
  const found = eld.detect(text)
  return found.language !== "" && found.isReliable() ? found.language : undefined
}
