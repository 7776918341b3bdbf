import { randomInt } from "node:crypto"

import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"

import { deliveryWorld } from "./delivery/run.ts"
import { documentsWorld } from "./documents/run.ts"
import { runSeeded } from "./kernel.ts"
import { mailWorld } from "./mail/run.ts"
import { shrink } from "./shrink.ts"
import type { Run, SimulatedWorld } from "./world.ts"

/** What a suite run takes of a world: the more a run costs, the less. `npm run sim` runs as many as you like. */
interface Share {
  readonly world: SimulatedWorld
  readonly invariants: string
  /** Seeds from 1 on. */
  readonly seeds: number
  /** Faults and branches that these seeds must have met. */
  readonly mustHappen: ReadonlyArray<string>
  /** Seeds that nobody has seen. */
  readonly fresh: number
  /** Within so many seeds a planted bug has to be found. */
  readonly bugSeeds: number
}

const SHARES: ReadonlyArray<Share> = [
  {
    world: mailWorld,
    invariants: "S1 S2 S4 S5 S9 D1 D3 Q1 Q2 Q3",
    seeds: 120,
    mustHappen: mailWorld.mustHappen,
    fresh: 100,
    bugSeeds: 150
  },
  {
    world: deliveryWorld,
    invariants: "E1 A1 A2 P1 S1 S5 S7 L2 R3 D1 O1 O2 Q1 Q2 Q3 Q4 Q5",
    seeds: 40,
    mustHappen: deliveryWorld.mustHappen,
    fresh: 40,
    bugSeeds: 300
  },
  {
    world: documentsWorld,
    invariants: "C1 C2 C3 C4 F1 F2 K1 X1 X2 X3 B1 B2 B3 B4 B5 I1 I2 R1 R2 H3",
    seeds: 40,
    // All of the world's own take some hundred runs.
    mustHappen: ["SIGKILL", "SIGSTOP", "job completed", "job cancelled", "mail ended: success"],
    fresh: 20,
    bugSeeds: 300
  }
]

/**
 * Seeds that fail without a mend, on this kernel: another makes other runs of them, and they have to be searched anew. Mends that no seed of
 * some thousands needs are left to the tests of their rules.
 */
const REGRESSIONS: ReadonlyArray<
  readonly [mend: string, world: SimulatedWorld, seeds: ReadonlyArray<number>]
> = [
  ["a process that was frozen asks the database a second time", mailWorld, [913, 991]],
  [
    "a row tells of its own provider, and a refusal stays true",
    mailWorld,
    [44104572, 44109436, 44114312, 45201496]
  ],
  ["a frozen send without a claim loses its key to another call of its process", mailWorld, [361319226]],
  ["a frozen retry loses its key to another of its process", mailWorld, [930002608]],
  ["a frozen call that another one overtook is accepted, and its process knows it", mailWorld, [950100562]],
  ["what a process only remembers moves no doubt to another provider", mailWorld, [950023890]],
  [
    "a process asks neither provider of a key that it left in doubt at the other",
    mailWorld,
    [950057262, 950073874]
  ],
  ["a retry does not ask where the key is in doubt at the other provider", mailWorld, [446]],
  ["nobody asks where a send without a claim has left the key in doubt elsewhere", mailWorld, [474520408]],
  ["a move of a queued mail that is never answered is written again", mailWorld, [6000350]],
  ["a claim that could not be moved leaves no doubt where the call was refused", mailWorld, [3201090]],
  ["every call on a key gets the same copy", mailWorld, [7003342]],
  ["rows bind a key whose claim was never written", mailWorld, [10, 20]],
  ["a deferral ends by an acceptance that was written before it", mailWorld, [676, 9154792]],
  ["a deferral that a queued mail could not write is none", mailWorld, [9012663]],
  ["a failure that a process only remembers ends no queued mail", mailWorld, [9173896, 9303854]],
  ["an acceptance that a retry learned of is written after an outage", mailWorld, [9300403]],
  ["an acceptance ends a deferral, also one that another call learned of", mailWorld, [9023577]],
  ["a key that has ended at two providers stays so for every later call", mailWorld, [9474064, 9466045]],
  ["of two copies the one that a caller heard of is the evidence", mailWorld, [9344769]],
  ["what a frozen call left in doubt is known to the one that took its key", mailWorld, [9619848]],
  ["a call asks nobody once another one of its process has the key", mailWorld, [9726083]],
  ["a doubt counts though the database's clock went back", mailWorld, [9353965]],
  ["an acceptance that comes after its row has ended is kept", mailWorld, [2770]],
  ["what a retry sent counts though the row of its deferral was lost", deliveryWorld, [1055, 1894]],
  ["a bill does not count the records of others", documentsWorld, [70052615, 70053514]],
  ["a process that stood still looks at its stores before it pays again", documentsWorld, [3155033]]
]

