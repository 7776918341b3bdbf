import { Effect } from "effect"

import type { VisionModel } from "../../../ports/conversion/vision-model.ts"

/** Tokens as a model reports them. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** List prices of a model, US dollars a million tokens (settings `HIFI_INPUT_USD_PER_MTOK`, `HIFI_OUTPUT_USD_PER_MTOK`). */
export interface ModelPrice {
  readonly inputUsdPerMtok: number
  readonly outputUsdPerMtok: number
}

/** Which part of the service spent it. */
type CostSource = "chunk-scheduler" | "batch" | "inline" | "flyer" | "convert-email"

/** A row of `cost_ledger`. `id` makes booking it idempotent. */
export interface CostEntry {
  readonly id: string
  readonly jobId: string | undefined
  readonly chunkId: string | undefined
  readonly source: CostSource
  readonly backend: string
  readonly model: string | undefined
  readonly usage: TokenUsage
  readonly costUsd: number
  readonly metadata: Readonly<Record<string, unknown>>
}

/** The batch lane's share of the list price (BATCH-30). */
export const BATCH_MULTIPLIER = 0.5

export const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0 }

/** The sum of two usages. */
export const addUsage = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens
})

/** List price of the tokens, US dollars. */
export const estimateLlmCost = ({ inputTokens, outputTokens }: TokenUsage, price: ModelPrice): number =>
  (inputTokens * price.inputUsdPerMtok + outputTokens * price.outputUsdPerMtok) / 1_000_000

/** What one attempt used. */
export interface Meter {
  /** Tokens of on-demand answers, used or not; batch-served pages are left out (BATCH-31). */
  usage: TokenUsage
  /** On-demand answers. */
  calls: number
  /** Answers from the batch. */
  batchServed: number
}

export const makeMeter = (): Meter => ({ usage: NO_TOKENS, calls: 0, batchServed: 0 })

/** A model that counts what its answers cost, whether or not they are used. */
export const metered = (model: VisionModel["Service"], meter: Meter): VisionModel["Service"] => ({
  converse: (call, place) =>
    Effect.tap(model.converse(call, place), (answer) =>
      Effect.sync(() => {
        if (answer.fromBatch) {
          meter.batchServed += 1
        } else {
          meter.usage = addUsage(meter.usage, answer.usage)
          meter.calls += 1
        }
      })
    )
})

/** The cost of an attempt: one entry, with the lease as its id, so that writing it twice books it once; none without calls. */
export const costsOf = (
  { calls, usage }: Meter,
  { modelId, price }: { readonly modelId: string; readonly price: ModelPrice },
  attempt: Omit<CostEntry, "model" | "usage" | "costUsd">
): ReadonlyArray<CostEntry> =>
  calls === 0 ? [] : [{ ...attempt, model: modelId, usage, costUsd: estimateLlmCost(usage, price) }]
