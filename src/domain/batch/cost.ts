import {
  BATCH_MULTIPLIER,
  type CostEntry,
  estimateLlmCost,
  type ModelPrice,
  type TokenUsage
} from "../cascade/cost.ts"
import type { JobId } from "../ids.ts"
import type { EndStatus } from "./row.ts"

/** What a batch job returned, counted. */
export interface BatchTally {
  /** Records in its output, errors among them. */
  readonly returned: number
  /** Of every returned record, used or not. */
  readonly usage: TokenUsage
  /** Of the accepted ones. */
  readonly acceptedUsage: TokenUsage
  readonly accepted: number
  /** Submitted and not accepted: converted on demand. */
  readonly fallback: number
}

/** A share of fallen-back pages above this is logged as a warning (BATCH-21). */
export const FALLBACK_WARNING = 0.2

export const fallbackShare = ({ accepted, fallback }: BatchTally): number =>
  accepted + fallback === 0 ? 0 : fallback / (accepted + fallback)

/** US dollars: list price of all tokens, times {@link BATCH_MULTIPLIER}. */
export const batchCost = (tally: BatchTally, price: ModelPrice): number =>
  estimateLlmCost(tally.usage, price) * BATCH_MULTIPLIER

/** What the lane saved: the on-demand price of the accepted answers that were served, less what it cost. */
export const savedUsd = (batch: {
  readonly accepted: number
  readonly served: number
  readonly onDemandUsd: number
  readonly costUsd: number
}): number => (batch.accepted === 0 ? 0 : (batch.onDemandUsd * batch.served) / batch.accepted) - batch.costUsd

/** Tokens that a page takes in the lane before any batch job has shown it: a dense one's. */
const ASSUMED: TokenUsage = { inputTokens: 4_000, outputTokens: 2_000 }

/** What a page is taken to cost in the lane, US dollars. */
export const assumedPageUsd = (price: ModelPrice): number =>
  estimateLlmCost(ASSUMED, price) * BATCH_MULTIPLIER

/**
 * The one ledger entry of a batch job (BATCH-30); undefined where it returned nothing. `onDemandUsd` is what the accepted answers
 * would have cost on demand: the lane saved that, less the cost.
 */
export const batchCostEntry = (
  batch: {
    readonly id: string
    readonly jobId: JobId
    readonly arn: string
    readonly model: string
    readonly end: EndStatus
  },
  tally: BatchTally,
  price: ModelPrice
): CostEntry | undefined =>
  tally.returned === 0
    ? undefined
    : {
        id: batch.id,
        jobId: batch.jobId,
        chunkId: undefined,
        source: "batch",
        backend: "chunked-vision",
        model: batch.model,
        usage: tally.usage,
        costUsd: batchCost(tally, price),
        metadata: {
          batch: true,
          batchMultiplier: BATCH_MULTIPLIER,
          batchJobArn: batch.arn,
          accepted: tally.accepted,
          fallback: tally.fallback,
          returned: tally.returned,
          endState: batch.end,
          onDemandUsd: estimateLlmCost(tally.acceptedUsage, price)
        }
      }