/**
 * Seeds that show a planted bug which many others hide: each is tried before the search from the first on, and only saves that
 * search. Where the kernel makes other runs, the search finds the bug again.
 */
const SHOWN_BY: Readonly<Record<string, number>> = {
  "ack-before-work": 244,
  "batch-billed-by-each": 91,
  "charged-twice": 30,
  "chunk-without-fence": 15,
  "hold-released-twice": 249,
  "resumed-twice": 19,
  "retry-charged": 24,
  "stranded-forgotten": 31
}

const seedsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)

/** Runs them all: what failed, and what happened. */
const simulateAll = async (world: SimulatedWorld, seeds: ReadonlyArray<number>, limits = world.full) => {
  const seen = new Set<string>()
  const failures: Array<Pick<Run, "seed" | "violations">> = []
  for (const seed of seeds) {
    const run = await world.simulate(seed, { limits })
    if (run.violations.length > 0) failures.push({ seed, violations: run.violations })
    for (const what of run.seen.keys()) seen.add(what)
  }
  return { failures, seen }
}

const replay = (world: SimulatedWorld, first: number | string, runs: number) =>
  `npm run sim -- --world ${world.name} --seed ${first} --runs ${runs}`

for (const { bugSeeds, invariants, mustHappen, seeds, world } of SHARES) {
  describe(`simulation: ${world.name}`, () => {
    it(`${invariants}: hold under faults, each of which happens`, async () => {
      const { failures, seen } = await simulateAll(world, seedsFrom(1, seeds))
      assert.deepStrictEqual(failures, [], `replay with: ${replay(world, "N", 1)} --trace`)
      assert.deepStrictEqual(
        mustHappen.filter((what) => !seen.has(what)),
        [],
        "never happened"
      )
    })

    it("gives the same run for the same seed, whatever ran before it", async () => {
      for (const seed of [1, 3, 8, 300]) {
        const one = await world.simulate(seed, { limits: world.full })
        await world.simulate(seed + 1, { limits: world.full })
        const again = await world.simulate(seed, { limits: world.full, story: true })
        assert.strictEqual(again.trace, one.trace)
        assert.isNotEmpty(one.trace)
      }
    })

    for (const bug of world.bugs) {
      it(`finds the planted bug: ${bug}`, async () => {
        for (const seed of [SHOWN_BY[bug] ?? 1, ...seedsFrom(1, bugSeeds)]) {
          const run = await world.simulate(seed, { limits: world.full, bug })
          if (run.violations.length > 0) return
        }
        assert.fail(`${bugSeeds} seeds and no violation`)
      })
    }
  })
}

describe("simulation: seeds that nobody has seen", () => {
  for (const { fresh, world } of SHARES) {
    it(`hold: ${world.name}`, async () => {
      const first = randomInt(1_000_000_000)
      const again = replay(world, first, fresh)
      console.log(`fresh seeds of the simulation: ${again}`)
      const { failures } = await simulateAll(world, seedsFrom(first, fresh))
      assert.deepStrictEqual(failures, [], `replay with: ${again}`)
    })
  }
})

describe("simulation: what failed once", () => {
  it.each(REGRESSIONS)("holds: %s", async (_, world, seeds) => {
    // Their stories are of before the send queue, which would make other ones of them.
    const limits = { ...world.full, faults: world.full.faults.filter((fault) => fault !== "send queue") }
    assert.deepStrictEqual((await simulateAll(world, seeds, limits)).failures, [])
  })
})

describe("a run", () => {
  it("fails where it would have no end", async () => {
    const ticking = runSeeded(1, () => Effect.forever(Effect.sleep(1)), { mostTasks: 1_000 })
    await expect(ticking).rejects.toThrow("seed 1 does not end: it goes on for ever")
    await expect(runSeeded(1, () => Effect.never)).rejects.toThrow("nobody will ever wake")
  })

  it("ends, also where retries are handled that no longer have a message", async () => {
    for (const seed of [526, 1827]) {
      const run = await mailWorld.simulate(seed, { limits: mailWorld.full, bug: "ack-before-work" })
      assert.isNotEmpty(run.trace)
    }
  })
})

describe("a failure", () => {
  it("is made small and described in words", async () => {
    const bug = "ambiguous-fails-over"
    let seed = 1
    while ((await mailWorld.simulate(seed, { limits: mailWorld.full, bug })).violations.length === 0) seed++
    const found = await shrink(mailWorld, seed, { bug })
    assert.isDefined(found)
    assert.isBelow(found.limits.size, mailWorld.full.size)
    assert.isBelow(found.limits.faults.length, mailWorld.full.faults.length)
    assert.match(found.run.story.join("\n"), /asks provider_[ab] to send order-\d+ .*: ambiguous/)
    assert.isUndefined(await shrink(mailWorld, 1, {}), "nothing to make smaller where nothing fails")
  })
})
