import type { LinksFrom } from "./link-targets.ts"
import type { InterfaceWords } from "./words.ts"

/** The context of rewriting a page. */
export interface RewriteContext extends LinksFrom {
  /** From 0. */
  readonly index: number
  /** The page's label; undefined where the document has no pages. */
  readonly label: string | undefined
  readonly words: InterfaceWords
  /** The document's language: elements need not repeat it. */
  readonly lang: string
  /** Number of printed tables of contents by name. */
  readonly contents: Map<string, number>
}
