import type { PageAnalysis } from "../lines/analysis.ts"
import { type KnownWords, WORDS } from "../lines/inline.ts"
import { segmentText } from "../lines/segment.ts"

/** The words of pages. Their lines are read when it is first asked, and once. */
export const knownWords = (pages: ReadonlyArray<PageAnalysis>): (() => KnownWords) => {
  let known: KnownWords | undefined
  return () => {
    if (known !== undefined) return known
    const [all, inside] = [new Set<string>(), new Set<string>()]
    for (const { segments } of pages)
      for (const segment of segments)
        for (const [at, word] of (segmentText(segment).match(WORDS) ?? []).entries()) {
          all.add(word.toLowerCase())
          if (at > 0) inside.add(word)
        }
    known = { all, inside }
    return known
  }
}
