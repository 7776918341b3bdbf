import type { Block } from "./block.ts"
import type { Box } from "./page-content.ts"

/** A block that is recognised before the text around it is read: a table, a figure. Its box determines its place. */
export interface Placed extends Box {
  readonly block: Block
  /** Place of its first words in the content stream, if it has words. */
  readonly order?: number | undefined
}
