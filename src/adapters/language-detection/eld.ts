import { Layer } from "effect"
import { eld } from "eld/extrasmall"

import { LanguageDetector } from "../../ports/conversion/html-assembly.ts"

/** Texts with fewer letters are too short to detect. */
const MIN_LETTERS = 40

/** Detects 60 languages by their n-grams; the smallest table, which knows whole sentences as well as the larger ones do. */
export const detectLanguage = (text: string): string | undefined => {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  if (letters < MIN_LETTERS) return undefined
  const found = eld.detect(text)
  return found.language !== "" && found.isReliable() ? found.language : undefined
}

export const layer: Layer.Layer<LanguageDetector> = Layer.succeed(
  LanguageDetector,
  LanguageDetector.of({ detect: detectLanguage })
)
