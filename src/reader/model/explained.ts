/** The reason for a block. */
export interface Reason {
  /** The stage that decided: `tags`, `regions`, `blocks`. */
  readonly stage: string
  /** The detector or rule; the block's kind where nothing else was decided. */
  readonly rule: string
  /** The features that the rule used. Sizes are in points. */
  readonly evidence?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** A block of the result, in the order of reading, and why it is one. */
export interface ExplainedBlock extends Reason {
  /** From 1. */
  readonly page: number
  readonly kind: string
  /** What it begins with. */
  readonly text: string
}
