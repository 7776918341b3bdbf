import type { WorkId, ChunkId } from "../ids.ts"
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
  readonly jobId: WorkId | undefined
  readonly chunkId: ChunkId | undefined
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
