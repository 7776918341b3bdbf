import { assert, describe, it } from "@effect/vitest"

import { BUGS } from "./bugs.ts"
import { type Run, simulateMail } from "./mail.ts"

/** Seeds of each suite run; `npm run sim` runs as many as you like. */
const SEEDS = 120
/** Within so many seeds the oracle must have found a planted bug. */
const BUG_SEEDS = 150

/** Faults and branches that a suite run must have met: one that never happens is not tested. */
const MUST_HAPPEN = [
  "SIGKILL",
  "SIGSTOP",
  "attempt accepted",
  "attempt ambiguous",
  "attempt none",
  "attempt rejected",
  "attempt unavailable",
  "claim Claimed",
  "claim Claimed takeover",
  "claim InProgress",
  "claim Replay",
  "client lost its process",
  "event recorded",
  "event never comes",
  "queue duplicates a message",
  "result deferred",
  "result failed",
  "result sent",
  "retry Busy",
  "retry Go",
  "retry Recorded",
  "retry Settled",
  "store begin lost",
  "store record lost"
]

const seeds = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe("simulation of the mailer", () => {
  it(
    "S1 S2 S4 S5 S9 D1 D3: holds under kills, freezes, losses, duplicates and late events",
    { timeout: 240_000 },
    async () => {
      const seen = new Map<string, number>()
      const failures: Array<Pick<Run, "seed" | "violations">> = []
      for (const seed of seeds(SEEDS)) {
        const run = await simulateMail(seed, { storeFails: seed % 2 === 0 })
        if (run.violations.length > 0) failures.push({ seed, violations: run.violations })
        for (const [what, times] of run.seen) seen.set(what, (seen.get(what) ?? 0) + times)
      }
      assert.deepStrictEqual(failures, [], "replay with: npm run sim -- --seed N --runs 1 --trace")
      assert.deepStrictEqual(
        MUST_HAPPEN.filter((what) => !seen.has(what)),
        [],
        "never happened"
      )
    }
  )

  it("gives the same run for the same seed", async () => {
    for (const seed of [3, 4]) {
      const [one, again] = [
        await simulateMail(seed, { storeFails: true }),
        await simulateMail(seed, { storeFails: true })
      ]
      assert.strictEqual(again.trace, one.trace)
      assert.isNotEmpty(one.trace)
    }
  })

  for (const bug of BUGS) {
    it(`finds the planted bug: ${bug}`, { timeout: 240_000 }, async () => {
      for (const seed of seeds(BUG_SEEDS)) {
        const run = await simulateMail(seed, { storeFails: seed % 2 === 0, bug })
        if (run.violations.length > 0) return
      }
      assert.fail(`${BUG_SEEDS} seeds and no violation`)
    })
  }
})
