import type { PageAnalysis } from "../lines/analysis.ts"
import { hyphensOf } from "../lines/hyphens.ts"
import { type InlineContext, LinkIndex } from "../lines/inline.ts"
import type { DocumentProfile } from "./profile.ts"

/** What the words of a page are written with: its faces and links, what bold means on it, what becomes of its hyphens. */
export const inlineContextOf = (
  { fonts, hyphens, page }: PageAnalysis,
  { bodyBold, statistics }: DocumentProfile
): InlineContext => ({
  fonts,
  links: new LinkIndex(page.links),
  ignoreBold: bodyBold,
  hyphens: hyphensOf(hyphens, statistics.hyphens)
})
