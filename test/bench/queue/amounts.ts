import type { QueueAmounts } from "./measure-queue.ts"

/** Shows that everything runs. */
export const QUICK: QueueAmounts = {
  rounds: 1,
  round: { count: 8 },
  suppressions: 100,
  drain: { mails: 40, concurrency: 8 },
  claim: { sizes: [{ due: 200, later: 200 }], times: 5, limits: [32] },
  hooks: [{ receivers: 10, each: 5, ms: 10_000 }],
  door: { mails: 3, pauseMs: 20 }
}

const MILLION = 1_000_000

/** What figures are taken from. */
export const fullAmounts = (rounds: number, ms: number): QueueAmounts => ({
  rounds,
  round: { ms },
  suppressions: 100_000,
  // A round is long beside what each connection plans anew after the table was analyzed.
  drain: { mails: 8_000, concurrency: 32 },
  claim: {
    sizes: [
      { due: 0, later: 0 },
      { due: 10_000, later: 0 },
      { due: MILLION, later: 0 },
      { due: 10_000, later: MILLION }
    ],
    times: 200,
    limits: [1, 32]
  },
  hooks: [
    { receivers: 1, each: 60_000, ms: 20_000 },
    { receivers: 10_000, each: 10, ms: 30_000 }
  ],
  door: { mails: 60, pauseMs: 1_500 }
})
