import type { CostEntry } from "../../domain/cascade/cost.ts"
import type { Making } from "../../domain/conversion/making.ts"

/** How the pages of a chunk's result came about. */
export interface ChunkPages {
  /** Pages that the model or the account refused, or gave no answer to. */
  readonly unanswered?: number
  /** Pages that were answered from batch results. */
  readonly served?: number
}

/** What is known of a result that was made in one go. */
export interface InlineFound {
  readonly pages: number | undefined
  readonly hasText: boolean
  readonly noModelPages?: ReadonlyArray<number>
  readonly made?: Making
}

/** How an attempt of inline or layout-true work ended without a result. */
export interface InlineFailure {
  readonly error?: string
  readonly costs: ReadonlyArray<CostEntry>
  /** Absent: its worker stops, and the attempt does not count. */
  readonly maxAttempts?: number
}
