/** What the processes of the batch lane and their judge have to agree on. */

/** A dead leader's lease is over after it. */
export const LEASE_MS = 1_500

export const BUCKET = "crash-batch"
export const MODEL = "m1"
export const PRICE = { inputUsdPerMtok: 1000, outputUsdPerMtok: 10_000 }

/** Tokens of every answer. */
export const USAGE = { inputTokens: 100, outputTokens: 10 }

/** What a leader says when none of its ticks is under way any more. */
export const TICKED = "tick ended"
